"""Each promise, judged on two runs written by hand: one that keeps it and one that breaks it.

The runs that break it are what a careless scheduler would do; nothing here comes from a model or from a scheduler.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from handmade import (
    DRA,
    GANGS,
    TAS,
    WAP,
    Data,
    avoids,
    bind,
    condition,
    create,
    cycle,
    delete,
    evict,
    gang,
    node,
    nominate,
    on,
    pod,
    rest,
    run,
    slow,
    step,
    waits,
)

from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed import PROMISES, judge, reached
from gangproof.properties.observed.history import UnmarkedError
from gangproof.properties.observed.writing import history_of


def claimed(devices: bool = True, at: str = "n1", reserved: bool = True) -> Data:
    """A claim whose device is on a node, reserved for group g."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [at]}]}
    result = {"driver": "d", "pool": at, "device": "d0", "request": "r"}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "g"}
    return {
        **({"allocation": allocation} if devices else {}),
        **({"reservedFor": [user]} if reserved else {}),
    }


USES = {"resourceClaims": [{"name": "c", "resourceClaimName": "claim"}]}


def whole_gang(second: bool) -> Recording:
    """A gang of two on a node for two: both are bound, or one."""
    true = condition("g", "True/Scheduled")
    return run(
        create(
            node("n", 2), gang("g", 2), pod("p1", group="g"), pod("p2", group="g", cpu=1 if second else 3)
        ),
        cycle(bind("p1", "n"), *([bind("p2", "n")] if second else []), true),
        rest(p1=on("n"), p2=on("n") if second else waits()),
    )


def beside_leaving(both: bool) -> Recording:
    """Two members are on their way out: two others make a gang, one alone does not."""
    others = ("p3", "p4") if both else ("p3",)
    return run(
        create(node("n", 4), gang("g", 2), slow("p1", group="g", on="n"), slow("p2", group="g", on="n")),
        rest(p1=on("n"), p2=on("n")),
        ({"delete": ["Pod/default/p1", "Pod/default/p2"]}, [delete("p1", "n"), delete("p2", "n")]),
        create(*(pod(p, group="g") for p in others)),
        cycle(*(bind(p, "n") for p in others), *([condition("g", "True/Scheduled")] if both else [])),
        step(reap=True),
        rest(**{p: on("n") for p in others}),
    )


def room(cpu: int) -> Recording:
    return run(
        create(node("n", 2), pod("a", 1, on="n"), pod("p", cpu)),
        cycle(bind("p", "n")),
        rest(p=on("n"), a=on("n")),
    )


def allowed_node(tolerated: bool) -> Recording:
    spec = {"tolerations": [{"operator": "Exists"}]} if tolerated else {}
    return run(create(node("n", 2, taint="kept"), pod("p", **spec)), cycle(bind("p", "n")), rest(p=on("n")))


def apart(other: str) -> Recording:
    return run(
        create(
            node("n1", 2, **{"kubernetes.io/hostname": "n1"}),
            node("n2", 2, **{"kubernetes.io/hostname": "n2"}),
            gang("g", 2),
            pod("p1", group="g", affinity=avoids("p2")),
            pod("p2", group="g"),
        ),
        cycle(bind("p1", "n1"), bind("p2", other), condition("g", "True/Scheduled")),
        rest(p1=on("n1"), p2=on(other)),
    )


def one_domain(second: str) -> Recording:
    key = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    return run(
        create(
            node("a1", 1, zone="a"),
            node("a2", 1, zone="a"),
            node("b1", 1, zone="b"),
            gang("g", 2, **key),
            pod("p1", group="g"),
            pod("p2", group="g"),
        ),
        cycle(bind("p1", "a1"), bind("p2", second), condition("g", "True/Scheduled")),
        rest(p1=on("a1"), p2=on(second)),
        gates=TAS,
    )


def claim(to: str, **seen: bool) -> Recording:
    return run(
        create(node("n1", 1), node("n2", 1), gang("g", 1, **USES), pod("p1", group="g", **USES)),
        cycle(bind("p1", to), condition("g", "True/Scheduled")),
        rest(p1=on(to)),
        gates=DRA,
        claims={"claim": claimed(**seen)},
    )


def device_once(other: str) -> Recording:
    return run(
        create(node("n1", 1)), rest(), gates=DRA, claims={"one": claimed(), "other": claimed(at=other)}
    )


