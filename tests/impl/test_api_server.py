"""Section 2 by table: for each rule what the API server accepts and what it refuses, and what it stores then."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, fields_dict
from racks import there
from runs import NO_GROUPS

from gangproof import rulebook
from gangproof.impl.admission import prioritised
from gangproof.impl.api import ApiError, bind, create, delete, finish, lookup, update, write_status
from gangproof.impl.control import Revision
from gangproof.impl.gates import NAMES, SCENARIO_GATES, FeatureGates
from gangproof.impl.objects import (
    Allocation,
    Condition,
    Consumer,
    ControllerRef,
    Job,
    OwnerReference,
    Pod,
    PodGroup,
    PodGroupClaim,
    PodGroupTemplate,
    PriorityClass,
    ResourceClaim,
    Workload,
)
from gangproof.impl.objects.claim import AllocatedDevice
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.objects.validation import Violation
from gangproof.impl.profiles import INTENDED
from gangproof.impl.store import kind_of
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Settings, World
from gangproof.properties.worlds.named import basic, gang, node, pod

ALL = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True, workload_with_job=True))
WORKLOAD = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", min_count=2),))
REFERRING = evolve(gang("g", 2), workload_name="w", pod_group_template_name="t")
TRUE, FALSE = Condition("True", "Scheduled"), Condition("False", "Unschedulable")
LIGHT, HEAVY = PriorityClass("light", 1, preemption_policy="Never"), PriorityClass("heavy", 7)
SYSTEM = "system-node-critical"
JOB = Job("default", "j", Pod("default", ""), parallelism=2, completions=2, indexed=True)
ONE_MORE = {"parallelism": 3, "completions": 3}


def world(*objects: Any) -> World:
    return there(*objects, options=ALL)


def of(world: World, kind: str = "groups", key: str = "default/g") -> Any:
    return getattr(world, kind)[key]


def changed(start: World, **fields: Any) -> World:
    return update(INTENDED, start, evolve(of(start), **fields))


def reported(start: World, condition: Condition, **fields: Any) -> World:
    return write_status(INTENDED, start, evolve(of(start), condition=condition, **fields))


def with_priority(value: Pod | PodGroup, *classes: PriorityClass, supplied: int | None = None) -> Any:
    """The value with its priority; refused as the API refuses it."""
    found = prioritised(value, supplied, classes)
    if isinstance(found, Violation):
        raise ApiError(f"{found.field} {found.rule}")
    return found


def lagging(start: World, **fields: Any) -> World:
    """The Workload changes, and the admission plugin has not seen it (ADM-25)."""
    now = start.workloads.get("default/w")
    stale = evolve(start, environment=Environment(stale=("admission/workload",)))
    if now is None:
        return create(INTENDED, stale, WORKLOAD)
    if not fields:
        return delete(INTENDED, stale, "workload", "default/w")
    return update(INTENDED, stale, evolve(now, **fields))


GROUP, MEMBER = gang("g", 2), pod("p", "g")
W, G, J = ("workload", "default/w"), ("podGroup", "default/g"), ("job", "default/j")


def labelled(obj: Any) -> Any:
    return evolve(obj, labels=Table({"a": "b"}))


def classed(value: Pod | PodGroup, name: str) -> Any:
    return evolve(value, priority_class_name=name)


def named_in_template() -> Job:
    return evolve(JOB, template=evolve(JOB.template, scheduling_group="g"))


def without(start: World, what: tuple[str, str]) -> World:
    return delete(INTENDED, start, *what)


def owner_of(start: World, controller: bool = True) -> OwnerReference:
    return OwnerReference("Job", "j", start.jobs["default/j"].uid, controller)


def a_jobs_group(start: World, group: PodGroup) -> World:
    return create(INTENDED, start, evolve(group, owners=(owner_of(start),)))


def resized(start: World) -> World:
    return update(INTENDED, start, evolve(start.jobs["default/j"], **ONE_MORE))


def kept(*objects: Any) -> World:
    """A world with a Workload that is terminating, since a finalizer holds it."""
    held = evolve(WORKLOAD, finalizers=("example.com/keep",))
    return create(INTENDED, delete(INTENDED, world(held), "workload", "default/w"), *objects)


ALLOCATED = Allocation((AllocatedDevice("r", "driver", "pool", "d"),))
WITH_STATUS = (
    evolve(
        pod("p", node="n"),
        phase="Running",
        nominated_node_name="m",
        unscheduled_reason="Unschedulable",
        start_time=3,
        disruption_target=True,
        resource_claim_statuses=Table({"c": "p-c"}),
    ),
    evolve(gang("g", 2), condition=TRUE, resource_claim_statuses=Table({"c": "g-c"})),
    evolve(JOB, started=True, suspended=False, succeeded=(0,), failed=1, finished="Failed"),
    ResourceClaim("default", "c", allocation=ALLOCATED, reserved_for=(Consumer("pod", "p", 1),)),
)
"""An object of each kind whose status says something in each of its fields."""


STATUS_FIELDS: dict[type, tuple[str, ...]] = {
    Pod: (
        "phase", "nominated_node_name", "unscheduled_reason", "start_time", "disruption_target",
        "resource_claim_statuses",
    ),
    PodGroup: ("condition", "resource_claim_statuses"),
    Job: ("started", "suspended", "succeeded", "failed", "finished"),
    ResourceClaim: ("allocation", "reserved_for"),
}  # fmt: skip
"""What of each kind stands below `status` in Kubernetes."""


def kept_by_an_update(obj: Any) -> bool:
    """Whether the status stays although an update carries none, and whether it says something in each field."""
    start = world(obj)
    stored: Any = lookup(start, kind_of(obj), obj.key)
    empty = {name: fields_dict(type(obj))[name].default for name in STATUS_FIELDS[type(obj)]}
    after: Any = lookup(update(INTENDED, start, evolve(stored, **empty)), kind_of(obj), obj.key)
    return after == stored and all(getattr(stored, name) != value for name, value in empty.items())


Case = Callable[[], Any]
ACCEPTED: list[tuple[str, str, Case, Callable[[Any], bool]]] = [
    ("ADM-01", "an update keeps the status",
     lambda: changed(reported(world(gang("g", 2)), TRUE), labels=Table({"a": "b"}), condition=None),
     lambda w: of(w).condition == TRUE and of(w).labels == Table({"a": "b"})),
    ("ADM-01", "a status keeps the rest",
     lambda: reported(world(gang("g", 2)), TRUE, labels=Table({"a": "b"}), min_count=7),
     lambda w: of(w).condition == TRUE and not of(w).labels and of(w).min_count == 2),
    ("ADM-01", "an update of a pod, a Job or a claim keeps the status",
     lambda: [kept_by_an_update(obj) for obj in WITH_STATUS], all),
    ("ADM-02", "metadata of a group change",
     lambda: changed(world(gang("g", 2)), labels=Table({"a": "b"})), lambda w: of(w).labels["a"] == "b"),
    ("ADM-03", "metadata of a Workload change",
     lambda: update(INTENDED, (w := world(WORKLOAD)), labelled(of(w, "workloads", "default/w"))),
     lambda w: of(w, "workloads", "default/w").labels["a"] == "b"),
    ("ADM-04", "an update that rests on nothing",
     lambda: changed(reported(world(GROUP), TRUE), labels=Table({"a": "b"})), lambda w: of(w).labels["a"] == "b"),
    ("ADM-04", "an update that rests on what is stored",
     lambda: update(INTENDED, (w := world(gang("g", 2))), evolve(of(w), labels=Table({"a": "b"})), read=of(w)),
     lambda w: of(w).labels["a"] == "b"),
    ("ADM-05", "False after True", lambda: reported(reported(world(gang("g", 2)), TRUE), FALSE),
     lambda w: of(w).condition == FALSE),
    ("ADM-10", "the named class", lambda: with_priority(classed(GROUP, "heavy"), LIGHT, HEAVY),
     lambda g: (g.priority, g.priority_class_name) == (7, "heavy")),
    ("ADM-10", "of several defaults the lowest",
     lambda: with_priority(gang("g", 2), *(evolve(c, global_default=True) for c in (HEAVY, LIGHT))),
     lambda g: (g.priority, g.priority_class_name) == (1, "light")),
    ("ADM-10", "no class at all", lambda: with_priority(gang("g", 2), HEAVY),
     lambda g: (g.priority, g.priority_class_name) == (0, "")),
    ("ADM-11", "the computed priority", lambda: with_priority(gang("g", 2), supplied=0), lambda g: g.priority == 0),
    ("ADM-12", "the policy of the class says nothing",
     lambda: with_priority(evolve(gang("g", 2), priority_class_name="light"), LIGHT), lambda g: g.priority == 1),
    ("ADM-13", "a template with a class that is not there",
     lambda: world(evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("t", 2, priority_class_name="none"),))),
     lambda w: of(w, "workloads", "default/w").pod_group_templates[0].priority is None),
    ("ADM-14", "a pod may have a system class", lambda: with_priority(evolve(pod("p"), priority_class_name=SYSTEM)),
     lambda p: p.priority > 10**9),
    ("ADM-15", "members have the priorities of their own classes",
     lambda: [with_priority(classed(MEMBER, name), LIGHT, HEAVY) for name in ("light", "heavy")],
     lambda pods: [p.priority for p in pods] == [1, 7]),
    ("ADM-20", "no reference", lambda: world(gang("g", 2)), lambda w: of(w).workload_name is None),
    ("ADM-21", "a reference that only the live read finds",
     lambda: create(INTENDED, lagging(world()), REFERRING), lambda w: of(w).workload_name == "w"),
    ("ADM-22", "a Workload that is not going", lambda: world(WORKLOAD, REFERRING), lambda w: bool(of(w))),
    ("ADM-23", "a template that is there", lambda: world(WORKLOAD, REFERRING), lambda w: bool(of(w))),
    ("ADM-23", "a template among others",
     lambda: world(evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("u"), PodGroupTemplate("t"))), REFERRING),
     lambda w: of(w).pod_group_template_name == "t"),
    ("ADM-24", "content unlike the template", lambda: world(WORKLOAD, evolve(REFERRING, min_count=9)),
     lambda w: of(w).min_count == 9),
    ("ADM-25", "a Workload that is gone, and the plugin does not know",
     lambda: create(INTENDED, lagging(world(WORKLOAD)), REFERRING), lambda w: bool(of(w))),
    ("GC-01", "a new group is protected", lambda: world(evolve(gang("g", 2), finalizers=())),
     lambda w: of(w).finalizers == (PROTECTION_FINALIZER,)),
    ("GC-01", "one that has the finalizer gets no second",
     lambda: world(evolve(gang("g", 2), finalizers=(PROTECTION_FINALIZER,))),
     lambda w: of(w).finalizers == (PROTECTION_FINALIZER,)),
    ("GC-02", "a group that is in use stays, terminating",
     lambda: delete(INTENDED, world(node("n", 1), gang("g", 1), pod("p", "g")), "podGroup", "default/g"),
     lambda w: of(w).terminating),
    ("GC-02", "a member that is being deleted uses it",
     lambda: without(without(world(GROUP, evolve(MEMBER, finalizers=("example.com/keep",))), ("pod", "default/p")), G),
     lambda w: of(w).terminating and w.pods["default/p"].terminating),
    ("GC-02", "other finalizers stay on", lambda: without(world(evolve(GROUP, finalizers=("example.com/keep",))), G),
     lambda w: of(w).finalizers == ("example.com/keep",)),
    ("GC-02", "one that nobody uses goes", lambda: delete(INTENDED, world(gang("g", 1)), "podGroup", "default/g"),
     lambda w: not w.groups),
    ("GC-04", "a finalizer that somebody took off stays off",
     lambda: create(INTENDED, changed(world(GROUP), finalizers=()), MEMBER), lambda w: not of(w).finalizers),
    ("GC-05", "a new member of a group that is going",
     lambda: create(INTENDED, without(world(GROUP, MEMBER), G), pod("q", "g")),
     lambda w: of(w).terminating and "default/q" in w.pods),
    ("GC-06", "a Workload goes though its group is there",
     lambda: without(world(WORKLOAD, REFERRING), W), lambda w: not w.workloads and bool(of(w))),
    ("GC-09", "a group of the same name is the group of the old members",
     lambda: create(INTENDED, without(changed(world(GROUP, MEMBER), finalizers=()), G), gang("g", 3)),
     lambda w: w.members_of("default/g").unsched == ("default/p",) and of(w).min_count == 3),
    ("GC-11", "a group that a user made stays when its members are gone",
     lambda: delete(INTENDED, world(gang("g", 1), pod("p", "g")), "pod", "default/p"), lambda w: not of(w).terminating),
    ("CTRL-17", "a Job without a gang", lambda: resized(world(JOB)),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-17", "a Job with a basic group", lambda: resized(a_jobs_group(world(JOB), basic("g"))),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-17", "the group of another Job",
     lambda: resized(create(INTENDED, world(JOB), evolve(GROUP, owners=(OwnerReference("Job", "j", 99, True),)))),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-17", "a group that the Job owns and does not control",
     lambda: resized(
         create(INTENDED, (w := world(JOB)), evolve(gang("g", 2), owners=(owner_of(w, controller=False),)))),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-17", "a gang that the plugin has not seen yet",
     lambda: resized(
         a_jobs_group(evolve(world(JOB), environment=Environment(stale=("admission/podGroup",))), gang("g", 2))),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-17", "without GenericWorkload nobody looks",
     lambda: resized(evolve(a_jobs_group(world(JOB), gang("g", 2)), settings=NO_GROUPS)),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("CTRL-24", "a template that names a group that is not there",
     lambda: resized(world(named_in_template())),
     lambda w: of(w, "jobs", "default/j").parallelism == 3),
    ("API-08", "a change of something else",
     lambda: update(INTENDED, (w := a_jobs_group(world(JOB), GROUP)), evolve(of(w, "jobs", J[1]), suspend=True)),
     lambda w: of(w, "jobs", "default/j").suspend),
]  # fmt: skip
"""The rule, what is asked, and what must be so afterwards."""
REFUSED: list[tuple[str, str, Case]] = [
    ("ADM-02", "spec.schedulingPolicy: field is immutable", lambda: changed(world(gang("g", 2)), min_count=3)),
    ("ADM-02", "spec.priority: field is immutable", lambda: changed(world(gang("g", 2)), priority=3)),
    ("ADM-03", "spec.podGroupTemplates: field is immutable",
     lambda: lagging(world(WORKLOAD), pod_group_templates=(PodGroupTemplate("u"),))),
    ("ADM-03", "spec.controllerRef: field is immutable",
     lambda: lagging(world(WORKLOAD), controller_ref=ControllerRef("Job", "j"))),
    ("ADM-04", "podGroup/default/g not found", lambda: update(INTENDED, world(), gang("g", 2))),
    ("ADM-04", "the object has been modified",
     lambda: update(INTENDED, reported(w := world(gang("g", 2)), TRUE), of(w), read=of(w))),
    ("ADM-04", "the uid in the precondition is not that of the stored object",
     lambda: delete(INTENDED, world(gang("g", 2)), "podGroup", "default/g", uid=99)),
    ("ADM-04", "already exists", lambda: create(INTENDED, world(gang("g", 2)), gang("g", 3))),
    ("ADM-05", "the object has been modified",
     lambda: write_status(
         INTENDED, reported(w := world(GROUP), TRUE), evolve(of(w), condition=FALSE), read=of(w))),
    ("ADM-10", "spec.priorityClassName ADM-10", lambda: with_priority(classed(GROUP, "none"), HEAVY)),
    ("ADM-11", "spec.priority ADM-11", lambda: with_priority(gang("g", 2), supplied=5)),
    ("ADM-11", "spec.priority ADM-11", lambda: with_priority(classed(GROUP, "heavy"), HEAVY, supplied=0)),
    ("ADM-11", "spec.priority ADM-11",
     lambda: with_priority(evolve(gang("g", 2), priority_class_name="heavy"), HEAVY, supplied=6)),
    ("ADM-14", "spec.priorityClassName ADM-14", lambda: with_priority(classed(GROUP, SYSTEM))),
    ("ADM-15", "spec.priorityClassName ADM-15", lambda: with_priority(classed(MEMBER, "none"))),
    ("ADM-21", "workload default/w not found", lambda: world(REFERRING)),
    ("ADM-21", "workload other/w not found", lambda: world(WORKLOAD, evolve(REFERRING, namespace="other"))),
    ("ADM-22", "workload default/w is being deleted", lambda: kept(REFERRING)),
    ("ADM-23", "podGroupTemplate u not found in workload default/w",
     lambda: world(WORKLOAD, evolve(REFERRING, pod_group_template_name="u"))),
    ("CTRL-17", "cannot change parallelism for a Job referencing gang-scheduled PodGroup g",
     lambda: resized(a_jobs_group(world(JOB), gang("g", 2)))),
    ("CTRL-17", "cannot change parallelism for a Job referencing gang-scheduled PodGroup g",
     lambda: resized(a_jobs_group(a_jobs_group(world(JOB), basic("a")), gang("g", 2)))),
    ("CTRL-24", "cannot change parallelism for a Job referencing gang-scheduled PodGroup g",
     lambda: resized(world(gang("g", 2), named_in_template()))),
    ("API-08", "cannot change parallelism",
     lambda: resized(world(gang("g", 2), named_in_template()))),
]  # fmt: skip
"""The rule, a part of the message, and what is asked."""
NOTHING_TO_REFUSE = {
    "ADM-01": "what does not belong to a write is left out, never refused",
    "ADM-12": "the class has a policy, the group none that could contradict it",
    "ADM-13": "templates are not looked at",
    "ADM-20": "without a reference nothing is looked up",
    "ADM-24": "the content is not compared",
    "ADM-25": "it says what is accepted although it should not be",
    "GC-01": "a finalizer is added", "GC-02": "protection delays, it does not refuse",
    "GC-03": "it says when the controller looks", "GC-04": "nobody adds a finalizer", "GC-05": "nobody is refused",
    "GC-06": "nobody is protected", "GC-07": "it says who owns whom", "GC-08": "it says who owns whom",
    "GC-09": "names are not identities, and nothing checks it", "GC-10": "owners take along, they do not refuse",
    "GC-11": "nobody deletes them",
}  # fmt: skip
ELSEWHERE = {
    "GC-03": "tests/impl/test_control_plane.py", "GC-07": "tests/impl/test_job_controller.py",
    "GC-08": "with the claim controller", "GC-10": "tests/impl/test_control_plane.py",
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "what", "case", "holds"), ACCEPTED, ids=lambda v: v if isinstance(v, str) else ""
)
def test_accepted(rule: str, what: str, case: Case, holds: Callable[[Any], bool]) -> None:
    assert holds(case()), (rule, what)


@pytest.mark.parametrize(("rule", "message", "case"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_refused(rule: str, message: str, case: Case) -> None:
    with pytest.raises(ApiError, match=re.escape(message)):
        case()


def test_every_rule_of_the_section_has_a_case_of_each_kind() -> None:
    rules = {rule.id for rule in rulebook.rules().values() if rule.section.startswith("2.")}
    accepted, refused = {case[0] for case in ACCEPTED}, {case[0] for case in REFUSED}
    assert rules - accepted - set(ELSEWHERE) == set()
    assert rules - refused - set(NOTHING_TO_REFUSE) == set()
    assert refused & set(NOTHING_TO_REFUSE) == set()


@pytest.mark.parametrize("state", [{"terminating": True, "node_name": "n"}, {"phase": "Succeeded"}])
def test_a_finalizer_holds_a_pod_that_has_ended_or_is_deleted_again(state: dict[str, Any]) -> None:
    """ACT-05: neither the end of the grace period nor that of the pod lets it go; the last finalizer does."""
    held = evolve(MEMBER, finalizers=("example.com/keep",), termination_grace_period_seconds=30, **state)
    gone = without(world(held), ("pod", "default/p"))
    assert gone.pods["default/p"].terminating
    freed = update(
        INTENDED, gone, evolve(gone.pods["default/p"], finalizers=(), termination_grace_period_seconds=0)
    )
    assert not freed.pods


def test_a_pod_without_a_node_has_no_grace_period() -> None:
    """ACT-02: nobody runs it, so nobody has to end it."""
    start = world(evolve(MEMBER, termination_grace_period_seconds=30))
    assert not without(start, ("pod", "default/p")).pods


def test_a_pod_is_bound_and_ends_once() -> None:
    """ACT-06, ACT-09."""
    bound = bind(INTENDED, world(node("n", 1), node("m", 1), pod("p")), "default/p", "n")
    with pytest.raises(ApiError, match="already assigned"):
        bind(INTENDED, bound, "default/p", "m")
    ended = finish(INTENDED, bound, "default/p", succeeded=True)
    with pytest.raises(ApiError, match="has ended"):
        finish(INTENDED, ended, "default/p", succeeded=False)


def test_a_refused_request_changes_nothing() -> None:
    start = world(gang("g", 2))
    with pytest.raises(ApiError):
        changed(start, min_count=3)
    assert start == world(gang("g", 2))


def test_without_its_gate_a_kind_is_not_served() -> None:
    """API-03, API-51."""
    off = Settings(gates=evolve(SCENARIO_GATES, generic_workload=False, gang_scheduling=False))
    for obj in (gang("g", 2), WORKLOAD):
        with pytest.raises(ApiError, match="does not serve"):
            there(obj, options=off)


WITH_CLAIM = evolve(GROUP, resource_claims=(PodGroupClaim("c", "claim"),))
GATED: list[tuple[str, str, Any, str, Any]] = [
    ("API-51", "generic_workload", MEMBER, "scheduling_group", None),
    ("API-51", "generic_workload", named_in_template(), "template", JOB.template),
    (
        "API-52",
        "topology_aware_workload_scheduling",
        evolve(GROUP, topology_keys=("z",)),
        "topology_keys",
        None,
    ),
    (
        "API-53",
        "workload_aware_preemption",
        evolve(GROUP, disruption_mode="PodGroup"),
        "disruption_mode",
        "Pod",
    ),
    ("API-53", "workload_aware_preemption", evolve(GROUP, priority=7), "priority", 0),
    ("API-53", "workload_aware_preemption", classed(GROUP, "heavy"), "priority_class_name", ""),
    ("API-54", "dra_workload_resource_claims", WITH_CLAIM, "resource_claims", ()),
]
"""The rule, the gate, an object with the gate's field, the field, and what it is without the gate."""
EVERY_GATE = FeatureGates(**dict.fromkeys(NAMES.values(), True))
OFF_WITH_IT = {"generic_workload": FeatureGates()}


