"""A run as a story: told in short sentences, and made as short as it can be told.

A random run is full of what does not matter. Steps without which the same property still breaks are left out,
together with what is not possible without them, and what is left is made plainer: smaller gangs, pods and nodes
without anything special.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from gangproof.counterexamples.shrink import shrink
from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.api import lookup
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.judges.remembered import same
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.telling.frames import tell
from gangproof.properties.telling.retake import Retaken, first_violation, retake, steps_of
from gangproof.properties.worlds.named import HOSTNAME


def story(path: Path[World, Action]) -> Iterator[str]:
    """The steps of a run in numbered sentences, with short names."""
    for number, (action, after) in enumerate(path.steps, 1):
        yield f"{number:3}. {sentence(action, after)}"


def sentence(action: Action, after: World) -> str:
    """What happened, in words."""
    if action.name == "create":
        kind, _, key = action.args[0].partition("/")
        match kind:
            case "pod":
                return f"user creates {_described(after.pods[key])}"
            case "node":
                return f"user creates {_node_described(after.nodes[key])}"
            case "podGroup":
                group = after.groups[key]
                return f"user creates {group.name}: " + (
                    f"gang of {group.min_count}" if group.gang else "basic"
                )
            case _:
                pass
    telling = tell(action)
    return f"{telling.actor} {telling.text}".replace("default/", "")


def _described(pod: Pod) -> str:
    whose = f" of {pod.scheduling_group}" if pod.scheduling_group else ""
    cpu = pod.requests.get("cpu", 0) // 1000
    special = [
        *(["priority " + str(pod.priority)] if pod.priority else []),
        *(f"only {value}" for value in pod.node_selector.values()),
        *(f"tolerates {toleration.key}" for toleration in pod.tolerations),
        *(["scheduling gate"] if pod.scheduling_gates else []),
    ]
    return ", ".join([f"{pod.name}{whose}: {cpu} CPU", *special])


def _node_described(node: Node) -> str:
    special = [
        *(f"in {value}" for value in node.labels.values() if value != node.name),
        *(f"taint {taint.key}" for taint in node.taints),
        *(["cordoned"] if node.unschedulable else []),
    ]
    return ", ".join([f"{node.name}: {node.allocatable.get('cpu', 0) // 1000} CPU", *special])


def shortened(
    violation: Violation, path: Path[World, Action], rules: Rules, asked: Questions[World, Action]
) -> tuple[Violation, Path[World, Action]]:
    """The run made short and plain, and how the same property breaks there.

    No step of it can be left out, and no object made plainer, if the property is to break.
    """
    whole = steps_of(path)
    broken = {whole: (violation, path)}

    def still_fails(parts: Sequence[Retaken]) -> bool:
        run = _as_far_as_possible(path.initial, parts, rules)
        found = first_violation(run, asked) or _in_the_end(run, asked, rules)
        if found is None or found[0].property != violation.property:
            return False
        broken[tuple(parts)] = found
        return True

    return broken[shrink(whole, still_fails, simplify=_plainer)]


def _in_the_end(
    path: Path[World, Action], asked: Questions[World, Action], rules: Rules
) -> tuple[Violation, Path[World, Action]] | None:
    """How a run that cannot go on breaks a property there."""
    if asked.terminal and not successors(path.last, rules, "fine"):
        for judge in asked.terminal:
            if (found := judge(path.last)) is not None:
                return found, path
    return None


def _as_far_as_possible(world: World, parts: Sequence[Retaken], rules: Rules) -> Path[World, Action]:
    initial = world
    steps: list[Step] = []
    for part in parts:
        again = retake(world, (part,), rules)
        if again is not None:
            world = same(again.last)
            steps.append((again.actions[0], world))
    return Path(initial, tuple(steps))


def _plainer(part: Retaken) -> Iterator[Retaken]:
    """The same creation with a plainer object."""
    if part.action.name != "create":
        return
    kind, _, key = part.action.args[0].partition("/")
    match lookup(part.after, kind, key):
        case Pod() as pod:
            for plain in _plainer_pods(pod):
                yield evolve(part, after=part.after.with_pod(plain))
        case Node() as node:
            for plain in _plainer_nodes(node):
                yield evolve(part, after=evolve(part.after, nodes=part.after.nodes.put(key, plain)))
        case PodGroup(min_count=int(minimum)) as group:
            for smaller in range(1, minimum):
                groups = part.after.groups.put(key, evolve(group, min_count=smaller))
                yield evolve(part, after=evolve(part.after, groups=groups))
        case _:
            pass


def _plainer_pods(pod: Pod) -> Iterator[Pod]:
    if pod.scheduling_group is not None:
        yield evolve(pod, scheduling_group=None)
    if pod.priority:
        yield evolve(pod, priority=0)
    if pod.node_selector:
        yield evolve(pod, node_selector=Table[str]())
    if pod.tolerations:
        yield evolve(pod, tolerations=())
    if pod.scheduling_gates:
        yield evolve(pod, scheduling_gates=())
    if pod.requests.get("cpu", 0) > 1000:
        yield evolve(pod, requests=pod.requests.put("cpu", 1000))


def _plainer_nodes(node: Node) -> Iterator[Node]:
    if node.labels.keys() - {HOSTNAME}:
        yield evolve(node, labels=Table({HOSTNAME: node.name}))
    if node.taints:
        yield evolve(node, taints=())
    if node.unschedulable:
        yield evolve(node, unschedulable=False)
    cpu = node.allocatable.get("cpu", 0)
    if cpu > 1000:
        yield evolve(node, allocatable=node.allocatable.put("cpu", cpu - 1000))