def evicted(mine: int, victim: int, by: str = "x", gates: Data = GANGS) -> Recording:
    """A plain pod has another one evicted and takes its place."""
    return run(
        create(node("n", 1), pod("v", prio=victim, on="n"), pod("x", prio=mine)),
        cycle(evict("v", "n", by), nominate("x", "n")),
        cycle(bind("x", "n"), nominate("x", None)),
        rest(x=on("n")),
        gates=gates,
    )


def own_eviction(stranger: bool) -> Recording:
    """A member of a gang has the last pod evicted that leaves it no room: a stranger, or its sibling."""
    other = pod("v", prio=10, on="n", group="h" if stranger else "g")
    least = 1 if stranger else 2
    return run(
        create(node("n", 1), gang("h", 1), gang("g", least), other, pod("p", prio=100, group="g")),
        cycle(evict("v", "n", "p"), nominate("p", "n")),
        cycle(*([bind("p", "n"), condition("g", "True/Scheduled")] if stranger else [])),
        rest(p=on("n") if stranger else waits("gated by GangScheduling", nominated="n")),
    )


def whole_unit(both: bool) -> Recording:
    """One of two members of a group that stays or goes as a whole is evicted, or both are."""
    second = [evict("v2", "n", "g")] if both else []
    return run(
        create(
            node("n", 2),
            gang("v", 2, priority=10, disruptionMode="PodGroup"),
            pod("v1", group="v", on="n"),
            pod("v2", group="v", on="n"),
            gang("g", 1, priority=100),
            pod("p", 2 if both else 1, group="g"),
        ),
        cycle(evict("v1", "n", "g"), *second, condition("g", "False/Unschedulable")),
        cycle(bind("p", "n"), condition("g", "True/Scheduled")),
        rest(p=on("n"), **({} if both else {"v2": on("n")})),
        gates=WAP,
    )


def evicted_once(again: bool) -> Recording:
    """Two members of a gang want the room of one victim: the second sees that it is on its way out."""
    return run(
        create(
            node("n", 2),
            slow("v", 2, prio=10, on="n"),
            gang("g", 2),
            *(pod(p, group="g", prio=100) for p in ("p1", "p2")),
        ),
        cycle(evict("v", "n", "p1"), *([evict("v", "n", "p2")] if again else [])),
        step(reap=True),
        cycle(bind("p1", "n"), bind("p2", "n"), condition("g", "True/Scheduled")),
        rest(p1=on("n"), p2=on("n")),
    )


def refused(policy: str) -> Recording:
    return run(
        create(node("n", 1), pod("v", on="n"), pod("x", prio=100, preemptionPolicy=policy)),
        cycle(evict("v", "n", "x"), nominate("x", "n")),
        cycle(bind("x", "n"), nominate("x", None)),
        rest(x=on("n")),
    )


def useful_eviction(cpu: int) -> Recording:
    """A member has a pod evicted; beside a stronger one there is room for the whole gang, or there is not."""
    fits = cpu == 3
    members = [pod(p, group="g", prio=100) for p in ("p1", "p2")]
    bound = [bind("p1", "n"), bind("p2", "n"), condition("g", "True/Scheduled")]
    return run(
        create(
            node("n", cpu), pod("low", prio=1, on="n"), pod("high", prio=1000, on="n"), gang("g", 2), *members
        ),
        cycle(evict("low", "n", "p2"), condition("g", "False/Unschedulable")),
        cycle(*(bound if fits else [])),
        rest(high=on("n"), **{p: on("n") if fits else waits() for p in ("p1", "p2")}),
    )


def needed_victims(cpu: int) -> Recording:
    """Two victims go for a pod that needs the room of both, or of one."""
    return run(
        create(node("n", 2), pod("v1", on="n"), pod("v2", on="n"), pod("x", cpu, prio=100)),
        cycle(evict("v1", "n", "x"), evict("v2", "n", "x"), nominate("x", "n")),
        cycle(bind("x", "n"), nominate("x", None)),
        rest(x=on("n")),
    )


def one_round(again: bool) -> Recording:
    """A group waits for the end of its first victim; meanwhile it chooses another one, or it does not."""
    return run(
        create(
            node("n", 2),
            slow("v1", on="n"),
            slow("v2", on="n"),
            gang("g", 1, priority=100),
            pod("p", 1, group="g"),
        ),
        cycle(evict("v1", "n", "g"), condition("g", "False/Unschedulable")),
        rest(25, p=waits(), v1=on("n", deleting=True), v2=on("n")),
        cycle(*(evict("v2", "n", "g") if again else [])),
        step(kill=["v1", *(["v2"] if again else [])]),
        cycle(bind("p", "n"), condition("g", "True/Scheduled")),
        rest(p=on("n"), **({} if again else {"v2": on("n")})),
        gates=WAP,
    )


