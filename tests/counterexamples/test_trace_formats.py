"""JSON and ITF give back exactly what was written, and refuse everything else with one clear message."""

import json as stdlib_json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangproof.counterexamples import Trace, TraceFormatError, dumps, itf, loads

from gangproof.counterexamples import (  # isort: skip
    Action,
    ClaimView,
    Event,
    Frame,
    GroupView,
    NodeView,
    PodState,
    PodView,
    Verdict,
    Wait,
)


def test_json_round_trip(trace: Trace) -> None:
    assert loads(dumps(trace)) == trace


def test_itf_round_trip(trace: Trace) -> None:
    assert itf.loads(itf.dumps(trace)) == trace


TEXT = st.text(max_size=6)
INTS = st.integers(-(2**70), 2**70)
MAYBE = st.none() | TEXT
AMOUNTS = st.lists(st.tuples(TEXT, INTS), max_size=2).map(tuple)
LABELS = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
ARGUMENTS = st.recursive(
    st.none() | st.booleans() | INTS | TEXT, lambda inner: st.lists(inner, max_size=2).map(tuple)
)


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=2, unique_by=lambda view: view.key).map(tuple)


FRAMES = st.builds(
    Frame,
    nodes=several(st.builds(NodeView, TEXT, AMOUNTS, AMOUNTS, LABELS, st.booleans(), TEXT)),
    pods=several(
        st.builds(PodView, TEXT, st.sampled_from(PodState), MAYBE, MAYBE, MAYBE, AMOUNTS, INTS, TEXT)
    ),
    groups=several(st.builds(GroupView, TEXT, TEXT, AMOUNTS, MAYBE, INTS, MAYBE, TEXT)),
    claims=several(st.builds(ClaimView, TEXT, MAYBE, TEXTS, TEXTS, TEXT)),
    waits=st.lists(st.builds(Wait, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    note=TEXT,
)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    frames = draw(st.lists(FRAMES, min_size=1, max_size=3).map(tuple))
    loop = draw(st.none() | st.integers(0, len(frames) - 1))
    count = len(frames) - (loop is None)
    causes = [tuple(range(draw(st.integers(0, index)))) for index in range(count)]
    events = tuple(Event(draw(TEXT), draw(TEXT), draw(TEXTS), because) for because in causes)
    return Trace(
        draw(TEXT),
        frames,
        events,
        draw(st.sampled_from(Verdict)),
        *(draw(TEXT) for _ in range(4)),
        citation=draw(TEXTS),
        numbers=draw(st.lists(st.tuples(TEXT, INTS | TEXT), max_size=2).map(tuple)),
        involved=draw(TEXTS),
        loop=loop,
        scenario=draw(MAYBE),
        actions=draw(
            st.lists(st.builds(Action, TEXT, st.lists(ARGUMENTS, max_size=2).map(tuple)), max_size=2).map(
                tuple
            )
        ),
        meta=draw(LABELS),
    )


@given(traces())
def test_any_trace_survives_both_formats(trace: Trace) -> None:
    assert loads(dumps(trace)) == trace
    assert itf.loads(itf.dumps(trace)) == trace


def edited(trace: Trace, edit: Callable[[dict[str, Any]], object]) -> str:
    document = stdlib_json.loads(dumps(trace))
    edit(document)
    return stdlib_json.dumps(document)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: d.update(apiVersion="gangproof/v2"),
            'apiVersion: found "gangproof/v2", expected "gangproof/v1"',
        ),
        (lambda d: d.pop("apiVersion"), 'apiVersion: found nothing, expected "gangproof/v1"'),
        (lambda d: d.update(kind="Pod"), 'kind: found "Pod", expected "Trace"'),
        (lambda d: d.pop("title"), "title: found nothing, expected a value"),
        (lambda d: d.update(title=None), "title: found null, expected text"),
        (
            lambda d: d.update(verdict="maybe"),
            'verdict: found "maybe", expected one of holds, violated, inconclusive, vacuous',
        ),
        (lambda d: d.update(loop=True), "loop: found true, expected an integer or null"),
        (lambda d: d.update(frames={}), "frames: found an object, expected an array"),
        (lambda d: d.update(involved="pg1"), 'involved: found "pg1", expected an array'),
        (lambda d: d["numbers"].append(["x", 1, 2]), "numbers[4]: found 3 items, expected 2"),
        (lambda d: d["numbers"].append(["x", 1.5]), "numbers[4][1]: found 1.5, expected an integer or text"),
        (
            lambda d: d["frames"][1]["pods"][0].update(node=7),
            "frames[1].pods[0].node: found 7, expected text or null",
        ),
        (
            lambda d: d["frames"][0]["nodes"][1].update(colour="red"),
            'frames[0].nodes[1]: found member "colour", expected only name, capacity, used, labels, ',
        ),
        (
            lambda d: d["frames"][0]["nodes"][0]["capacity"][0].__setitem__(1, "3"),
            'frames[0].nodes[0].capacity[0][1]: found "3", expected an integer',
        ),
        (
            lambda d: d["frames"][0]["pods"].append({"key": "x", "state": []}),
            "frames[0].pods[2].state: found an array, expected one of ",
        ),
        (lambda d: d["frames"][0]["nodes"].append({"name": "n1"}), "frames[0].nodes: 'n1' is there twice"),
        (lambda d: d["events"].pop(), "events: 2 found, 3 expected for 4 frames"),
        (
            lambda d: d["actions"][0]["args"].append({"a": 1}),
            "actions[0].args[2]: found an object, expected text, an integer, true, false, null or an array",
        ),
    ],
)
def test_what_is_not_a_trace_is_refused_at_its_place(
    half_a_gang: Trace, edit: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(TraceFormatError) as caught:
        loads(edited(half_a_gang, edit))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: not JSON"),
        ("[]", "the document: found an array, expected an object"),
        ('{"kind": "Trace", "kind": "Trace"}', '"kind": the member is there twice'),
        ("[" * 100_000, "too deeply nested"),
        ('{"format": ' + "9" * 10_000 + "}", "an integer of 10000 digits found, at most 40 expected"),
        (b"\xff", "byte 0: not UTF-8"),
    ],
)
@pytest.mark.parametrize("read", [loads, itf.loads])
def test_what_is_no_document_is_refused(
    read: Callable[[str | bytes], Trace], text: str | bytes, message: str
) -> None:
    with pytest.raises(TraceFormatError, match=message):
        read(text)


