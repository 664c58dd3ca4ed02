"""From worlds to pictures: a run of the machinery as a `Trace` that knows nothing of it.

A frame shows what a person who knows the KEP would ask for: who is where, who waits and why, how many members
count against the minimum. An event says in words what happened and by which rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from gangproof.counterexamples import trace as shown
from gangproof.impl.actions import Action
from gangproof.impl.control import Revision
from gangproof.impl.members import count
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.store import KINDS, as_stored, unseen
from gangproof.impl.world import World
from gangproof.properties.scenarios.judge import short
from gangproof.properties.search.system import Path
from gangproof.properties.telling.claim_frames import claim_views

_CHANGES = 3
PLACES = {
    "active": shown.PodState.ACTIVE,
    "backoff": shown.PodState.BACKOFF,
    "pool": shown.PodState.UNSCHEDULABLE,
    "gated": shown.PodState.GATED,
}


def frame(world: World, resources: Sequence[str]) -> shown.Frame:
    """The world as a frame, as it is stored, with occupancy in these resources; noted is who is behind with what."""
    seen, world = world, as_stored(world)
    return shown.Frame(
        nodes=tuple(_nodes(world, resources, known=world is seen)),
        pods=tuple(_pod(world, pod, resources) for pod in world.pods.values()),
        groups=tuple(_group(world, group) for group in world.groups.values()),
        claims=tuple(claim_views(world)),
        note="; ".join(_not_seen(seen)),
    )


def _not_seen(world: World) -> Iterator[str]:
    """Who has yet to see what, a phrase for each view that is behind."""
    for name in world.control.behind:
        changes = tuple(dict.fromkeys(map(_changed, unseen(world, name))))
        told = ", ".join(changes[:_CHANGES])
        more = f" and {len(changes) - _CHANGES} more" if len(changes) > _CHANGES else ""
        yield f"{name.partition('/')[0].replace('-', ' ')} has not seen yet that {told}{more}"


def _changed(change: Revision) -> str:
    what = "is there" if change.old is None else "is gone" if change.new is None else "has changed"
    return f"{change.kind} {short(change.key)} {what}"


def resources_of(worlds: Iterable[World]) -> tuple[str, ...]:
    """What is worth showing of nodes: resources that a pod asks for, and pod slots where they are scarce."""
    asked: set[str] = set()
    for world in worlds:
        for pod in world.pods.values():
            asked.update(resource for resource, amount in pod.requests.items() if amount)
        if any(node.allocatable.get("pods", 0) <= len(world.pods) for node in world.nodes.values()):
            asked.add("pods")
    return tuple(sorted(asked))


def _nodes(world: World, resources: Sequence[str], *, known: bool) -> Iterator[shown.NodeView]:
    """The nodes of the scheduler's cache; where it does not know of all that is stored, occupancy is added up anew."""
    for name in (*world.cache, *(name for name in world.nodes if name not in world.cache)):
        node = world.nodes.get(name)
        used = world.cache[name].used if known else _used(world, name)
        whole = node.allocatable if node is not None else used
        yield shown.NodeView(
            name=name,
            capacity=tuple((r, whole.get(r, 0)) for r in resources),
            used=tuple((r, used.get(r, 0)) for r in resources),
            labels=tuple((k, v) for k, v in node.labels.items() if v != name) if node is not None else (),
            unschedulable=node is not None and node.unschedulable,
            note="" if node is not None else "node is gone",
        )


def _used(world: World, node: str) -> Counter[str]:
    """What the pods ask for that are on the node or are about to be."""
    used = Counter[str]()
    for key, pod in world.pods.items():
        if not pod.terminal and (pod.node_name or world.assumed.get(key)) == node:
            used.update({**pod.requests, "pods": 1})
    return used


def _pod(world: World, pod: Pod, resources: Sequence[str]) -> shown.PodView:
    state, node = state_of(world, pod)
    return shown.PodView(
        key=pod.key,
        state=state,
        group=pod.group,
        node=node,
        nominated=pod.nominated_node_name or world.nominations.get(pod.key),
        requests=tuple((r, pod.requests.get(r, 0)) for r in resources if pod.requests.get(r, 0)),
        priority=pod.priority,
    )


