"""Manifests and dumps: any Kubernetes objects in, the modelled ones out as values, the rest listed.

An object with a uid or a resourceVersion comes from an API server and is taken as it is; anything else goes
through admission first, as if it were created now.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from attrs import evolve, frozen

from gangproof.errors import InputError, Problem
from gangproof.impl.gates import CLUSTER_WIDE as NOT_NUMBERED
from gangproof.impl.gates import FeatureGates, Object, gates_needed
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.objects.checks import entries_of, fields_of, is_dns_subdomain, shown
from gangproof.impl.objects.validation import Path, violations
from gangproof.load.admission import Entry, admit
from gangproof.load.decode import DECODERS
from gangproof.load.decode_claim import beyond_cel
from gangproof.load.decode_pod import PREFERRED, REQUIRED, seconds
from gangproof.load.fields import SHAPES, VERSION_HINTS, VERSIONS
from gangproof.load.files import read, sources
from gangproof.load.kinds import DECISIVE, OTHERWISE
from gangproof.load.lines import lines
from gangproof.load.report import Item, Report, with_lines
from gangproof.load.schema import Misfit, is_list, is_mapping, type_word, walk
from gangproof.load.text import Document, documents

MOST_OBJECTS = 200_000
CLUSTER_WIDE = ("DeviceClass", "Node", "PriorityClass", "ResourceSlice")
LINES_UP_TO = 1 << 24


@frozen
class Unmodelled:
    """An object, or a field of one, that the model leaves out.

    `decisive` says that it may change what the scheduler does, so that no verdict can rest on the rest alone.
    `line` is 0 in texts of more than 16 million characters, which are not read twice for it.
    """

    kind: str
    name: str
    file: str
    line: int
    why: str
    decisive: bool


@frozen
class Loaded:
    """What manifests hold.

    `objects` are in the order of creation, which `uid` numbers from 1: dumped ones by creationTimestamp, then
    the others as they stand. `gates` is the least set that keeps every field. Of `warnings` there are the
    first 20; `more_warnings` counts the rest.
    """

    objects: tuple[Object, ...]
    unmodelled: tuple[Unmodelled, ...]
    warnings: tuple[Problem, ...]
    gates: FeatureGates
    more_warnings: int = 0


@frozen(eq=False)
class _Omission:
    item: Item
    path: Path
    why: str
    decisive: bool


def load_manifests(
    paths: Iterable[str | FilePath | tuple[str, str]] | str, namespace: str = "default"
) -> Loaded:
    """The objects in files, folders and standard input (`-`); InputError if anything is wrong with them.

    A file that is given twice is read once; a pair is a name and a text that was read before. Objects that name no
    namespace are in this one.
    """
    texts: list[tuple[str, str]] = []
    given: set[FilePath] = set()
    report = Report()
    for path in [paths] if isinstance(paths, str) else paths:
        if isinstance(path, tuple):
            texts.append(path)
            continue
        try:
            for source in sources([path]):
                text = read(source)
                file = FilePath(source).resolve()
                if file not in given or str(source) == "-":
                    texts.append(text)
                given.add(file)
        except InputError as error:
            report.broken.append(error)
    return _load(texts, report, namespace)


def load_manifests_text(text: str, name: str = "<text>", namespace: str = "default") -> Loaded:
    """The objects in a text; otherwise as `load_manifests`."""
    return _load([(name, text)], Report(), namespace)


@contextmanager
def _collector_at_rest() -> Generator[None]:
    """Nothing is garbage while a dump is read, and looking for it takes longer than reading."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@_collector_at_rest()
def _load(texts: list[tuple[str, str]], report: Report, namespace: str) -> Loaded:
    entries: list[Entry] = []
    omissions: list[_Omission] = []
    seen: dict[tuple[str, str], Entry] = {}
    count = 0
    for item in _items(texts, report):
        item = _placed(item, namespace)
        count += 1
        if count > MOST_OBJECTS:
            found = f"more than {MOST_OBJECTS} objects"
            raise item.document.text.error(0, found, f"at most {MOST_OBJECTS}")
        entry = _entry(item, report, omissions)
        if entry is None:
            continue
        first = seen.setdefault((entry.kind, entry.value.key), entry)
        if first is entry:
            entries.append(entry)
        else:
            found = f"a second {entry.kind} {entry.value.key}"
            report.error(item, ("metadata", "name"), found, "each object once", first=first.item)
    report.check()
    entries.sort(key=_age)
    gates = gates_needed([entry.value for entry in entries], _gates_by_presence(entries))
    objects = admit(entries, gates, report)
    report.check()
    return Loaded(
        objects=tuple(_numbered(objects)),
        unmodelled=_unmodelled(omissions),
        warnings=with_lines(report.warnings),
        gates=gates,
        more_warnings=report.warning_count - len(report.warnings),
    )