@pytest.mark.parametrize(
    "document",
    [
        '{"states": []}',
        '{"vars": [], "states": [{"velocity": 7}]}',
        '{"vars": [], "states": [{"nodes": 7}]}',
        '{"vars": [], "states": [{"nodes": ["n1"]}]}',
        '{"vars": [], "states": [{"nodes": [{"class": "n1"}]}]}',
        '{"vars": [], "states": [{"pods": [{"key": "p", "state": "bound", "node": ["a", "b"]}]}]}',
        '{"vars": [], "states": [{"note": {"#bigint": "x"}}]}',
        '{"vars": [], "states": []}',
        '{"#meta": 7, "vars": [], "states": []}',
    ],
)
def test_itf_of_another_shape_is_refused(document: str) -> None:
    with pytest.raises(TraceFormatError):
        itf.loads(document)


def test_itf_of_another_tool_needs_only_the_variables() -> None:
    found = itf.loads(
        '{"vars": ["pods"], "states": [{"pods": [{"key": "default/p", "state": "bound", "node": ["n1"]}]}]}'
    )
    assert found.frames[0].pods == (PodView("default/p", PodState.BOUND, node="n1"),)


def test_json_says_only_what_is_not_default(half_a_gang: Trace) -> None:
    document = stdlib_json.loads(dumps(half_a_gang))
    assert list(document)[:3] == ["apiVersion", "kind", "title"]
    assert "loop" not in document and "note" not in document["frames"][0]
    assert document["frames"][0]["pods"][0] == {
        "key": "default/p1",
        "state": "active",
        "group": "default/pg1",
        "requests": [["cpu", 1000]],
    }
