"""Scenarios and places that the tests of the front door share."""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("gangproof")
ROOT = Path(__file__).parent.parent.parent

FITS = """\
scenario: fits
title: a gang of two fits
steps:
- create:
    nodes: [{name: n, cpu: 2}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
- expect: {bound: ["p[1-2]"]}
"""
TOO_SMALL = """\
scenario: too-small
title: half a gang is expected, and nobody is bound
steps:
- create:
    nodes: [{name: n, cpu: 1}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
- expect: {bound: [p1]}
"""
NOT_THIS_PROFILE = FITS.replace("scenario: fits", "scenario: shipped\nprofile: v1.36.3")
LEFT_OVER = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 1Gi, pods: "9"}}}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
""" + "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata: {{name: p{n}}}
spec:
  schedulingGroup: {{podGroupName: g}}
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "1"}}}}}}]
"""
    for n in (1, 2, 3)
)