def _items(texts: list[tuple[str, str]], report: Report) -> Iterator[Item]:
    """The objects in the texts, those in lists one by one."""
    for name, text in texts:
        try:
            for document in documents(name, text):
                yield from _unpacked(document, (), document.data, report)
        except InputError as error:
            report.broken.append(error)


def _placed(item: Item, namespace: str) -> Item:
    """The object in the namespace, if it has none and is of a kind that has one."""
    metadata = item.data.get("metadata")
    if namespace == "default" or item.data.get("kind") in CLUSTER_WIDE or not is_mapping(metadata):
        return item
    return evolve(item, data={**item.data, "metadata": {"namespace": namespace, **metadata}})


def _unpacked(document: Document, base: Path, data: Any, report: Report, kind: str = "") -> Iterator[Item]:
    if not is_mapping(data):
        item = Item(document, base, "", data)
        report.error(item, (), type_word(data), "an object with apiVersion, kind and metadata")
        return
    named = data.get("kind")
    if isinstance(named, str) and named.endswith("List") and "items" in data:
        items = data["items"]
        if not is_list(items) and items is not None:
            report.error(Item(document, base, named, data), ("items",), type_word(items), "a list")
        for place, entry in enumerate(items if is_list(items) else ()):
            yield from _unpacked(document, (*base, "items", place), entry, report, named.removesuffix("List"))
        return
    if kind and named is None and data.get("apiVersion") is None:
        data = {"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind, **data}
    yield Item(document, base, _subject(data), data)


def _kind(data: Mapping[str, Any]) -> str:
    """The object's kind, fit to be shown."""
    kind: str = data["kind"]
    return kind if kind.isalnum() else shown(kind)


def _name(data: Mapping[str, Any]) -> str:
    """The object's namespace, if it is stated, and name, fit to be shown."""
    metadata = data.get("metadata")
    parts = [metadata.get("namespace"), metadata.get("name")] if is_mapping(metadata) else []
    return "/".join(
        part if is_dns_subdomain(part) else shown(part) for part in parts if isinstance(part, str)
    )


def _subject(data: Mapping[str, Any]) -> str:
    kind = data.get("kind")
    word = kind if isinstance(kind, str) and kind.isidentifier() and len(kind) <= 63 else ""
    return f"{word} {_name(data)}".strip()


def _entry(item: Item, report: Report, omissions: list[_Omission]) -> Entry | None:
    kind, version = item.data.get("kind"), item.data.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str):
        field = "apiVersion" if isinstance(kind, str) else "kind"
        found = "nothing" if item.data.get(field) is None else type_word(item.data[field])
        hint = "this is a scenario: its file must end in .scenario.yaml" if "scenario" in item.data else ""
        report.error(item, (field,), found, "the kind and apiVersion of a Kubernetes object", hint)
        return None
    if version != VERSIONS.get(kind):
        if kind in VERSIONS and version.rpartition("/")[0] == VERSIONS[kind].rpartition("/")[0]:
            hint = VERSION_HINTS.get((kind, version), "")
            report.error(item, ("apiVersion",), shown(version), VERSIONS[kind], hint)
        elif kind in VERSIONS:
            omissions.append(
                _Omission(item, (), f"{shown(version)} is another API than {VERSIONS[kind]}", True)
            )
        else:
            omissions.append(_Omission(item, (), DECISIVE.get(kind, OTHERWISE), kind in DECISIVE))
        return None
    before = report.error_count

    def tell(misfit: Misfit) -> None:
        if misfit.expected:
            report.error(item, misfit.path, misfit.found, misfit.expected, misfit.hint)
        else:
            omissions.append(_Omission(item, misfit.path, misfit.found, True))

    walk(SHAPES[kind], item.data, tell)
    if report.error_count == before:
        for violation in violations(kind, item.data):
            hint = _no_name_is_drawn(item) if violation.path == ("metadata", "name") else ""
            report.error(item, violation.path, violation.found, violation.expected, hint, rule=violation.rule)
        _check_times(item, report)
        _check_end(item, report)
    if report.error_count > before:
        return None
    entry = Entry(item, kind, DECODERS[kind](item.data))
    omissions.extend(_Omission(item, path, why, True) for path, why in _left_out(entry))
    omissions.extend(_Omission(item, path, why, False) for path, why in beyond_cel(kind, item.data))
    return entry


