"""The page that tells the limits, `docs/limits.md`, and the pictures of the worlds that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve

from gangproof.counterexamples import Trace, picture
from gangproof.impl.objects import PodGroup
from gangproof.properties.scenarios.replay import scenarios_of
from gangproof.properties.scenarios.write import NotWritableError, dumps
from gangproof.properties.search.system import Violation
from gangproof.properties.telling.traces import Meta, make_trace
from gangproof.properties.theorems.theorem import Answer, Case, Theorem

HEAD = """# Limits

Some things the scheduler does not promise, and some that look like promises are none. Here each is a theorem of
[section 11](semantics.md#11-documented-limitations-as-theorems): *shown* means that every world of the stated scope
was gone through, with every way in which a choice may fall, and none contradicts it; *refuted* means that worlds were
gone through by size (objects, then CPUs of nodes, then CPUs of pods) and the first that contradicts it is told below,
so no smaller one in the scope does. What is shown in a scope is evidence, not a proof for all sizes.

This page is made from the code and checked by a test. *worlds* is how many were looked at until the answer was found.
"""


def page(theorems: Iterable[Theorem], answers: Mapping[str, Answer]) -> str:
    """The page in Markdown; `answers` are by the theorems' names, and every theorem must have one."""
    listed = list(theorems)
    lines = [
        HEAD,
        "| id | statement | answer | profile | worlds |",
        "|---|---|---|---|---|",
        *(_row(theorem, answers[theorem.name]) for theorem in listed),
        "",
        *(line for theorem in listed for line in _told(theorem, answers[theorem.name])),
    ]
    return "\n".join(lines).rstrip() + "\n"


def outcome(answer: Answer) -> str:
    """Whether the search shows the statement in its scope or refutes it."""
    return "shown" if answer.case is None else "refuted"


def picture_name(theorem: Theorem) -> str:
    """The file in which the smallest refutation is drawn."""
    return f"limit-{theorem.id.lower()}.svg"


def _row(theorem: Theorem, answer: Answer) -> str:
    return f"| {theorem.id} | {theorem.name} | {outcome(answer)} | {theorem.profile} | {answer.cases:,} |"


def _told(theorem: Theorem, answer: Answer) -> Iterator[str]:
    yield f"## {theorem.id} {theorem.name}"
    yield ""
    yield theorem.statement
    yield ""
    yield f"- scope: {theorem.scope}"
    yield f"- answer, in {theorem.profile}: {outcome(answer)}; worlds looked at: {answer.cases:,}"
    if answer.case is not None:
        yield f"- smallest: {answer.case.size}"
        yield f"- there: {answer.why}"
        yield ""
        yield f"![{theorem.id}: {answer.why}](pictures/{picture_name(theorem)})"
        yield ""
        scenario = _scenario(theorem, answer)
        yield from ("```yaml", scenario.rstrip(), "```") if scenario else _in_words(answer.case)
    yield ""


def _scenario(theorem: Theorem, answer: Answer) -> str | None:
    """The refuting run as a scenario, in full if users did something in the middle of it.

    None if it has something that scenarios are not written with, or another scheduler's pods.
    """
    if answer.path is None or answer.case is None:
        return None
    if any(pod.scheduler_name not in answer.case.settings.profiles for pod in answer.case.pods):
        return None
    path, name = answer.path, f"limit-{theorem.id.lower()}"
    plain, waiting, full = scenarios_of(path, path.initial.settings, name, theorem.name)
    happened = [action.name for action in path.actions]
    told = full if "delete" in happened else waiting if "create" in happened else plain
    try:
        return dumps(evolve(told, profile="v1.36.3") if theorem.profile == "v1.36.3" else told)
    except NotWritableError:
        return None


def _in_words(case: Case) -> Iterator[str]:
    """The objects one by one, where the scenario would need labels and terms of affinity."""
    for node in case.nodes:
        yield f"- node `{node.name}` with {node.allocatable['cpu'] // 1000} CPUs"
    for obj in case.objects:
        if isinstance(obj, PodGroup):
            yield f"- group `{obj.name}`, {f'gang of {obj.min_count}' if obj.gang else 'basic'}"
    for pod in case.pods:
        labels = ", ".join(f"label {key}={value}" for key, value in pod.labels.items())
        near = "wants to be near app=x" if pod.pod_affinity.required else ""
        apart = "keeps away from app=x" if pod.pod_anti_affinity.required else ""
        whose = "" if pod.scheduler_name in case.settings.profiles else f"scheduled by {pod.scheduler_name}"
        about = "".join(f"; {said}" for said in (labels, near, apart, whose) if said)
        yield f"- pod `{pod.name}` of `{pod.scheduling_group}` with {pod.requests['cpu'] // 1000} CPU{about}"


def trace_of(theorem: Theorem, answer: Answer) -> Trace:
    """The refuting run as a trace: from the world as it was set up to where the statement fails."""
    if answer.case is None or answer.path is None:
        raise ValueError(f"{theorem.id} is not refuted")
    members = tuple(p.key for p in answer.case.pods if p.group is not None)
    violation = Violation(theorem.id, answer.why)
    trace = make_trace(violation, answer.path, Meta(theorem.profile, "", "enumeration"), title=theorem.name)
    return evolve(trace, involved=members)


def draw(theorem: Theorem, answer: Answer) -> str:
    """The last frame of the refuting run as SVG."""
    trace = trace_of(theorem, answer)
    return picture(trace, len(trace.frames) - 1) + "\n"
