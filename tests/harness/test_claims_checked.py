"""A group with a claim from a template, with everything that `check` can leave open around it: no false alarm."""

from __future__ import annotations

from typing import Any

import pytest

from gangproof.api import collect_text
from gangproof.checking import Options, check_loaded
from gangproof.properties.verdict import Verdict

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g, namespace: default}
spec:
  schedulingPolicy: {gang: {minCount: 1}}
  resourceClaims: [{name: x, resourceClaimTemplateName: t}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  schedulingGroup: {podGroupName: g}
  resourceClaims: [{name: x, resourceClaimTemplateName: t}]
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: d, nodeName: n, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: d}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: default}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: d}}]}}}
"""


@pytest.mark.parametrize(
    ("left_open", "states"),
    [
        ({}, 8),
        ({"failures": 1}, 11),
        ({"deletions": 1}, 23),
        ({"restarts": 1}, 18),
        ({"restarts": 1, "failures": 1}, 32),
        ({"restarts": 1, "deletions": 1}, 50),
        ({"recreations": 1}, 68),
        ({"lag": 1}, 229),
        ({"lag": 1, "restarts": 1}, 550),
        ({"lag": 1, "deletions": 1}, 1823),
        pytest.param({"lag": 1, "recreations": 1}, 10_333, marks=pytest.mark.campaign),
    ],
    ids=str,
)
def test_a_claim_from_a_template_whatever_happens(left_open: dict[str, Any], states: int) -> None:
    """A restart forgets what is in flight; the scheduler may see a claim before the group that it was made for."""
    loaded = collect_text(CLUSTER, "cluster.yaml").manifests
    assert loaded is not None
    result = check_loaded(loaded, Options(**left_open)).cluster
    assert result is not None
    assert [finding.property for finding in result.findings] == []
    assert result.verdict is Verdict.HOLDS
    assert result.states == states
