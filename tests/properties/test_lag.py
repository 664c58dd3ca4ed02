"""Lagging views: what every component sees holds however old it is, and what is stored may be worse than that."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Job, PodGroupTemplate, Workload
from gangproof.impl.profiles import INTENDED
from gangproof.impl.store import WATCHES, view
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.late.lag import as_if_prompt, lagging, of_the_store, views
from gangproof.properties.late.page import distinct, draw, picture_name, section
from gangproof.properties.late.stale import CASES, Looked, Run, Stale, look, look_at
from gangproof.properties.search.explore import Exploration, Limits, explore
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
WORKLOAD = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", min_count=1),))
STRONG = evolve(gang("g", 1), priority=9)
LIMITS = Limits(states=20_000)
WORLDS: dict[str, World] = {
    "fits": NAMED["fits"].world,
    "short": NAMED["short"].world,
    "a plain pod is deleted": world(node("n", 1), pod("a"), pod("b"), deletions=1),
    "a pod is bound by others": world(node("n", 1), pod("a"), pod("b"), foreign_binds=1),
    "the node is lost": world(node("n", 1), gang("g", 1), pod("a", "g"), lost_nodes=1),
    "an eviction": world(
        node("n", 1), pod("v", node="n"), STRONG, evolve(pod("p", "g", preempts=True), priority=9),
        settings=AWARE, kubelet=True,
    ),
}  # fmt: skip
STATES = {
    "fits": (9, 397),
    "short": (7, 263),
    "a plain pod is deleted": (27, 289),
    "a pod is bound by others": (26, 308),
    "the node is lost": (13, 344),
    "an eviction": (9, 356),
}
"""States where everybody sees everything at once, and where each view may be one change behind."""
PAGE = Path(__file__).parents[2] / "docs" / "lag.md"


def asked(start: World) -> Exploration[World, Action]:
    """The search with everything that is ever asked, also where the runs settle."""
    found = settle(Machine(INTENDED, [start]), questions(), LIMITS)
    for settled in found.worlds:
        assert [wrong for judge in SETTLED if (wrong := judge(settled)) is not None] == []
    return found.exploration


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_seen_keeps_every_promise_however_old_it_is(name: str) -> None:
    """ACT-10: and nobody is left behind in the end, when everything has been seen."""
    prompt, late = asked(WORLDS[name]), asked(lagging(WORLDS[name], 1))
    for found in (prompt, late):
        assert (found.stop, dict(found.counterexamples)) == ("exhausted", {})
    assert (prompt.states, late.states) == STATES[name]


def test_a_job_whose_controller_sees_late() -> None:
    """ACT-10, INV-33, INV-34, LIVE-15: by one change of each kind, and by two."""
    start = world(node("n", 2), JOB, settings=WITH_JOBS)
    late = [name for name in views(start) if name.startswith("job-controller")]
    for most, states in ((0, 13), (1, 140), (2, 244)):
        found = asked(lagging(start, most, late))
        assert (found.states, found.stop, dict(found.counterexamples)) == (states, "exhausted", {})


ONLY_WHERE_PROMPT = {
    "a-member-is-deleted": (8, (34, 95)),
    "a-pod-is-bound-by-others": (7, (26, 90)),
    "the-node-is-lost": (6, (13, 33)),
    "a-unit-has-grown": (12, (34, 129)),
    "a-pod-comes-to-a-group-that-goes": (5, (14, 39)),
    "a-user-of-a-claim-is-deleted": (8, (11, 25)),
    "the-node-of-a-device-is-lost": (8, (17, 43)),
    "a-group-with-a-claim-comes-again": (12, (101, 257)),
}
"""Steps of a shortest run that breaks a promise in the store; states where nobody lags, and where one view does."""


def test_every_case_is_tried() -> None:
    assert tuple(ONLY_WHERE_PROMPT) == tuple(case.name for case in CASES)


@lru_cache
def looked() -> Stale:
    return look()


@pytest.mark.parametrize("one", looked().looked, ids=lambda one: one.case.name)
def test_what_holds_only_where_views_are_prompt(one: Looked) -> None:
    """ACT-10: of what is stored, with one stale read; where nobody lags, and of what is seen, it is kept."""
    steps, states = ONLY_WHERE_PROMPT[one.case.name]
    assert one.verdict is one.prompt.verdict is Verdict.HOLDS
    assert (one.prompt.states, one.late.states) == states
    assert tuple(run.promise for run in one.runs) == one.case.breaks
    assert {(len(run.path), run.stale_reads) for run in one.runs} == {(steps, 1)}
    late = lagging(one.case.world, one.case.most, [one.case.view])
    assert not explore(Machine(INTENDED, [late]), questions(), LIMITS).counterexamples


def test_the_shortest_run_to_a_group_that_goes_under_its_pod() -> None:
    """INV-29, GC-02: the controller decides by its view of the pods."""
    (run,) = (run for run in looked().runs if run.promise == "INV-29")
    assert [str(action) for action in run.path.actions] == [
        "create node/n",
        "create podGroup/default/g",
        "create pod/default/a",
        "delete podGroup/default/g",
        "let-go podGroup/default/g",
    ]


def test_the_entry_of_a_group_that_came_again_is_taken_for_one_of_the_old() -> None:
    """INV-28, CLAIM-30: the controller holds the uid of an entry against the group of that name that it sees.

    Three changes have to be unseen: the group went, came again, and was told of its pods. With two nothing breaks.
    """
    (run,) = (run for run in looked().runs if run.promise == "INV-28")
    assert [str(action) for action in run.path.actions[-5:]] == [
        "delete podGroup/default/g",
        "create podGroup/default/g",
        "cycle default/g Success default/a→n",
        "bind default/a",
        "claim-controller claim/default/claim",
    ]
    assert not look_at(evolve(run.case, most=2)).late.counterexamples


def test_a_unit_that_has_grown_unseen_is_evicted_in_part() -> None:
    """INV-17, PREEMPT-20: the scheduler names the victims that it knows; its trace tells what it does not know."""
    (run,) = (run for run in looked().runs if run.promise == "INV-17")
    assert str(run.path.actions[-1]) == "cycle default/g Waiting default/p→nowhere for default/v1"
    trace = run.trace()
    assert trace.headline.startswith("INV-17 violated (1 stale read): the scheduler sees late")
    assert [frame.note for frame in trace.frames] == [
        "",
        "scheduler has not seen yet that pod v2 has changed",
        "scheduler has not seen yet that pod v2 has changed, pod p has changed",
    ]
    before, now, _ = ({node.name: dict(node.used)["cpu"] for node in frame.nodes} for frame in trace.frames)
    assert (before, now) == ({"m": 0, "n": 2000}, {"m": 3000, "n": 2000}), "occupancy is that of the store"


def test_what_is_known_is_held_against_what_is_found() -> None:
    """A break that no case is about is a violation, and a search that was cut short is inconclusive."""
    (one,) = (one for one in looked().looked if one.case.name == "the-node-is-lost")
    assert evolve(one, case=evolve(one.case, breaks=())).verdict is Verdict.VIOLATED
    assert evolve(one, prompt=one.late).verdict is Verdict.VIOLATED
    assert look_at(one.case, Limits(states=20)).verdict is Verdict.INCONCLUSIVE
    with pytest.raises(KeyError, match="INV-03"):
        look(["INV-03"])


def test_the_page_tells_what_is_found() -> None:
    told = (
        PAGE.read_text(encoding="utf-8")
        .partition("<!-- stale:begin -->\n")[2]
        .partition("<!-- stale:end -->")[0]
    )
    assert told == section(looked())


SHOWN = [runs[0] for one in looked().looked for runs in distinct(one)]


@pytest.mark.parametrize("run", SHOWN, ids=picture_name)
def test_the_picture_is_what_the_code_draws(run: Run, tmp_path: Path) -> None:
    drawn = tmp_path / picture_name(run)
    drawn.write_text(draw(run), encoding="utf-8")
    assert drawn.read_bytes() == (PAGE.parent / "pictures" / drawn.name).read_bytes(), f"now: {drawn}"


def test_every_picture_of_a_late_view_is_made() -> None:
    there = {path.name for path in (PAGE.parent / "pictures").glob("lag-*.svg")}
    assert there == set(map(picture_name, SHOWN))


@pytest.mark.parametrize("name", ["fits", "short", "a plain pod is deleted", "an eviction"])
def test_a_search_that_forgets_names_agrees_with_the_full_one(name: str) -> None:
    """Also about what was not seen yet: the same breaks at the same depths, one state for each class."""
    for asking in (questions(), of_the_store()):
        found = compare(Machine(INTENDED, [lagging(WORLDS[name], 1)]), Symmetry(), asking)
        assert found.verdict is Verdict.HOLDS, str(found)


@pytest.mark.parametrize("most", [0, 1])
def test_a_group_that_goes_with_its_last_pod_was_protected(most: int) -> None:
    """INV-29: what a prompt controller does at once still comes after the pod's end."""
    start = world(node("n", 1), gang("g", 1), pod("a", "g"), deletions=2)
    late = lagging(start, most, ["scheduler/pod", "scheduler/podGroup"])
    found = explore(Machine(INTENDED, [late]), of_the_store(), LIMITS)
    assert found.stop == "exhausted"
    assert "INV-29" not in found.counterexamples


