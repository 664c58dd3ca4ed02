"""Whatever the text is, the loader answers with a value or with an `InputError`, and the same one each time."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gangproof.errors import InputError
from gangproof.load import load_manifests_text, load_scenarios_text
from gangproof.load.text import decode, documents

ROOT = Path(__file__).parents[2]
SCENARIOS = "---\n".join(
    (ROOT / f"scenarios/{n}.scenario.yaml").read_text() for n in ("api", "claims", "job")
)
MANIFESTS = (Path(__file__).parent / "full.yaml").read_text()


def outcome(text: str) -> str:
    """What both loaders say; any other exception than InputError fails the test."""
    said: list[str] = []
    for load in (load_manifests_text, load_scenarios_text):
        try:
            said.append(repr(load(text)))
        except InputError as error:
            assert error.problems
            assert all(p.found and p.expected and p.line >= 0 for p in error.problems)
            said.append(str(error))
    return "\n".join(said)


@given(st.binary(max_size=200))
def test_bytes(data: bytes) -> None:
    try:
        text = decode("x", data)
    except InputError:
        return
    outcome(text)


@given(st.text(max_size=200))
def test_text(text: str) -> None:
    assert outcome(text) == outcome(text)


@given(st.text(alphabet="{}[]&*!|>'\"%@`#:,-? \n\tab0<~.", max_size=60))
def test_punctuation(text: str) -> None:
    outcome(text)


def _mutated(text: str) -> st.SearchStrategy[str]:
    spans = st.tuples(
        st.integers(0, len(text)), st.integers(0, 40), st.integers(0, len(text)), st.integers(0, 40)
    )

    def cut(span: tuple[int, int, int, int], filler: str) -> str:
        start, length, source, taken = span
        return text[:start] + (filler or text[source : source + taken]) + text[start + length :]

    return st.builds(cut, spans, st.text(max_size=3))


@settings(deadline=None)
@given(_mutated(MANIFESTS))
def test_mutated_manifests(text: str) -> None:
    outcome(text)


@settings(deadline=None)
@given(_mutated(SCENARIOS))
def test_mutated_scenarios(text: str) -> None:
    outcome(text)


JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([None]),
    st.just({"": None}),
    st.just([{}]),
    st.just({"name": "x"}),
    st.just("p[1-99999]"),
    st.just("p[2-1]"),
)


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in entries:
        found += _places(value, (*path, step))
    return found


def _replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = _replaced(data[path[0]], path[1:], value)
    return copy


def _with_junk(text: str) -> st.SearchStrategy[str]:
    whole = [document.data for document in documents("x", text)]
    places = [path for path in _places(whole) if len(path) > 1]

    def build(path: tuple[Any, ...], value: Any) -> str:
        return yaml.safe_dump_all(_replaced(whole, path, value), allow_unicode=True)

    return st.builds(build, st.sampled_from(places), JUNK)


@settings(deadline=None, max_examples=200)
@given(_with_junk(MANIFESTS))
def test_manifests_with_a_value_of_another_kind(text: str) -> None:
    outcome(text)


@settings(deadline=None, max_examples=200)
@given(_with_junk(SCENARIOS))
def test_scenarios_with_a_value_of_another_kind(text: str) -> None:
    outcome(text)