def freed_room(cpu: int) -> Recording:
    """Room is made for a gang; an equal pod is bound there, beside it or in its place."""
    members, waiting = ("p1", "p2"), cpu == 2
    bound = [] if waiting else [*(bind(p, "n") for p in members), condition("g", "True/Scheduled")]
    return run(
        create(
            node("n", 5),
            pod("v", 2, prio=10, on="n"),
            gang("g", 2, priority=100),
            *(pod(p, 2, group="g") for p in members),
            pod("x", cpu, prio=100, preemptionPolicy="Never"),
        ),
        cycle(evict("v", "n", "g"), condition("g", "False/Unschedulable")),
        cycle(bind("x", "n")),
        cycle(*bound),
        rest(x=on("n"), **{p: waits() if waiting else on("n") for p in members}),
        gates=WAP,
    )


def work_conserving(cpu: int) -> Recording:
    members = [pod(p, group="g") for p in ("p1", "p2")]
    return run(
        create(node("n", cpu), gang("g", 2), *members),
        cycle(condition("g", "False/Unschedulable")),
        rest(p1=waits(), p2=waits()),
    )


def room_is_made(cpu: int) -> Recording:
    """A weaker pod runs; with it gone there is room for the pod that waits, or still is not."""
    return run(
        create(node("n", 1), pod("v", prio=99, on="n"), pod("x", cpu, prio=100)),
        cycle(),
        rest(v=on("n"), x=waits("unschedulable")),
    )


def strongest_first(cpu: int) -> Recording:
    """A pod ends and a weak pod gets its room, while a stronger gang waits: for both there is room, or not."""
    members, fits = ("p1", "p2"), cpu == 4
    bound = [*(bind(p, "n") for p in members), condition("g", "True/Scheduled")] if fits else []
    return run(
        create(
            node("n", cpu),
            pod("b", cpu, prio=1000, on="n"),
            gang("g", 2),
            *(pod(p, group="g", prio=100, preemptionPolicy="Never") for p in members),
            pod("x", 2, prio=1),
        ),
        cycle(condition("g", "False/Unschedulable")),
        rest(b=on("n"), p1=waits(), p2=waits(), x=waits("unschedulable")),
        ({"delete": ["Pod/default/b"]}, [delete("b", "n")]),
        cycle(bind("x", "n")),
        cycle(*bound),
        rest(x=on("n"), **{p: on("n") if fits else waits() for p in members}),
    )


def woken(least: int) -> Recording:
    return run(
        create(node("n", 1), gang("g", least), *(pod(p, 2, group="g") for p in ("p1", "p2"))),
        cycle(),
        rest(p1=waits("gated by GangScheduling"), p2=waits("gated by GangScheduling")),
    )


def preemption_over(over: bool) -> Recording:
    victim = {} if over else {"v": on("n", deleting=True)}
    return run(
        create(node("n", 2), slow("v", 2, on="n"), pod("x", 3, prio=100)),
        cycle(evict("v", "n", "x"), nominate("x", "n")),
        *([step(reap=True)] if over else []),
        cycle(nominate("x", None)),
        rest(x=waits("gated by DefaultPreemption"), **victim),
    )


def nomination_ends(cleared: bool) -> Recording:
    """A gang of which a member is deleted while room is made: it cannot go on, and its reservation is over."""
    nominations = [nominate(p, "n") for p in ("p1", "p2", "p3")]
    left = {
        p: waits("gated by GangScheduling", **({} if cleared else {"nominated": "n"})) for p in ("p2", "p3")
    }
    return run(
        create(
            node("n", 3),
            *(slow(v, prio=10, on="n") for v in ("v1", "v2", "v3")),
            gang("g", 3),
            *(pod(p, group="g", prio=100) for p in ("p1", "p2", "p3")),
        ),
        cycle(*(evict(f"v{k}", "n", f"p{k}") for k in (1, 2, 3)), *nominations),
        ({"delete": ["Pod/default/p1"]}, [delete("p1")]),
        step(reap=True),
        step(create=[pod("x", 3, prio=50)]),
        cycle(*([nominate("p2", None), nominate("p3", None), bind("x", "n")] if cleared else [])),
        rest(x=on("n") if cleared else waits("unschedulable"), **left),
    )