EVERY_VIEW = tuple(
    view(who, kind) for who, kinds in WATCHES.items() for kind in kinds if who != "claim-controller"
)
"""Without claims the claim controller does nothing, whatever it sees."""


@pytest.mark.parametrize(
    ("start", "reduced", "full"),
    [
        (world(node("n", 1), pod("a"), deletions=1), 2, 9),
        (world(node("n", 1), gang("g", 1), pod("a", "g"), deletions=1), 5, 9),
    ],
    ids=["plain pods", "a group"],
)
def test_views_that_nobody_decides_by_make_no_difference(start: World, reduced: int, full: int) -> None:
    """Independence: leaving them prompt loses no break and no end."""
    some, every = lagging(start, 1), lagging(start, 1, EVERY_VIEW)
    assert len(views(start)) == reduced
    few, many = (settle(Machine(INTENDED, [one]), of_the_store(), LIMITS) for one in (some, every))
    assert few.exploration.stop == many.exploration.stop == "exhausted"
    assert set(few.exploration.counterexamples) == set(many.exploration.counterexamples)
    ends = [{end(settled) for settled in one.worlds} for one in (few, many)]
    assert ends[0] == ends[1]
    assert few.exploration.states <= many.exploration.states


def end(state: World) -> tuple[Object, ...]:
    now = as_if_prompt(state)
    return (*now.pods.values(), *now.groups.values())


def test_a_component_of_which_a_view_is_too_far_behind_comes_first() -> None:
    """ACT-10: an action that makes several changes may leave it so; then it sees something before all else."""
    start = lagging(WORLDS["fits"], 2)
    found = settle(Machine(INTENDED, [start]), questions(), LIMITS)
    hurried = [state for state in found.graph.states if max(state.control.behind.values(), default=0) > 2]
    assert hurried
    for state in hurried:
        late = {name.partition("/")[0] for name, most in state.control.behind.items() if most > 2}
        steps = [action for action, _ in Machine(INTENDED, [start]).successors(state)]
        assert {(action.name, action.args[0]) for action in steps} == {("see", who) for who in late}


def test_a_group_that_is_gone_has_no_places() -> None:
    """INV-03: a group without protection goes between its decision and its binds; found where views lagged."""
    loose = evolve(gang("g", 2), finalizers=())
    start = world(
        node("n", 2), loose, pod("a", "g"), pod("b", "g"), deletions=1, settings=Settings(protection=False)
    )
    assert explore(Machine(INTENDED, [start]), questions(), LIMITS).verdict is Verdict.HOLDS
