"""The Kubernetes objects that decide, as immutable values with Kubernetes' own names.

Only fields that some rule reads are here. Quantities are integers in base units: milli-CPU, bytes, whole
units of anything else. An object's *key* is `namespace/name` (a node's and a priority class's is its name);
its `uid` is the order in which the API server created it, so it tells namesakes apart and orders by age.
"""

from gangproof.impl.objects.affinity import (
    HostPort,
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredNodes,
    PreferredPods,
    Requirement,
    TopologySpreadConstraint,
)
from gangproof.impl.objects.budget import Bound, PodDisruptionBudget
from gangproof.impl.objects.claim import (
    Allocation,
    ClaimSpec,
    Consumer,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
)
from gangproof.impl.objects.device import Device, DeviceClass, Reach, ResourceSlice
from gangproof.impl.objects.job import Job
from gangproof.impl.objects.node import Node, Taint, Toleration, tolerates
from gangproof.impl.objects.owner import OwnerReference
from gangproof.impl.objects.pod import Phase, Pod
from gangproof.impl.objects.podgroup import Condition, DisruptionMode, PodGroup, PodGroupClaim
from gangproof.impl.objects.policy import PriorityClass
from gangproof.impl.objects.workload import ControllerRef, PodGroupTemplate, Workload

__all__ = [
    "Allocation",
    "Bound",
    "ClaimSpec",
    "Condition",
    "Consumer",
    "ControllerRef",
    "Device",
    "DeviceClass",
    "DeviceRequest",
    "DisruptionMode",
    "HostPort",
    "Job",
    "LabelSelector",
    "Node",
    "NodeAffinity",
    "NodeSelectorTerm",
    "OwnerReference",
    "Phase",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodGroup",
    "PodGroupClaim",
    "PodGroupTemplate",
    "PreferredNodes",
    "PreferredPods",
    "PriorityClass",
    "Reach",
    "Requirement",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "Workload",
    "tolerates",
]
