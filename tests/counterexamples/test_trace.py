"""The data model refuses what contradicts itself, and says how it is to be read."""

import pytest

from gangproof.counterexamples import Event, Frame, NodeView, PodState, PodView, Trace, Verdict

EMPTY = Frame()
EVENT = Event("something happens")


def test_a_trace_has_one_event_between_two_frames() -> None:
    Trace("t", (EMPTY, EMPTY), (EVENT,))
    with pytest.raises(ValueError, match="0 found, 1 expected for 2 frames"):
        Trace("t", (EMPTY, EMPTY))
    with pytest.raises(ValueError, match="at least one"):
        Trace("t", ())


def test_a_lasso_has_one_event_more_that_returns_to_a_frame() -> None:
    Trace("t", (EMPTY, EMPTY), (EVENT, EVENT), loop=1)
    with pytest.raises(ValueError, match="1 found, 2 expected"):
        Trace("t", (EMPTY, EMPTY), (EVENT,), loop=0)
    with pytest.raises(ValueError, match="frame 2 found, 0 to 1 expected"):
        Trace("t", (EMPTY, EMPTY), (EVENT, EVENT), loop=2)


def test_causes_are_earlier_events() -> None:
    Trace("t", (EMPTY,) * 3, (EVENT, Event("e", because=(0,))))
    for cause in (1, -1):
        with pytest.raises(ValueError, match=rf"events\[1\].because: event {cause} is not an earlier one"):
            Trace("t", (EMPTY,) * 3, (EVENT, Event("e", because=(cause,))))


@pytest.mark.parametrize(
    ("field", "views"),
    [
        ("nodes", (NodeView("n"), NodeView("n"))),
        ("pods", (PodView("p", PodState.GONE), PodView("p", PodState.BOUND))),
    ],
)
def test_keys_are_unique_in_a_frame(field: str, views: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=f"{field}: '{views[0].key}' is there twice"):
        Frame(**{field: views})


def test_states_and_verdicts_are_a_closed_vocabulary() -> None:
    assert PodView("p", "in flight").state is PodState.IN_FLIGHT
    assert Trace("t", (EMPTY,), verdict="holds").verdict is Verdict.HOLDS
    with pytest.raises(ValueError, match="flying"):
        PodView("p", "flying")
    with pytest.raises(ValueError, match="maybe"):
        Trace("t", (EMPTY,), verdict="maybe")


def test_the_headline_names_property_verdict_and_deviation(half_a_gang: Trace) -> None:
    assert half_a_gang.headline == "INV-03 violated (DEV-17): a gang of two of which one is bound"
    assert Trace("t", (EMPTY,)).headline == "violated: t"


def test_a_notebook_gets_text_picture_and_page(half_a_gang: Trace) -> None:
    bundle = half_a_gang._repr_mimebundle_()
    assert sorted(bundle) == ["image/svg+xml", "text/html", "text/plain"]
    assert bundle["text/plain"] == str(half_a_gang)
    assert bundle["image/svg+xml"].startswith("<svg ")
    assert bundle["text/html"].startswith("<iframe srcdoc=") and "<script" not in bundle["text/html"]
    assert sorted(half_a_gang._repr_mimebundle_(include=["text/plain"])) == ["text/plain"]
    assert "text/html" not in half_a_gang._repr_mimebundle_(exclude=["text/html"])