def state_of(world: World, pod: Pod) -> tuple[shown.PodState, str | None]:
    """Where the pod stands, and its node if it has one."""
    states = shown.PodState
    node = pod.node_name or world.assumed.get(pod.key)
    if pod.terminal:
        return (states.SUCCEEDED if pod.phase == "Succeeded" else states.FAILED), node
    if pod.terminating:
        return states.TERMINATING, node
    if pod.node_name is not None:
        return states.BOUND, node
    if pod.key in world.assumed:
        return (states.BINDING if pod.key in world.bindings else states.PROMISED), node
    cycle = world.cycle
    if cycle is not None and any(member.key == pod.key for member in cycle.members):
        placed = {result.pod: result.node for result in cycle.results}
        if cycle.stage in ("placing", "weighing", "submitting") and placed.get(pod.key):
            return states.ASSUMED, placed[pod.key]
        return states.IN_FLIGHT, None
    if pod.key in world.ghost.owed:
        return states.OWED, None
    entry = world.entry(pod.key)
    return (PLACES[entry.place] if entry is not None else states.UNSCHEDULABLE), None


def _group(world: World, group: PodGroup) -> shown.GroupView:
    sets = world.members_of(group.key)
    owed = sum(1 for pod in world.ghost.owed if (p := world.pods.get(pod)) and p.group == group.key)
    numbers: list[tuple[str, int]] = [("bound", len(sets.assigned)), ("promised", len(sets.assumed))]
    if owed:
        numbers.append(("owed", owed))
    if sets.done:
        numbers.append(("done", len(sets.done)))
    if group.min_count is not None:
        numbers.append(("minimum", group.min_count))
    return shown.GroupView(
        key=group.key,
        policy=f"gang {group.min_count}" if group.gang else "basic",
        numbers=tuple(numbers),
        condition=str(group.condition) if group.condition is not None else None,
        priority=group.priority,
        topology=group.topology_keys[0] if group.topology_keys else None,
        note="terminating" if group.terminating else "",
    )


@frozen
class Telling:
    """How an action is told: by whom, in which words, by which rules."""

    actor: str
    text: str
    rules: tuple[str, ...] = ()


def _named(text: str) -> str:
    """A key without the namespace `default`; of `kind/key`, the kind and such a key."""
    kind, slash, key = text.partition("/")
    return f"{kind} {short(key)}" if slash and kind in KINDS else short(text)