def nominations_fit(second: str) -> Recording:
    """Two members wait for the room of one victim each; both are nominated to one node, or to one each."""
    held = {"v1": on("n1", deleting=True), "v2": on("n2", deleting=True)}
    return run(
        create(
            node("n1", 1),
            node("n2", 1),
            slow("v1", on="n1"),
            slow("v2", on="n2"),
            gang("g", 2),
            *(pod(p, group="g", prio=100) for p in ("p1", "p2")),
        ),
        cycle(
            evict("v1", "n1", "p1"),
            evict("v2", "n2", "p2"),
            nominate("p1", "n1"),
            nominate("p2", second),
            condition("g", "False/Unschedulable"),
        ),
        rest(p1=waits(nominated="n1"), p2=waits(nominated=second), **held),
    )


def backoff(tries: int) -> Recording:
    return run(
        create(node("n", 1), gang("g", 1), pod("p", 2, group="g")),
        cycle(condition("g", "False/Unschedulable")),
        rest(25, p={**waits(), "attempts": 1}),
        rest(25, p={**waits(), "attempts": tries}),
    )


def condition_final(then: str) -> Recording:
    return run(
        create(node("n", 2), gang("g", 2), *(pod(p, group="g") for p in ("p1", "p2", "p3"))),
        cycle(bind("p1", "n"), bind("p2", "n"), condition("g", "True/Scheduled")),
        cycle(condition("g", then)),
        rest(p1=on("n"), p2=on("n"), p3=waits()),
    )


def condition_meaning(told: str, bound: int) -> Recording:
    members = [f"p{n}" for n in (1, 2)]
    return run(
        create(node("n", 2), gang("g", 2), *(pod(p, 1 if bound else 3, group="g") for p in members)),
        cycle(*(bind(p, "n") for p in members[:bound]), condition("g", told)),
        rest(**{p: on("n") if n < bound else waits() for n, p in enumerate(members)}),
    )


def explained(told: bool) -> Recording:
    return run(
        create(node("n", 1), gang("g", 1), pod("p", 2, group="g")),
        cycle(*([condition("g", "False/Unschedulable")] if told else [])),
        rest(p=waits()),
    )


def alive(error: str) -> Recording:
    return run(create(node("n", 1)), rest(), error=error)


Make = Callable[[], Recording]
RUNS: dict[str, tuple[Make, Make]] = {
    "whole-gang": (lambda: whole_gang(True), lambda: whole_gang(False)),
    "whole-gang (beside members on their way out)": (
        lambda: beside_leaving(True),
        lambda: beside_leaving(False),
    ),
    "room (cpu)": (lambda: room(1), lambda: room(2)),
    "allowed-node": (lambda: allowed_node(True), lambda: allowed_node(False)),
    "apart (members of one group)": (lambda: apart("n2"), lambda: apart("n1")),
    "one-domain": (lambda: one_domain("a2"), lambda: one_domain("b1")),
    "claim-in-reach": (lambda: claim("n1"), lambda: claim("n2")),
    "claim-reserved": (lambda: claim("n1"), lambda: claim("n1", reserved=False)),
    "device-once": (lambda: device_once("n2"), lambda: device_once("n1")),
    "weaker-victim (by a plain pod)": (lambda: evicted(100, 10), lambda: evicted(10, 10)),
    "no-own-eviction (by a member)": (lambda: own_eviction(True), lambda: own_eviction(False)),
    "whole-unit (by a group)": (lambda: whole_unit(True), lambda: whole_unit(False)),
    "evicted-once (by a member)": (lambda: evicted_once(False), lambda: evicted_once(True)),
    "refused (by a plain pod)": (lambda: refused("PreemptLowerPriority"), lambda: refused("Never")),
    "useful-eviction (by a member)": (lambda: useful_eviction(3), lambda: useful_eviction(2)),
    "needed-victims (by a plain pod)": (lambda: needed_victims(2), lambda: needed_victims(1)),
    "one-round (by a group)": (lambda: one_round(False), lambda: one_round(True)),
    "freed-room (made by a group, taken by an equal one)": (
        lambda: freed_room(1),
        lambda: freed_room(2),
    ),
    "work-conserving (a gang)": (lambda: work_conserving(1), lambda: work_conserving(2)),
    "room-is-made (a plain pod)": (lambda: room_is_made(2), lambda: room_is_made(1)),
    "strongest-first (a gang, which waits on)": (lambda: strongest_first(4), lambda: strongest_first(2)),
    "woken (its gang is complete)": (lambda: woken(3), lambda: woken(2)),
    "woken (a plain pod, its preemption is over)": (
        lambda: preemption_over(False),
        lambda: preemption_over(True),
    ),
    "nomination-ends (a group, it keeps others from room)": (
        lambda: nomination_ends(True),
        lambda: nomination_ends(False),
    ),
    "nominations-fit (by a member)": (lambda: nominations_fit("n2"), lambda: nominations_fit("n1")),
    "backoff (a group)": (lambda: backoff(20), lambda: backoff(200)),
    "condition-final": (
        lambda: condition_final("True/Scheduled"),
        lambda: condition_final("False/Unschedulable"),
    ),
    "condition-meaning (True, and too few bound)": (
        lambda: condition_meaning("True/Scheduled", 2),
        lambda: condition_meaning("True/Scheduled", 0),
    ),
    "condition-meaning (not True, and the gang is bound)": (
        lambda: condition_meaning("True/Scheduled", 2),
        lambda: condition_meaning("False/Unschedulable", 2),
    ),
    "explained": (lambda: explained(True), lambda: explained(False)),
    "alive": (lambda: alive(""), lambda: alive("crash: it ended with exit code 2")),
}
ALONGSIDE: dict[str, set[str]] = {
    # One mistake may break several promises; what else is broken here, and why.
    "whole-gang": {"condition-meaning (True, and too few bound)"},  # half a gang, called scheduled
    "no-own-eviction (by a member)": {
        "useful-eviction (by a member)",
        "nomination-ends (a group, left over)",
    },
    "one-round (by a group)": {"needed-victims (by a group)"},  # the second round was for nothing
    "woken (a plain pod, its preemption is over)": {"useful-eviction (by a plain pod)"},
    "condition-final": {"condition-meaning (not True, and the gang is bound)"},
}


