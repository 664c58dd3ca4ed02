"""The shape of scenario documents: every key of the format, and the type of its value."""

from __future__ import annotations

from collections.abc import Mapping

from gangproof.load.fields import BUDGET_BOUND, POD_SPEC
from gangproof.load.schema import (
    BOOLEAN,
    IGNORED,
    INTEGER,
    QUANTITIES,
    QUANTITY,
    STRING,
    STRINGS,
    TEXT_MAP,
    Either,
    Fields,
    ListOf,
    MapOf,
    Shape,
)

CLAIMS = ListOf(Fields({"name": STRING, "claim": STRING, "template": STRING}))
POLICY: Mapping[str, Shape] = {
    "name": STRING,
    "gang": INTEGER,
    "basic": BOOLEAN,
    "priority": INTEGER,
    "priorityClass": STRING,
    "disruptionMode": STRING,
    "topology": STRING,
    "claims": CLAIMS,
}
POD: Mapping[str, Shape] = {
    "name": STRING,
    "namespace": STRING,
    "group": STRING,
    "cpu": QUANTITY,
    "memory": QUANTITY,
    "extended": QUANTITIES,
    "priority": INTEGER,
    "priorityClass": STRING,
    "node": STRING,
    "started": INTEGER,
    "schedulerName": STRING,
    "labels": TEXT_MAP,
    "nodeSelector": TEXT_MAP,
    "tolerations": POD_SPEC.shapes["tolerations"],
    "hostPort": INTEGER,
    "gates": STRINGS,
    "preemptionPolicy": STRING,
    "claims": CLAIMS,
    "grace": INTEGER,
    "finalizers": STRINGS,
    "spec": POD_SPEC,
}
# The keys of one object of each kind; `manifest` in place of all others is held against the kind's own shape.
OBJECTS: Mapping[str, Mapping[str, Shape]] = {
    "nodes": {
        "name": STRING,
        "cpu": QUANTITY,
        "memory": QUANTITY,
        "pods": INTEGER,
        "extended": QUANTITIES,
        "labels": TEXT_MAP,
        "taints": ListOf(Fields({"key": STRING, "value": STRING, "effect": STRING})),
        "unschedulable": BOOLEAN,
    },
    "podGroups": {
        **POLICY,
        "namespace": STRING,
        "labels": TEXT_MAP,
        "template": STRING,
        "finalizers": STRINGS,
    },
    "workloads": {
        "name": STRING,
        "namespace": STRING,
        "templates": ListOf(Fields(POLICY)),
        "controller": STRING,
    },
    "pods": POD,
    "jobs": {
        "name": STRING,
        "namespace": STRING,
        "parallelism": INTEGER,
        "completions": INTEGER,
        "indexed": BOOLEAN,
        "suspend": BOOLEAN,
        "template": Fields(POD),
    },
    "claims": {
        "name": STRING,
        "namespace": STRING,
        "deviceClass": STRING,
        "count": INTEGER,
        "allocated": STRING,
    },
    "claimTemplates": {"name": STRING, "namespace": STRING, "deviceClass": STRING, "count": INTEGER},
    "deviceClasses": {"name": STRING, "devices": MapOf(INTEGER)},
    "slices": {"name": STRING},
    "priorityClasses": {"name": STRING, "value": INTEGER, "globalDefault": BOOLEAN},
    "pdbs": {
        "name": STRING,
        "namespace": STRING,
        "selector": TEXT_MAP,
        "minAvailable": BUDGET_BOUND,
        "maxUnavailable": BUDGET_BOUND,
    },
}
KIND_OF: Mapping[str, str] = {
    "nodes": "node",
    "podGroups": "podGroup",
    "workloads": "workload",
    "pods": "pod",
    "jobs": "job",
    "claims": "claim",
    "claimTemplates": "claimTemplate",
    "deviceClasses": "deviceClass",
    "slices": "slice",
    "priorityClasses": "priorityClass",
    "pdbs": "pdb",
}
NAMES = Either({list: STRINGS, str: STRING}, "a list of names, or one name or pattern")
COUNTED = Fields({"exactly": INTEGER, "atLeast": INTEGER, "atMost": INTEGER, "of": NAMES})
POD_SET = Either({list: STRINGS, dict: COUNTED}, "a list of pods, or {exactly|atLeast|atMost: N, of: [pods]}")
# A mapping of pods to nodes has values of another type than a counted set: the two are told apart by `of`.
PLACED = Either({list: STRINGS, dict: IGNORED}, "a list of pods, a counted set, or {pod: node}")
EXPECTATIONS = Fields(
    {
        "bound": PLACED,
        "unschedulable": POD_SET,
        "gated": POD_SET,
        "pending": POD_SET,
        "gone": POD_SET,
        "evicted": POD_SET,
        "kept": POD_SET,
        "victims": POD_SET,
        "nominated": PLACED,
        "together": MapOf(STRINGS),
        "within": MapOf(STRINGS),
        "conditions": TEXT_MAP,
        "reservedFor": MapOf(STRINGS),
        "allocated": TEXT_MAP,
        "exists": STRINGS,
        "absent": STRINGS,
        "rejected": TEXT_MAP,
    }
)
CHANGES: dict[str, Shape] = {
    "create": Fields(
        {plural: ListOf(Fields({**shapes, "manifest": MapOf(IGNORED)})) for plural, shapes in OBJECTS.items()}
    ),
    "delete": STRINGS,
    "update": MapOf(MapOf(IGNORED)),
}
STEP = Fields(
    {
        **CHANGES,
        "finish": STRINGS,
        "crash": STRINGS,
        "settle": BOOLEAN,
        "expect": EXPECTATIONS,
        "possible": EXPECTATIONS,
        "attempt": Fields(
            {"pod": STRING, "group": STRING, "result": STRING, "during": ListOf(Fields(CHANGES))}
        ),
        "hold": STRINGS,
        "release": STRINGS,
        "fail": STRINGS,
        "flush": BOOLEAN,
        "advance": STRING,
        "restart": STRING,
        "lag": STRINGS,
        "catch-up": STRINGS,
    }
)
SCENARIO = Fields(
    {
        "scenario": STRING,
        "title": STRING,
        "kubernetes": QUANTITY,
        "source": STRING,
        "profile": STRING,
        "verified": STRING,
        "unverified": BOOLEAN,
        "gates": MapOf(BOOLEAN),
        "scheduler": Fields(
            {
                "nodeScores": MapOf(INTEGER),
                "scores": STRING,
                "backoff": Fields({"initial": STRING, "max": STRING}),
                "profiles": STRINGS,
            }
        ),
        "steps": ListOf(STEP),
    },
    {"apiVersion": "this is a manifest, not a scenario", "kind": "this is a manifest, not a scenario"},
)
