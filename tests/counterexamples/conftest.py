"""The hand-made traces by name, for the tests of the room."""

import handmade_traces
import pytest

from gangproof.counterexamples import Trace


@pytest.fixture
def half_a_gang() -> Trace:
    return handmade_traces.half_a_gang()


@pytest.fixture
def zones() -> Trace:
    return handmade_traces.zones()


@pytest.fixture
def sharing() -> Trace:
    return handmade_traces.sharing()


@pytest.fixture
def deadlock() -> Trace:
    return handmade_traces.deadlock()


@pytest.fixture
def hostile() -> Trace:
    return handmade_traces.hostile()


@pytest.fixture
def crowd() -> Trace:
    return handmade_traces.crowd()


@pytest.fixture
def witness() -> Trace:
    return handmade_traces.witness()


@pytest.fixture(params=handmade_traces.NAMES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return getattr(handmade_traces, request.param)()
