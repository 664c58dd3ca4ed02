"""The judges of steps, each held against a change that must break its property, and against the intended rules.

What the faults break is tested with them; here are the properties, or the parts of them, that no fault breaks.
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings

from gangproof.impl.cycle_state import Cycle, Result
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import Placement
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.load import load_scenarios_text
from gangproof.properties.judges.equal_inputs import equal_inputs, exchange
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.scenarios.course import Course, Following
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.worlds.named import NAMED
from gangproof.properties.worlds.strategies import worlds

NEW_REASON = """
scenario: new-reason
title: a group that was too small fails for another reason when a second member comes
scheduler: {profiles: [s1, s2]}
steps:
- create:
    nodes: [{name: n1, cpu: 1}]
    podGroups: [{name: g, basic: true}]
    pods: [{name: a, group: g, cpu: 2, schedulerName: s1}]
- expect: {conditions: {g: "False/Unschedulable"}}
- create:
    pods: [{name: b, group: g, cpu: 2, schedulerName: s2}]
- expect: {conditions: {g: "False/SchedulerError"}}
"""

REFUSED = """
scenario: refused
title: a preemption that is refused evicts nobody
gates: {WorkloadAwarePreemption: true, TopologyAwareWorkloadScheduling: true}
steps:
- create:
    nodes: [{name: n1, cpu: 1, labels: {rack: a}}]
    podGroups: [{name: g, gang: %(minimum)s, priority: %(priority)s%(topology)s}]
    pods:
    - {name: v, cpu: 1, node: n1, priority: 10}
    - {name: "p[1-2]", group: g, cpu: 1%(policy)s}
- expect: {kept: [v], victims: [], unschedulable: ["p[1-2]"], nominated: {exactly: 0, of: ["p[1-2]"]}}
"""

ASKS = {"minimum": 1, "priority": 100, "topology": "", "policy": ""}
REFUSALS = {
    "Never": {"policy": ", preemptionPolicy: Never"},
    "topology": {"topology": ", topology: rack"},
    "nobody weaker": {"priority": 10},
    "trial fails": {"minimum": 2},
}


def course(text: str, *changes: Change) -> Course:
    (document,) = load_scenarios_text(text, "here")
    rules = profile(INTENDED, *changes)
    return follow(document, Following(rules, questions(), Limits(states=2000), settled=SETTLED))


def broken(text: str, *changes: Change) -> set[str]:
    return {failure.violation.property for failure in course(text, *changes).failures}


def marked(renewed: bool) -> Change:
    """Every write says the same of the transition time."""

    def store(old: Any) -> Any:
        def stored(world: World, group: PodGroup) -> World:
            after = old(world, group)
            written = after.groups[group.key]
            assert written.condition is not None
            same = evolve(written, condition=evolve(written.condition, renewed=renewed))
            return evolve(after, groups=after.groups.put(group.key, same))

        return stored

    return Change("x", "each write or none renews the time", {"store": store})


@pytest.mark.parametrize("renewed", [True, False])
def test_another_reason_leaves_the_transition_time(renewed: bool) -> None:
    assert broken(NEW_REASON) == set()
    assert "INV-15" in broken(NEW_REASON, marked(renewed))


@pytest.mark.parametrize("why", REFUSALS)
def test_where_preemption_is_refused_nobody_is_evicted(why: str) -> None:
    assert broken(REFUSED % (ASKS | REFUSALS[why])) == set()


def test_the_case_of_the_refusals_evicts_when_nothing_refuses() -> None:
    assert "expect" in broken(REFUSED % ASKS)


@pytest.mark.parametrize("why", REFUSALS)
def test_who_evicts_all_the_same_is_caught(why: str) -> None:
    def ask_as_group(old: Any) -> Any:
        def asked(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
            victims = (("default/v", cycle.members[0].key),)
            plan = Table({pod.key: "n1" for pod in cycle.members})
            named = {"code": "Waiting", "victims": victims, "plan": plan}
            return tuple(evolve(out, **named) for out in old(rules, world, cycle))

        return asked

    change = Change("x", "v is evicted for anybody", {"ask_as_group": ask_as_group})
    found = broken(REFUSED % (ASKS | REFUSALS[why]), change)
    assert ("INV-16" if why == "nobody weaker" else "INV-19") in found


def test_a_refused_group_is_nominated_nowhere() -> None:
    def nominate(old: Any) -> Any:
        def nominated(world: World, cycle: Cycle) -> World:
            after = old(world, cycle)
            return evolve(after, nominations=after.nominations.put("default/p1", "n1"))

        return nominated

    change = Change("x", "p1 is nominated in any case", {"nominate": nominate})
    assert "INV-19" in broken(REFUSED % (ASKS | REFUSALS["trial fails"]), change)


SHORT = """
scenario: short
title: a gang of two on a node with room for one
steps:
- create:
    nodes: [{name: n1, cpu: 1}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
- expect: {unschedulable: ["p[1-2]"]}
"""


def test_a_member_that_is_forgotten_has_no_result() -> None:
    def fail(old: Any) -> Any:
        def failed(rules: Rules, world: World, pod: Pod, result: Result) -> World:
            return world if pod.name == "p2" else old(rules, world, pod, result)

        return failed

    change = Change("x", "p2 is not given back", {"fail": fail})
    assert {"INV-09", "INV-12"} <= broken(SHORT, change)
    assert broken(SHORT) == set()


REPELLED = """
scenario: repelled
title: two members that keep apart and one node
steps:
- create:
    nodes: [{name: n1, cpu: 2}]
    podGroups: [{name: g, basic: true}]
    pods:
    - name: "p[1-2]"
      group: g
      cpu: 1
      labels: {app: x}
      spec:
        affinity:
          podAntiAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}
