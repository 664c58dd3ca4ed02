"""The key that forgets names: names do not matter, everything else does, and faults do not fool it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from typing import Any

import attrs
import pytest
from attrs import evolve

from gangproof.impl.control import Control, Revision, Sent, Sync
from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.cycle_state import Cycle, Domain, Event, Result, Snapshot, Visit
from gangproof.impl.memory import Binding, Entry, Members, NodeInfo, Round
from gangproof.impl.objects import Bound, Job, OwnerReference, Pod, PodDisruptionBudget
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import Placement
from gangproof.impl.store import table
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Ghost, World
from gangproof.properties.search.explore import Limits, explore, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import GPU, HOSTNAME, NAMED, basic, gang, node, pod, world

KEY = Symmetry()
SETS = ("started", "owed", "placed", "evicted", "sent_back")
P4, P5 = "default/p4", "default/p5"


def states(start: World, rules: Rules = INTENDED, limit: int = 400) -> Sequence[World]:
    return explore_graph(Machine(rules, [start], "fine"), None, Limits(states=limit))[1].states


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with other names for pods and nodes; sets that are kept as sorted names are sorted again."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Table):
        return Table({renamed(k, names): renamed(v, names) for k, v in value.items()})
    if isinstance(value, tuple):
        return tuple(renamed(v, names) for v in value)
    if attrs.has(type(value)):
        fields = {f.name: renamed(getattr(value, f.name), names) for f in attrs.fields(type(value)) if f.init}
        if isinstance(value, Members):
            fields = {name: tuple(sorted(keys)) for name, keys in fields.items()}
        if isinstance(value, Ghost):
            fields["counted"] = Table({g: tuple(sorted(keys)) for g, keys in fields["counted"].items()})
            fields |= {name: tuple(sorted(fields[name])) for name in SETS}
        return type(value)(**fields)
    return value


def exchanges(pods: Sequence[str], nodes: Sequence[str]) -> list[dict[str, str]]:
    """Ways to give the same names out otherwise; of many every fifth."""
    found: list[dict[str, str]] = []
    for other_pods, other_nodes in product(permutations(pods), permutations(nodes)):
        plain = dict(zip(pods, other_pods, strict=True))
        keys = {f"default/{old}": f"default/{new}" for old, new in plain.items()}
        keys |= {f"={old}": f"={new}" for old, new in keys.items()}
        found.append({**plain, **keys, **dict(zip(nodes, other_nodes, strict=True))})
    return found[1 :: 5 if len(found) > 8 else 1]


@pytest.mark.parametrize(
    ("name", "pods", "nodes"),
    [
        ("failing-bind", "p1 p2 p3 p4", "n1 n2"),
        ("any-order", "p1 p2", "n1 n2"),
        ("lost-member", "p1 p2 p3", "n1"),
        ("basic", "p1 p2 p3", "n1 n2"),
        ("taints", "p1 p2", "n1 n2 n3"),
        ("selector", "p1 p2 p3", "n1 n3"),
        ("cordoned", "p2 p3", "n2"),
        ("late-node", "p1 p2", "n1 n2"),
        ("preemption", "p3 p4", "n1"),
        ("four", "p1 p2 p3", "n1 n4"),
        ("held-call", "p2", "n1 n2"),
    ],
)
def test_names_do_not_matter(name: str, pods: str, nodes: str) -> None:
    for names in exchanges(pods.split(), nodes.split()):
        for state in states(NAMED[name].world, limit=200)[::5]:
            assert KEY(renamed(state, names)) == KEY(state)


def test_a_pod_that_somebody_selects_a_node_for_keeps_the_node_apart() -> None:
    start = NAMED["selector"].world
    ends = [state for state in states(start) if len(state.pods) == 3]
    assert any(KEY(renamed(state, {"n1": "n2", "n2": "n1"})) != KEY(state) for state in ends)


def test_who_is_fixed_keeps_the_name() -> None:
    bound = [s for s in states(NAMED["fits"].world) if len(s.members_of("default/g1").assigned) == 1]
    keys = {Symmetry(frozenset({"default/p1"}))(state) for state in bound}
    assert len({KEY(state) for state in bound}) < len(keys)
    on_nodes = [s for s in states(NAMED["four"].world) if len(s.members_of("default/g1").assumed) == 4]
    assert len({KEY(s) for s in on_nodes}) < len({Symmetry(frozenset({"n1"}))(s) for s in on_nodes})


def test_ages_matter_while_a_pod_may_be_tried_and_no_longer() -> None:
    def older(state: World) -> World:
        """p1 and p2 exchange their ages, wherever somebody knows them."""
        ages = {"default/p1": state.pods["default/p2"].uid, "default/p2": state.pods["default/p1"].uid}
        aged = {key: evolve(p, uid=ages[key]) for key, p in state.pods.items()}
        infos = {
            name: evolve(info, pods=Table({key: aged[key] for key in info.pods}))
            for name, info in state.cache.items()
        }
        return evolve(state, pods=Table(aged), cache=Table(infos))

    waiting = states(world(node("n1", 1, unschedulable=True), pod("p1"), pod("p2")))
    queued = [s for s in waiting if len(s.queue) == 2]
    assert queued
    assert all(KEY(older(s)) != KEY(s) for s in queued)
    running = [
        s
        for s in states(world(node("n1", 2), pod("p1", node="n1"), pod("p2", node="n1")))
        if len(s.pods) == 2
    ]
    assert running
    assert all(KEY(older(s)) == KEY(s) for s in running)


READ = {
    World: "settings nodes pods groups workloads jobs priority_classes budgets claims "
    "claim_templates device_classes slices births members cache assumed queue in_flight nominations bindings "
    "rounds cycle admitted memory claims_in_flight claim_cache uncounted control "
    "environment ghost",
    Members: "unsched assumed assigned done leaving",
    NodeInfo: "node pods used nonzero",
    Entry: "pod place plugins cooling tried",
    Snapshot: "nodes members nodes_with_affinity nodes_with_required_anti_affinity claims",
    Result: "pod node plugins error victims holds",
    Domain: "value nodes",
    Visit: "domain results code packing placed",
    Event: "kind pod node group old_pod old_node claim",
    Cycle: "group members stage taken snapshot results code message noticed submitted trial victims plan "
    "called beyond freeing domains visited ahead",
    Round: "askers victims calls unbegun failed group",
    Binding: "node call holds",
    Ghost: "started counted lost owed placed beyond evicted sent_back meddled",
    Environment: "arrivals any_order failures deletions recreations again kubelet held failing successes crashes "
    "refusals foreign_binds lost_nodes restarts pod_gc lag stale",
    Control: "due retrying resting sync orphans log behind sent",
    Sync: "job pods stage workload group plan batch left failed",
    Plan: "job create delete forgiven counted rests",
    Sent: "call pod uid node",
    Revision: "kind key old new by",
}


@pytest.mark.parametrize("cls", list(READ), ids=lambda cls: cls.__name__)
def test_the_key_knows_every_field(cls: type) -> None:
    """A new field must be read by the key, or be left out for a reason, and then stand here."""
    assert [f.name for f in attrs.fields(cls) if f.init] == READ[cls].split()


@cache
def base() -> World:
    """In the middle of a cycle of a group, with a running pod, an open bind, and a pod in the queue."""
    start = world(
        node("n1", 2), node("n2", 2), node("n3", 1), pod("p4", node="n3"), basic("g1"),
        pod("p1", "g1"), pod("p2", "g1"), pod("p3", "g1"), pod("p5"),
    )  # fmt: skip
    machine = Machine(INTENDED, [start], "fine", KEY)
    for state in explore_graph(machine, None, Limits(states=3000))[1].states:
        cycle = state.cycle
        if cycle is None or cycle.group is None or cycle.stage != "placing" or not state.bindings:
            continue
        if state.queue and state.queue[-1].pod == P5 and any(result.kept for result in cycle.results):
            return state
    raise AssertionError("the world does not come to this")


def with_cycle(state: World, **changes: Any) -> World:
    assert state.cycle is not None
    return evolve(state, cycle=evolve(state.cycle, **changes))


def with_seen(state: World, what: str = "snapshot", **changes: Any) -> World:
    assert state.cycle is not None
    return with_cycle(state, **{what: evolve(getattr(state.cycle, what), **changes)})


def with_sets(state: World, **changes: Any) -> World:
    return evolve(
        state, members=state.members.put("default/g1", evolve(state.members_of("default/g1"), **changes))
    )


def with_info(state: World, name: str, **changes: Any) -> World:
    return evolve(state, cache=state.cache.put(name, evolve(state.cache[name], **changes)))


def with_first(state: World, **changes: Any) -> World:
    return evolve(state, queue=(evolve(state.queue[0], **changes), *state.queue[1:]))


def with_object(state: World, key: str, **changes: Any) -> World:
    return state.with_pod(evolve(state.pods[key], **changes))


def outside(state: World, **changes: Any) -> World:
    return evolve(state, environment=evolve(state.environment, **changes))


def past(state: World, **changes: Any) -> World:
    return evolve(state, ghost=evolve(state.ghost, **changes))


def beside(state: World, **changes: Any) -> World:
    return evolve(state, control=evolve(state.control, **changes))


def lagging(state: World, name: str, key: str) -> World:
    """Somebody has not seen the latest change of an object."""
    kind = name.partition("/")[2]
    now = table(state, kind)[key]
    revision = Revision(kind, key, evolve(now, labels=Table({"a": "b"})), now)
    return beside(state, log=Table({kind: (revision,)}), behind=Table({name: 1}))


JOB = Job("default", "j", Pod("default", ""), parallelism=2, completions=2, indexed=True)
ROUND = Round(askers=("default/p3",), victims=((P4, 4),), calls=((P4, "default/p3"),))
CHANGES: dict[str, Callable[[World], World]] = {
    "a label": lambda s: with_object(s, P5, labels=Table({"a": "b"})),
    "a priority": lambda s: with_object(s, P5, priority=1),
    "a phase": lambda s: with_object(s, P4, phase="Succeeded"),
    "a deletion": lambda s: with_object(s, P4, terminating=True),
    "a node in the API alone": lambda s: with_object(s, P5, node_name="n1"),
    "another node": lambda s: with_object(s, P4, node_name="n1"),
    "a nominated node": lambda s: with_object(s, P5, nominated_node_name="n1"),
    "a node's taint": lambda s: evolve(s, nodes=s.nodes.put("n3", node("n3", 1, taints=[GPU]))),
    "a group": lambda s: evolve(s, groups=s.groups.put("default/g2", gang("g2", 2))),
    "a minimum": lambda s: evolve(s, groups=s.groups.put("default/g1", gang("g1", 2))),
    "one set more": lambda s: with_sets(s, unsched=(*s.members_of("default/g1").unsched, P4)),
    "one set less": lambda s: with_sets(s, assumed=()),
    "a member that is gone": lambda s: with_sets(s, assigned=("default/gone",)),
    "done": lambda s: with_sets(s, done=(P4,)),
    "leaving": lambda s: with_sets(s, leaving=(P4,)),
    "an over-full node": lambda s: with_info(s, "n3", used=Table({"cpu": 9000})),
    "a score": lambda s: with_info(s, "n3", nonzero=Table({"cpu": 9000})),
    "a node that is gone": lambda s: with_info(s, "n3", node=None),
    "an empty node": lambda s: with_info(s, "n3", pods=Table()),
    "a pod twice": lambda s: with_info(s, "n1", pods=s.cache["n1"].pods.put(P4, s.pods[P4])),
    "an old copy": lambda s: with_info(s, "n3", pods=Table({P4: evolve(s.pods[P4], priority=3)})),
    "a namesake": lambda s: with_info(s, "n3", pods=Table({P4: evolve(s.pods[P4], uid=0)})),
    "assumed": lambda s: evolve(s, assumed=s.assumed.put(P5, "n1")),
    "assumed elsewhere": lambda s: evolve(s, assumed=s.assumed.put(next(iter(s.assumed)), "n3")),
    "a place in the queue": lambda s: with_first(s, place="pool"),
    "plugins": lambda s: with_first(s, plugins=("NodeName",)),
    "backoff": lambda s: with_first(s, cooling=not s.queue[0].cooling),
    "tried": lambda s: with_first(s, tried=not s.queue[0].tried),
    "not in the queue": lambda s: evolve(s, queue=s.queue[1:]),
    "a nomination": lambda s: evolve(s, nominations=Table({P5: "n1"})),
    "a bind elsewhere": lambda s: evolve(s, bindings=Table(dict.fromkeys(s.bindings, Binding("n3")))),
    "another call": lambda s: evolve(
        s, bindings=Table({key: evolve(b, call="prebind") for key, b in s.bindings.items()})
    ),
    "no cycle": lambda s: evolve(s, cycle=None),
    "a stage": lambda s: with_cycle(s, stage="submitting"),
    "another member": lambda s: with_cycle(s, members=(*s.cycle.members, s.pods[P5]) if s.cycle else ()),
    "an old member": lambda s: with_cycle(
        s, members=tuple(evolve(m, priority=4) for m in (s.cycle.members if s.cycle else ()))
    ),
    "no results": lambda s: with_cycle(s, results=()),
    "another result": lambda s: with_cycle(
        s, results=tuple(evolve(r, node="n3") for r in (s.cycle.results if s.cycle else ()))
    ),
    "an error": lambda s: with_cycle(
        s, results=tuple(evolve(r, error="no") for r in (s.cycle.results if s.cycle else ()))
    ),
    "a verdict": lambda s: with_cycle(s, code="Error"),
    "a message": lambda s: with_cycle(s, message="no"),
    "noticed": lambda s: with_cycle(s, noticed=(Event("PodAdded", pod=s.pods[P5]),)),
    "a node noticed": lambda s: with_cycle(s, noticed=(Event("NodeAdded", node=s.nodes["n1"]),)),
    "a snapshot's members": lambda s: with_seen(s, members=Members()),
    "a snapshot as taken": lambda s: with_cycle(s, snapshot=s.cycle.taken if s.cycle else None),
    "a snapshot with fewer nodes": lambda s: with_seen(s, "taken", nodes=s.cache.drop("n2")),
    "a snapshot with an index": lambda s: with_seen(s, nodes_with_affinity=("n1",)),
    "a snapshot with another index": lambda s: with_seen(s, nodes_with_required_anti_affinity=("n1",)),
    "a failure to come": lambda s: outside(s, failures=1),
    "a deletion to come": lambda s: outside(s, deletions=1),
    "a recreation to come": lambda s: outside(s, recreations=1),
    "a new pod to come again": lambda s: outside(s, again=(pod("p6"),)),
    "a pod to come again": lambda s: outside(s, again=(pod("p4"),)),
    "a node to come again": lambda s: outside(s, again=(node("n3", 1),)),
    "a group to come again": lambda s: outside(s, again=(basic("g1"),)),
    "an arrival to come": lambda s: outside(s, arrivals=(pod("p6"),)),
    "a held call": lambda s: outside(s, held=("bind/default/p1",)),
    "a call to fail": lambda s: outside(s, failing=("bind/default/p1",)),
    "started": lambda s: past(s, started=("default/g1",)),
    "counted": lambda s: past(s, counted=Table({"default/g1": (P4,)})),
    "lost": lambda s: past(s, lost=Table({"default/g1": 1})),
    "owed": lambda s: past(s, owed=(P4,)),
    "placed": lambda s: past(s, placed=(P4,)),
    "beyond": lambda s: past(s, beyond=("preemption",)),
    "let in": lambda s: evolve(s, admitted=((s.pods[P5].uid,),)),
    "a number": lambda s: evolve(s, memory=Table({"default/g1": 1})),
    "not seen": lambda s: lagging(s, "scheduler/podGroup", "default/g1"),
    "not seen by another": lambda s: lagging(s, "job-controller/podGroup", "default/g1"),
    "a pod not seen": lambda s: lagging(s, "scheduler/pod", P5),
    "meddled": lambda s: past(s, meddled=("default/j",)),
    "due": lambda s: beside(s, due=("default/j",)),
    "retrying": lambda s: beside(s, retrying=("default/j",)),
    "resting": lambda s: beside(s, resting=("default/j",)),
    "an orphan": lambda s: beside(s, orphans=(f"pod/{P5}",)),
    "a sent call": lambda s: beside(s, sent=(Sent("bind", P5, s.pods[P5].uid, "n1"),)),
    "a sent call for another": lambda s: beside(s, sent=(Sent("bind", P5, 77, "n1"),)),
    "a sync": lambda s: beside(s, sync=Sync(JOB, ())),
    "a sync with a pod": lambda s: beside(s, sync=Sync(JOB, (s.pods[P5],))),
    "a sync with a plan": lambda s: beside(s, sync=Sync(JOB, (), plan=Plan(JOB, create=(1,)))),
    "a pod to go": lambda s: beside(s, sync=Sync(JOB, (), plan=Plan(JOB, delete=(P5,)))),
    "a job": lambda s: evolve(s, jobs=Table({JOB.key: JOB})),
    "an owner": lambda s: s.with_pod(evolve(s.pods[P5], owners=(OwnerReference("Job", "j", 1),))),
    "submitted": lambda s: with_cycle(s, submitted=1),
    "a trial": lambda s: with_cycle(s, trial=True),
    "calls made": lambda s: with_cycle(s, called=True),
    "something beyond": lambda s: with_cycle(s, beyond=("ties",)),
    "a victim": lambda s: with_cycle(s, victims=((P4, "default/p1"),)),
    "a victim of another": lambda s: with_cycle(s, victims=((P4, "default/p2"),)),
    "a plan": lambda s: with_cycle(s, plan=Table({"default/p1": "n3"})),
    "a result's victim": lambda s: with_cycle(
        s, results=tuple(evolve(r, victims=(P4,)) for r in (s.cycle.results if s.cycle else ()))
    ),
    "a domain": lambda s: with_cycle(s, domains=(Domain("r1", ("n1", "n2")),)),
    "no domain": lambda s: with_cycle(s, domains=()),
    "a domain visited": lambda s: with_cycle(s, domains=(Domain("r1", ("n1",)),), visited=1),
    "a visit": lambda s: with_cycle(s, ahead=(Visit(0, (Result("default/p1", "n1"),), "Success"),)),
    "a packed visit": lambda s: with_cycle(s, ahead=(Visit(0, (), "Success", packing=50),)),
    "a round": lambda s: evolve(s, rounds=Table({"default/g1": ROUND})),
    "another's round": lambda s: evolve(s, rounds=Table({f"={P5}": ROUND})),
    "a round without a call": lambda s: evolve(s, rounds=Table({"default/g1": evolve(ROUND, calls=())})),
    "a round for nobody": lambda s: evolve(s, rounds=Table({"default/g1": evolve(ROUND, askers=())})),
    "a call not begun": lambda s: evolve(
        s, rounds=Table({"default/g1": evolve(ROUND, unbegun=("default/p3",))})
    ),
    "a call that failed": lambda s: evolve(
        s, rounds=Table({"default/g1": evolve(ROUND, failed=("default/p3",))})
    ),
    "a round of the whole group": lambda s: evolve(
        s, rounds=Table({"default/g1": evolve(ROUND, group="default/g1")})
    ),
    "a round of the whole group, not begun": lambda s: evolve(
        s, rounds=Table({"default/g1": evolve(ROUND, group="default/g1", unbegun=("",))})
    ),
    "a victim that is gone": lambda s: evolve(
        s, rounds=Table({"default/g1": evolve(ROUND, victims=((P4, 99),))})
    ),
    "a budget": lambda s: evolve(
        s, budgets=Table({"default/b": PodDisruptionBudget("default", "b", min_available=Bound(1))})
    ),
    "evicted": lambda s: past(s, evicted=(P4,)),
    "sent back": lambda s: past(s, sent_back=(P4,)),
    "settings": lambda s: evolve(s, settings=evolve(s.settings, backoff=False)),
}  # fmt: skip


@pytest.mark.parametrize("change", list(CHANGES))
def test_everything_but_names_matters(change: str) -> None:
    before = base()
    after = CHANGES[change](before)
    assert after != before
    assert KEY(after) != KEY(before)
    others = {KEY(CHANGES[other](before)) for other in CHANGES if CHANGES[other](before) != after}
    assert KEY(after) not in others


def test_a_namesake_of_who_is_here_keeps_its_name() -> None:
    """Two pods wait alike, but it matters whether the one to come has the name of the first or the second."""
    start = states(world(node("n1", 1, unschedulable=True), pod("p1"), pod("p2")))[-1]
    keys = {KEY(outside(start, arrivals=(pod(name),))) for name in ("p1", "p2", "p3", "p4")}
    assert len(keys) == 3


def test_a_node_to_come_that_somebody_waits_for_keeps_its_name() -> None:
    waiting = states(world(pod("p1", selector={HOSTNAME: "n2"})))[-1]
    keys = {KEY(outside(waiting, arrivals=(node(name, 1),))) for name in ("n1", "n2", "n3")}
    assert len(keys) == 2


def overlapping(old: Callable[..., Members]) -> Callable[..., Members]:
    """A member that is seen on a node stays where it was (DEV-10)."""

    def members(sets: Members, event: str, pod: str) -> Members:
        after = old(sets, event, pod)
        return evolve(after, unsched=tuple(sorted({*after.unsched, pod}))) if event == "bound" else after

    return members


def forgetful(old: Callable[..., Members]) -> Callable[..., Members]:
    """A member that is gone is not forgotten (QUEUE-06)."""

    def members(sets: Members, event: str, pod: str) -> Members:
        return sets if event == "gone" else old(sets, event, pod)

    return members


def no_undo(_: Callable[..., Snapshot]) -> Callable[..., Snapshot]:
    def undo(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
        return snapshot

    return undo


def no_room(_: Callable[..., Any]) -> Callable[..., Any]:
    """Every node will do."""

    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Any:
        assert cycle.snapshot is not None
        return Placement(tuple(cycle.snapshot.nodes))

    return place


FAULTS = {
    "sets overlap": Change("x", "", {"members": overlapping}),
    "the dead are remembered": Change("x", "", {"members": forgetful}),
    "no undo": Change("x", "", {"undo": no_undo}),
    "nodes are over-full": Change("x", "", {"place": no_room}),
    "no quorum": Change("x", "", {"quorum": lambda old: lambda sets, group, at: True}),
    "nobody comes back": Change("x", "", {"fail": lambda old: lambda rules, world, pod, result: world}),
}


@pytest.mark.parametrize(
    "name", ["failing-bind", "lost-member", "basic", "selector", "preemption", "held-call"]
)
def test_the_key_is_sound_for_what_v1_36_3_does(name: str) -> None:
    comparison = compare(Machine(V1_36_3, [NAMED[name].world], "coarse"), KEY)
    assert comparison.verdict is Verdict.HOLDS


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.parametrize("name", ["failing-bind", "lost-member", "basic", "held-call", "preemption"])
def test_the_key_is_sound_for_faulty_rules_too(name: str, fault: str) -> None:
    machine = Machine(profile(INTENDED, FAULTS[fault]), [NAMED[name].world], "coarse")
    comparison = compare(machine, KEY)
    assert comparison.differences == ()


def test_searches_by_the_key_end_sooner() -> None:
    machine = Machine(INTENDED, [NAMED["four"].world])
    assert explore(evolve(machine, key=KEY)).states * 20 < explore(machine).states