def tell(action: Action) -> Telling:
    """An action of the machinery in words."""
    args = [_named(arg) for arg in action.args]
    what = args[0] if args else ""
    match action.name:
        case "cycle":
            places = ", ".join(args[2:])
            return Telling(
                "scheduler", f"tries {what}: {places or 'nobody'} — {args[1]}", ("CYCLE-25", "CYCLE-26")
            )
        case "pop":
            return Telling("scheduler", f"pops {what}", ("QUEUE-18", "QUEUE-19b"))
        case "snapshot":
            return Telling("scheduler", f"takes a snapshot for {what}", ("CYCLE-06", "CYCLE-08"))
        case "place":
            return Telling("scheduler", f"tries {what}: {args[1]}", ("CYCLE-14", "CYCLE-16", "CYCLE-19"))
        case "weigh":
            ahead = " and ".join(repr(value) for value in action.args[2:])
            return Telling(
                "scheduler", f"tried {what} in {action.args[1]!r}; ahead is {ahead}", ("PLACE-12", "PLACE-22")
            )
        case "preempt":
            return Telling("scheduler", f"asks for evictions for {what}, and waits", ("PREEMPT-32",))
        case "evict":
            return Telling("scheduler", f"evicts {what} for {_named(args[1].lstrip('='))}", ("PREEMPT-30",))
        case "evict-fails":
            return Telling("API server", f"the eviction of {what} fails", ("PREEMPT-31",))
        case "last-call":
            return Telling("scheduler", f"begins the last eviction for {what}", ("PREEMPT-33",))
        case "submit":
            return Telling(
                "scheduler", f"carries out the verdict {args[1]} for {what}", ("CYCLE-43", "CYCLE-47")
            )
        case "report":
            return Telling("scheduler", f"writes the condition of {what}", ("CYCLE-50",))
        case "bind":
            return Telling("API server", f"{what} is bound", ("BIND-06",))
        case "end":
            return Telling("kubelet", f"{what} has ended", ("ACT-05",))
        case "permit-timeout":
            return Telling("clock", f"the wait of {what} at Permit is over", ("BIND-07", "GANG-09"))
        case "bind-fails":
            return Telling("API server", f"the bind of {what} fails", ("BIND-07",))
        case "permit-fails":
            return Telling("scheduler", f"the wait of {what} at Permit ends without a bind", ("BIND-07",))
        case "prebind":
            return Telling("scheduler", f"PreBind of {what} ends", ("BIND-05",))
        case "prebind-fails":
            return Telling("scheduler", f"PreBind of {what} fails", ("BIND-07",))
        case "claim-controller":
            return Telling("claim controller", f"sees to {', '.join(args)}", ("ACT-26",))
        case "backoff-over":
            return Telling("clock", f"the backoff of {what} is over", ("QUEUE-24",))
        case "flush":
            return Telling("clock", "the queue is flushed", ("QUEUE-26",))
        case "finish" | "crash":
            ended = "succeeds" if action.name == "finish" else "fails"
            return Telling("kubelet", f"{what} {ended}", ("ACT-06",))
        case "sync" | "make" | "remove" | "write":
            done = {"sync": f"syncs {what}", "make": f"creates {what}", "remove": f"deletes {what}"}
            text = done.get(action.name, f"writes the status of {what}")
            calls = ", ".join(args[1:])
            return Telling("job controller", f"{text}: {calls}" if calls else text, ("ACT-28", "CTRL-10"))
        case "make-fails" | "remove-fails" | "write-fails":
            why = f": {action.args[1]}" if len(action.args) > 1 else ""
            return Telling("API server", f"the call for {what} fails{why}", ("ACT-32", "CTRL-10"))
        case "create-fails":
            return Telling("API server", f"refuses {what}: {action.args[1]}", ("ACT-01",))
        case "collect":
            return Telling("garbage collector", f"deletes {what}", ("ACT-29", "GC-10"))
        case "let-go":
            return Telling("protection controller", f"lets {what} go", ("ACT-27", "GC-02"))
        case "see":
            return Telling(what.replace("-", " "), f"sees the change of {args[1]}", ("ACT-10",))
        case "restart":
            lost = [call.removeprefix("without ") for call in args[1:]]
            told = (
                f"starts anew; {', '.join(lost)} {'is' if len(lost) == 1 else 'are'} lost"
                if lost
                else "starts anew"
            )
            return Telling("scheduler", told, ("ACT-30",))
        case "lands":
            return Telling("API server", f"the call {what} from before the restart takes effect", ("ACT-30",))
        case "lose":
            return Telling("cluster", f"loses {what}", ("ACT-07",))
        case "foreign-bind":
            return Telling("another scheduler", f"binds {what} to {args[1]}", ("ACT-09",))
        case "update":
            return Telling("user", f"updates {what}: {', '.join(args[1:])}", ("ACT-04", "ACT-07"))
        case _:
            return Telling(
                "user", f"{action.name}s {what}", ("ACT-01" if action.name == "create" else "ACT-03",)
            )


def events(path: Path[World, Action]) -> tuple[shown.Event, ...]:
    """The steps of a run in words; each names the last earlier steps that changed what it changes."""
    told: list[shown.Event] = []
    last: dict[str, int] = {}
    for index, (before, (action, after)) in enumerate(zip(path.states, path.steps, strict=False)):
        touched = _touched(before, after)
        because = tuple(sorted({last[name] for name in touched if name in last}))
        telling = tell(action)
        told.append(shown.Event(telling.text, telling.actor, telling.rules, because))
        last.update(dict.fromkeys(touched, index))
    return tuple(told)


def _touched(before: World, after: World) -> set[str]:
    """Pods whose standing a step changed, groups whose condition it changed."""
    touched: set[str] = set()
    for key in {*before.pods, *after.pods}:
        old, new = before.pods.get(key), after.pods.get(key)
        if old is None or new is None or state_of(before, old) != state_of(after, new):
            touched.add(f"pod/{key}")
    for key in {*before.claims, *after.claims}:
        if before.claims.get(key) != after.claims.get(key):
            touched.add(f"claim/{key}")
    for key in {*before.groups, *after.groups}:
        if before.groups.get(key) != after.groups.get(key):
            touched.add(f"group/{key}")
    return touched


def numbers_that_decide(world: World, group: str) -> tuple[tuple[str, int | str], ...]:
    """Members with a place against the minimum."""
    stored = world.groups.get(group)
    sets = world.members_of(group)
    placed = count(sets, "placed")
    if stored is None or stored.min_count is None:
        return (("placed", placed),)
    return (("placed", placed), ("minimum", stored.min_count))
