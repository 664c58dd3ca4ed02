"""Making a world small on the scheduler that broke the promise: what is left out is tried there, not in a model.

A world is taken apart into options, gates, steps and the objects in them; each may go, and each object may become
plainer. Whether the smaller world still breaks the promise only a run can tell, and where runs differ only several:
so the question is asked of the caller, and the answer is what `minimise` leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from attrs import frozen

from gangproof.counterexamples import Shrunk, minimise, smaller

Data = dict[str, Any]
Breaks = Callable[[Data], bool]
KEPT = ("name", "seed", "hotLimit")
"""What is no part of the story."""
OPTIONAL_POD = (
    "affinity",
    "nodeSelector",
    "preemptionPolicy",
    "resourceClaims",
    "schedulingGates",
    "schedulingGroup",
    "terminationGracePeriodSeconds",
    "tolerations",
)
OPTIONAL_GROUP = ("disruptionMode", "priority", "resourceClaims", "schedulingConstraints")


@frozen
class Part:
    """A piece of a world: an option of the setup (`step` is -1), or what one step does to one thing."""

    step: int
    name: str
    value: Any


def parts_of(world: Mapping[str, Any]) -> list[Part]:
    """The pieces of a world, in order."""
    found = [Part(-1, f"gate {gate}", on) for gate, on in world.get("gates", {}).items()]
    found += [
        Part(-1, name, value)
        for name, value in world.items()
        if name not in (*KEPT, "gates", "steps") and value
    ]
    for number, step in enumerate(world["steps"]):
        for name, value in step.items():
            several = cast("list[Any]", value) if isinstance(value, list) else [value]
            found += [Part(number, name, each) for each in several]
    return found


def world_of(parts: Sequence[Part], like: Mapping[str, Any]) -> Data:
    """The world that these pieces make; what is no part of the story is as in the other one."""
    world: Data = {name: like[name] for name in KEPT if name in like}
    world["gates"] = {}
    steps: dict[tuple[int, str], Any] = {}
    for part in parts:
        if part.name.startswith("gate "):
            world["gates"][part.name.removeprefix("gate ")] = part.value
        elif part.step < 0:
            world[part.name] = part.value
        elif isinstance(part.value, (str, dict)) and part.name != "settle":
            steps.setdefault((part.step, part.name), []).append(part.value)
        else:
            steps[part.step, part.name] = part.value
    world["steps"] = [{name: value} for (_, name), value in steps.items()]
    return world


def smallest(world: Mapping[str, Any], breaks: Breaks, *, budget: int = 400) -> Shrunk[Part]:
    """The smallest world that still breaks the promise; ask `world_of` for it. Raises ValueError if none does."""

    def still(parts: Sequence[Part]) -> bool:
        return sound(parts) and breaks(world_of(parts, world))

    return minimise(parts_of(world), still, simplify=_plainer, budget=budget)


def sound(parts: Sequence[Part]) -> bool:
    """Whether what is named is there: the group of a member, the node of a running pod, what is deleted or held."""
    made = {
        (part.value["kind"], part.value["metadata"]["name"])
        for part in parts
        if part.name in ("create", "update")
    }
    for part in parts:
        if part.name == "create" and part.value["kind"] == "Pod":
            node, group = part.value["spec"].get("nodeName"), part.value["spec"].get("schedulingGroup")
            if node is not None and ("Node", node) not in made:
                return False
            if group is not None and ("PodGroup", group["podGroupName"]) not in made:
                return False
        if part.name == "delete":
            kind, _, key = part.value.partition("/")
            if (kind, key.rpartition("/")[2]) not in made:
                return False
        if part.name in ("finish", "crash", "kill") and ("Pod", part.value) not in made:
            return False
        if part.name in ("hold", "release", "fail") and ("Pod", part.value.partition("/")[2]) not in made:
            return False
    return any(part.name == "snapshot" for part in parts)


def _plainer(part: Part) -> Iterator[Part]:
    """Simpler forms of a piece."""
    if part.name in ("create", "update"):
        for value in _plainer_object(part.value):
            yield Part(part.step, part.name, value)
    elif part.name == "advance":
        for seconds in smaller(int(part.value)):
            if seconds:
                yield Part(part.step, part.name, seconds)
    elif part.name == "settle" and part.value not in (True, {"idle": 25}):
        yield Part(part.step, part.name, {"idle": 25})
    elif part.name in ("callDelay", "watchDelay"):
        for milliseconds in smaller(part.value):
            if milliseconds:
                yield Part(part.step, part.name, milliseconds)


def _plainer_object(value: Data) -> Iterator[Data]:
    match value["kind"]:
        case "Pod":
            yield from _without(value, "spec", OPTIONAL_POD)
            yield from _without(value, "", ("status",))
            yield from _without(value, "metadata", ("labels",))
            yield from _less(value, ("spec", "containers", 0, "resources", "requests", "cpu"))
            if value["spec"].get("priority"):
                yield _with(value, ("spec", "priority"), 0)
        case "PodGroup":
            yield from _without(value, "spec", OPTIONAL_GROUP)
            yield from _less(value, ("spec", "schedulingPolicy", "gang", "minCount"))
        case "Node":
            yield from _without(value, "", ("spec",))
            for label in value["metadata"].get("labels", {}):
                plain = deepcopy(value)
                del plain["metadata"]["labels"][label]
                yield plain
            yield from _less(value, ("status", "capacity", "cpu"))
        case _:
            pass


def _without(value: Data, where: str, names: Sequence[str]) -> Iterator[Data]:
    for name in names:
        if name in (value[where] if where else value):
            plain = deepcopy(value)
            del (plain[where] if where else plain)[name]
            yield plain


def _less(value: Data, path: Sequence[str | int]) -> Iterator[Data]:
    inner: Any = value
    for name in path[:-1]:
        inner = inner[name] if isinstance(name, int) else inner.get(name, {})
    found: Any = inner.get(path[-1], 0)
    if isinstance(found, str) and not found.isdigit():
        return
    for number in smaller(int(found)):
        if number:
            yield _with(value, path, str(number) if isinstance(found, str) else number)


def _with(value: Data, path: Sequence[str | int], new: object) -> Data:
    plain: Any = deepcopy(value)
    inner = plain
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = new
    return plain