def _no_name_is_drawn(item: Item) -> str:
    prefix = fields_of(item.data.get("metadata")).get("generateName")
    return "" if prefix is None else "an API server draws one from generateName; here it has to be given"


def _check_end(item: Item, report: Report) -> None:
    """A pod succeeds where it runs; one that never had a node can only fail."""
    phase = fields_of(item.data.get("status")).get("phase")
    stored = fields_of(item.data.get("metadata")).get("uid") is not None
    on_node = fields_of(item.data.get("spec")).get("nodeName") is not None
    if item.data.get("kind") == "Pod" and phase == "Succeeded" and stored and not on_node:
        report.error(
            item, ("status", "phase"), "Succeeded on no node", "Pending or Failed without a nodeName"
        )


def _check_times(item: Item, report: Report) -> None:
    for part, name in (("metadata", "creationTimestamp"), ("status", "startTime")):
        text = fields_of(item.data.get(part)).get(name)
        if text is not None and seconds(text) is None:
            report.error(item, (part, name), shown(text), "a time such as 2026-05-01T12:00:00Z")


def _left_out(entry: Entry) -> Iterator[tuple[Path, str]]:
    """What an object asks for that is loaded, or legal, but not modelled."""
    spec = fields_of(entry.item.data.get("spec"))
    if entry.kind != "Pod":
        return
    if spec.get("runtimeClassName") and not entry.stored and spec.get("overhead") is None:
        yield ("spec", "runtimeClassName"), "what a runtime class adds to a pod is not modelled"
    for field in ("podAffinity", "podAntiAffinity"):
        affinity = fields_of(fields_of(spec.get("affinity")).get(field))
        terms = [(REQUIRED, place, term) for place, term in enumerate(entries_of(affinity.get(REQUIRED)))]
        for place, weighted in enumerate(entries_of(affinity.get(PREFERRED))):
            terms.append((PREFERRED, place, weighted["podAffinityTerm"]))
        for when, place, term in terms:
            if term.get("namespaceSelector"):
                path: Path = ("spec", "affinity", field, when, place)
                yield path, "namespace selectors that are not empty are not modelled (FILT-14)"


def _age(entry: Entry) -> float:
    """Sorts dumped objects by creation and before the others, which stay as they stand."""
    created = seconds(fields_of(entry.item.data.get("metadata")).get("creationTimestamp"))
    return float("inf") if created is None else created


def _gates_by_presence(entries: Sequence[Entry]) -> set[str]:
    """Gates that the objects by themselves do not tell of.

    WorkloadAwarePreemption if a group has a priority, be it 0: without the gate it has none (API-53). GangScheduling if
    a pod names a group that is not there: only with it the pod waits for one (GANG-01, DEV-01), and whoever names a
    group means to have one.
    """
    groups = {entry.value.key: entry for entry in entries if isinstance(entry.value, PodGroup)}
    named = {entry.value.group for entry in entries if isinstance(entry.value, Pod)} - {None}
    found: set[str] = set()
    if any(entry.item.data["spec"].get("priority") is not None for entry in groups.values()):
        found.add("WorkloadAwarePreemption")
    if named - groups.keys():
        found.add("GangScheduling")
    return found


def _numbered(objects: Iterable[Object]) -> Iterator[Object]:
    for number, value in enumerate(objects, 1):
        yield value if isinstance(value, NOT_NUMBERED) else evolve(value, uid=number)


def _unmodelled(omissions: list[_Omission]) -> tuple[Unmodelled, ...]:
    texts = {id(o.item.document.text): o.item.document.text for o in omissions}
    places: dict[int, list[tuple[int, Path]]] = {key: [] for key in texts}
    for omission in omissions:
        places[id(omission.item.document.text)].append(_place(omission))
    known = {key: lines(texts[key], places[key]) for key in texts if len(texts[key].text) <= LINES_UP_TO}
    return tuple(
        Unmodelled(
            kind=_kind(omission.item.data),
            name=_name(omission.item.data),
            file=omission.item.document.text.name,
            line=known.get(id(omission.item.document.text), {}).get(_place(omission), 0),
            why=omission.why,
            decisive=omission.decisive,
        )
        for omission in omissions
    )


def _place(omission: _Omission) -> tuple[int, Path]:
    return omission.item.document.number, (*omission.item.base, *omission.path)