@pytest.mark.parametrize(("rule", "gate", "obj", "field", "dropped"), GATED)
def test_a_gate_keeps_its_field_and_without_it_the_field_is_dropped(
    rule: str, gate: str, obj: Any, field: str, dropped: Any
) -> None:
    """API-51 to API-54: dropped at creation; what is stored already stays, and nothing can be set (API-57)."""
    on = Settings(gates=EVERY_GATE)
    off = Settings(gates=OFF_WITH_IT.get(gate) or evolve(EVERY_GATE, **{gate: False}))
    made = lookup(there(obj, options=on), kind_of(obj), obj.key)
    assert getattr(made, field) == getattr(obj, field) != dropped
    without = there(obj, options=off)
    plain = lookup(without, kind_of(obj), obj.key)
    assert getattr(plain, field) == dropped
    later = evolve(there(obj, options=on), settings=off)
    labelled_later = update(INTENDED, later, labelled(lookup(later, kind_of(obj), obj.key)))
    assert getattr(lookup(labelled_later, kind_of(obj), obj.key), field) == getattr(obj, field)
    with pytest.raises(ApiError, match="immutable"):
        update(INTENDED, without, evolve(plain, **{field: getattr(obj, field)}))


def test_what_a_gate_drops_is_not_stored() -> None:
    """API-52, API-53: neither of what a controller makes."""
    plain = there(
        evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("t", 2, ("zone",)),)), options=Settings()
    )
    assert of(plain, "workloads", "default/w").pod_group_templates[0].topology_keys is None


def test_an_invalid_object_is_refused_with_the_path_of_the_field() -> None:
    """API-13, API-33: as a user would be told."""
    with pytest.raises(ApiError, match=r"spec\.podGroupTemplates\[0\]\.name"):
        world(evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("a" * 64),)))
    with pytest.raises(
        ApiError, match=r"spec\.schedulingPolicy\.gang\.minCount: found 0, expected an integer of at least 1"
    ):
        world(evolve(gang("g", 2), min_count=0))


def test_a_deleted_workload_was_seen_by_the_plugin() -> None:
    """ADM-25: the view of the plugin is the store without the change that it has not seen."""
    start = lagging(world(WORKLOAD))
    assert start.control.behind == Table({"admission/workload": 1})
    (revision,) = start.control.log["workload"]
    assert revision == Revision("workload", "default/w", revision.old, None)