- expect: {bound: {exactly: 1, of: "p[1-2]"}}
"""


def test_a_member_placed_against_a_filter_is_caught_where_it_is_committed() -> None:
    def place(old: Any) -> Any:
        return lambda rules, world, cycle, pod: Placement(("n1",))

    assert broken(REPELLED) == set()
    assert "INV-06" in broken(REPELLED, Change("x", "all go to n1", {"place": place}))


def names_of(world: World) -> dict[str, str]:
    """Other names for all pods and nodes that are there or may come."""
    coming = world.environment.arrivals
    pods = {pod.name for pod in (*world.pods.values(), *(obj for obj in coming if isinstance(obj, Pod)))}
    nodes = {*world.nodes, *(obj.name for obj in coming if type(obj).__name__ == "Node")}
    return {**exchange(*sorted(pods)), **exchange(*sorted(nodes))}


@pytest.mark.parametrize("name", NAMED)
def test_equal_inputs_equal_verdict_in_the_named_worlds(name: str) -> None:
    start = NAMED[name].world
    for state in explore_graph(Machine(INTENDED, [start], "fine"), None, Limits(states=60))[1].states:
        assert equal_inputs(state, INTENDED, names_of(state), "fine") is None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(start=worlds())
def test_equal_inputs_equal_verdict_in_any_world(start: World) -> None:
    for state in explore_graph(Machine(INTENDED, [start]), None, Limits(states=12))[1].states:
        assert equal_inputs(state, INTENDED, names_of(state)) is None


def test_a_choice_by_name_is_caught() -> None:
    def place(old: Any) -> Any:
        def first(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
            placement = old(rules, world, cycle, pod)
            return evolve(placement, nodes=placement.nodes[:1])

        return first

    rules = profile(INTENDED, Change("x", "of equal nodes the first by name", {"place": place}))
    states = explore_graph(Machine(rules, [NAMED["failing-bind"].world]), None, Limits(states=60))[1].states
    found = [equal_inputs(state, rules, names_of(state)) for state in states]
    assert {violation.property for violation in found if violation} == {"INV-36"}