def kinds(recording: Recording) -> set[str]:
    return {broken.kind for broken in judge(recording)}


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_that_keeps_the_promise(kind: str) -> None:
    recording = RUNS[kind][0]()
    assert kinds(recording) == set()
    assert kind.partition(" ")[0] in reached(recording), "its interesting case was not reached"


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_that_breaks_the_promise(kind: str) -> None:
    assert kinds(RUNS[kind][1]()) == {kind} | ALONGSIDE.get(kind, set())


def test_every_promise_has_its_two_runs() -> None:
    assert {kind.partition(" ")[0] for kind in RUNS} == {promise.id for promise in PROMISES}


def test_every_promise_says_what_it_is_and_where_it_comes_from() -> None:
    for promise in PROMISES:
        assert promise.claim.endswith("."), promise.id
        assert promise.cites, promise.id
    assert len({promise.id for promise in PROMISES}) == len(PROMISES)


def test_a_promise_whose_case_never_came_is_not_reached() -> None:
    assert reached(run(create(node("n", 1)), rest())) == ("alive",)


def test_a_run_without_marks_is_not_judged() -> None:
    with pytest.raises(UnmarkedError, match="handmade"):
        judge(evolve(whole_gang(True), marks=()))


def test_members_that_users_took_away_are_forgiven() -> None:
    """A gang of three of which a user deletes one while it is decided: what was decided stands."""
    members = ("p1", "p2", "p3")
    objects = create(node("n", 3), gang("g", 3), *(pod(p, group="g") for p in members))
    during = {"attempt": True, "during": [{"delete": ["Pod/default/p3"]}]}
    bound = [bind("p1", "n"), bind("p2", "n")]
    forgiven = run(objects, (during, [delete("p3"), *bound]), rest(p1=on("n"), p2=on("n")))
    assert "whole-gang" not in kinds(forgiven)
    before = ({"delete": ["Pod/default/p3"]}, [delete("p3")])
    assert "whole-gang" in kinds(run(objects, before, cycle(*bound), rest(p1=on("n"), p2=on("n"))))


def test_a_pod_that_is_made_again_is_another_one() -> None:
    recording = run(
        create(node("n", 1), pod("p", on="n")),
        ({"delete": ["Pod/default/p"]}, [delete("p", "n")]),
        create(pod("p")),
        cycle(bind("p", "n")),
        rest(p=on("n")),
    )
    first, last = (history_of(recording).moments[n].after.pods["default/p"].uid for n in (2, -1))
    assert first != last
    assert kinds(recording) == set()
