"""The fields of the modelled kinds in Kubernetes v1.36: those that decide, and the rest by name."""

from __future__ import annotations

from collections.abc import Mapping

from gangproof.load import claim_fields
from gangproof.load.metadata_fields import METADATA, TYPE, ignored
from gangproof.load.schema import (
    BOOLEAN,
    INTEGER,
    QUANTITIES,
    STRING,
    STRINGS,
    TEXT_MAP,
    Either,
    Fields,
    ListOf,
    Shape,
    Unmodelled,
)

CONDITION = Fields(
    {
        "type": STRING,
        "status": STRING,
        "reason": STRING,
        "message": STRING,
        **ignored("lastTransitionTime lastProbeTime lastHeartbeatTime observedGeneration"),
    }
)
CLAIM = Fields({"name": STRING, "resourceClaimName": STRING, "resourceClaimTemplateName": STRING})
CLAIM_STATUS = Fields({"name": STRING, "resourceClaimName": STRING})

POLICY: dict[str, Shape] = {
    "schedulingPolicy": Fields({"basic": Fields({}), "gang": Fields({"minCount": INTEGER})}),
    "schedulingConstraints": Fields({"topology": ListOf(Fields({"key": STRING}))}),
    "resourceClaims": ListOf(CLAIM),
    "disruptionMode": STRING,
    "priorityClassName": STRING,
    "priority": INTEGER,
}
POLICY_HINTS: Mapping[str, str] = {
    "policy": "v1alpha1 called policy what is schedulingPolicy now",
    "minMember": "the minimum is schedulingPolicy.gang.minCount",
    "minCount": "the minimum is schedulingPolicy.gang.minCount",
    "preemptionPolicy": "v1.36 has no preemption policy for groups (API-42)",
    "queue": "a queue is a notion of another scheduler",
    "scheduleTimeoutSeconds": "v1.36 has no timeout field (API-42)",
}
WORKLOAD = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "controllerRef": Fields({"apiGroup": STRING, "kind": STRING, "name": STRING}),
                "podGroupTemplates": ListOf(Fields({"name": STRING, **POLICY}, POLICY_HINTS)),
            },
            {"podGroups": "v1alpha1 said podGroups for podGroupTemplates; each group is a PodGroup now"},
        ),
    }
)
POD_GROUP = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "podGroupTemplateRef": Fields(
                    {"workload": Fields({"workloadName": STRING, "podGroupTemplateName": STRING})},
                    {
                        "workloadName": "it stands one level deeper: podGroupTemplateRef.workload",
                        "podGroupTemplateName": "it stands one level deeper: podGroupTemplateRef.workload",
                    },
                ),
                **POLICY,
            },
            POLICY_HINTS,
        ),
        "status": Fields({"conditions": ListOf(CONDITION), "resourceClaimStatuses": ListOf(CLAIM_STATUS)}),
    }
)
PRIORITY_CLASS = Fields(
    {**TYPE, "value": INTEGER, "globalDefault": BOOLEAN, "preemptionPolicy": STRING, "description": STRING}
)
NODE = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "unschedulable": BOOLEAN,
                "taints": ListOf(
                    Fields({"key": STRING, "value": STRING, "effect": STRING, **ignored("timeAdded")})
                ),
                **ignored("podCIDR podCIDRs providerID configSource externalID"),
            }
        ),
        "status": Fields(
            {
                "capacity": QUANTITIES,
                "allocatable": QUANTITIES,
                **ignored(
                    "phase conditions addresses daemonEndpoints nodeInfo images volumesInUse volumesAttached"
                    " config runtimeHandlers features declaredFeatures"
                ),
            }
        ),
    }
)

REQUIREMENT = Fields({"key": STRING, "operator": STRING, "values": STRINGS})
SELECTOR = Fields({"matchLabels": TEXT_MAP, "matchExpressions": ListOf(REQUIREMENT)})
NODE_TERM = Fields({"matchExpressions": ListOf(REQUIREMENT), "matchFields": ListOf(REQUIREMENT)})
POD_TERM = Fields(
    {
        "labelSelector": SELECTOR,
        "namespaces": STRINGS,
        "namespaceSelector": SELECTOR,
        "topologyKey": STRING,
        "matchLabelKeys": STRINGS,
        "mismatchLabelKeys": STRINGS,
    }
)
NODE_AFFINITY = Fields(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Fields({"nodeSelectorTerms": ListOf(NODE_TERM)}),
        "preferredDuringSchedulingIgnoredDuringExecution": ListOf(
            Fields({"weight": INTEGER, "preference": NODE_TERM})
        ),
    }
)
POD_AFFINITY = Fields(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": ListOf(POD_TERM),
        "preferredDuringSchedulingIgnoredDuringExecution": ListOf(
            Fields({"weight": INTEGER, "podAffinityTerm": POD_TERM})
        ),
    }
)
SPREAD = Fields(
    {
        "maxSkew": INTEGER,
        "topologyKey": STRING,
        "whenUnsatisfiable": STRING,
        "labelSelector": SELECTOR,
        "minDomains": INTEGER,
        "nodeAffinityPolicy": STRING,
        "nodeTaintsPolicy": STRING,
        "matchLabelKeys": STRINGS,
    }
)
PORT = Fields(
    {
        "hostPort": INTEGER,
        "containerPort": INTEGER,
        "protocol": STRING,
        "hostIP": STRING,
        **ignored("name"),
    }
)
CONTAINER = Fields(
    {
        "name": STRING,
        "ports": ListOf(PORT),
        "restartPolicy": STRING,
        "resources": Fields({"requests": QUANTITIES, "limits": QUANTITIES, **ignored("claims")}),
        **ignored(
            "image command args workingDir envFrom env resizePolicy restartPolicyRules volumeMounts"
            " volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath"
            " terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty"
        ),
    }
)
_VOLUME = Unmodelled("volumes that bind a pod to nodes are not modelled")
VOLUME = Fields(
    {
        **ignored(
            "name hostPath emptyDir gitRepo secret nfs glusterfs flexVolume cephfs flocker downwardAPI fc"
            " azureFile configMap vsphereVolume quobyte photonPersistentDisk projected portworxVolume scaleIO"
            " storageos image"
        ),
        **dict.fromkeys(
            (
                "persistentVolumeClaim",
                "ephemeral",
                "csi",
                "gcePersistentDisk",
                "awsElasticBlockStore",
                "azureDisk",
                "cinder",
                "iscsi",
                "rbd",
            ),
            _VOLUME,
        ),
    }
)
POD_SPEC = Fields(
    {
        "containers": ListOf(CONTAINER),
        "initContainers": ListOf(CONTAINER),
        "overhead": QUANTITIES,
        "resources": Unmodelled("requests on pod level are not modelled (FILT-09)"),
        "nodeName": STRING,
        "nodeSelector": TEXT_MAP,
        "affinity": Fields(
            {"nodeAffinity": NODE_AFFINITY, "podAffinity": POD_AFFINITY, "podAntiAffinity": POD_AFFINITY}
        ),
        "schedulerName": STRING,
        "schedulingGates": ListOf(Fields({"name": STRING})),
        "schedulingGroup": Fields({"podGroupName": STRING}),
        "tolerations": ListOf(
            Fields(
                {
                    "key": STRING,
                    "operator": STRING,
                    "value": STRING,
                    "effect": STRING,
                    **ignored("tolerationSeconds"),
                }
            )
        ),
        "topologySpreadConstraints": ListOf(SPREAD),
        "priority": INTEGER,
        "priorityClassName": STRING,
        "preemptionPolicy": STRING,
        "terminationGracePeriodSeconds": INTEGER,
        "resourceClaims": ListOf(CLAIM),
        "restartPolicy": STRING,
        "runtimeClassName": STRING,
        "hostNetwork": BOOLEAN,
        "volumes": ListOf(VOLUME),
        **ignored(
            "ephemeralContainers activeDeadlineSeconds dnsPolicy serviceAccountName"
            " serviceAccount automountServiceAccountToken hostPID hostIPC shareProcessNamespace"
            " securityContext imagePullSecrets"
            " hostname subdomain hostAliases dnsConfig readinessGates enableServiceLinks setHostnameAsFQDN os"
            " hostUsers hostnameOverride"
        ),
    },
    {
        "workloadRef": "v1.35 called workloadRef what is schedulingGroup.podGroupName now",
        "podGroupName": "it stands one level deeper: schedulingGroup.podGroupName",
        "podGroup": "membership is schedulingGroup.podGroupName",
    },
)
POD = Fields(
    {
        **TYPE,
        "spec": POD_SPEC,
        "status": Fields(
            {
                "phase": STRING,
                "conditions": ListOf(CONDITION),
                "nominatedNodeName": STRING,
                "startTime": STRING,
                "resourceClaimStatuses": ListOf(CLAIM_STATUS),
                "resize": Unmodelled("in-place resize is not modelled (FILT-09)"),
                **ignored(
                    "observedGeneration message reason hostIP hostIPs podIP podIPs initContainerStatuses"
                    " containerStatuses qosClass ephemeralContainerStatuses extendedResourceClaimStatus"
                    " nodeAllocatableResourceClaimStatuses"
                    " allocatedResources resources"
                ),
            }
        ),
    }
)
BUDGET_BOUND = Either({int: INTEGER, str: STRING}, "an integer, or a percentage such as 50%")
BUDGET = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "selector": SELECTOR,
                "minAvailable": BUDGET_BOUND,
                "maxUnavailable": BUDGET_BOUND,
                **ignored("unhealthyPodEvictionPolicy"),
            }
        ),
        "status": Fields(
            {
                "disruptionsAllowed": INTEGER,
                "disruptedPods": TEXT_MAP,
                **ignored("observedGeneration currentHealthy desiredHealthy expectedPods conditions"),
            }
        ),
    }
)
_TIME = "how long a Job may take is not modelled"
_POLICY = "what a policy of the Job makes of the ends of its pods is not modelled"
JOB = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "parallelism": INTEGER,
                "completions": INTEGER,
                "completionMode": STRING,
                "backoffLimit": INTEGER,
                "suspend": BOOLEAN,
                "podReplacementPolicy": STRING,
                "managedBy": STRING,
                "template": Fields({"metadata": METADATA, "spec": POD_SPEC}),
                "activeDeadlineSeconds": Unmodelled(_TIME),
                "manualSelector": Unmodelled("pods that a Job takes over by a selector are not modelled"),
                **dict.fromkeys(
                    ("backoffLimitPerIndex", "maxFailedIndexes", "podFailurePolicy", "successPolicy"),
                    Unmodelled(_POLICY),
                ),
                **ignored("selector ttlSecondsAfterFinished"),
            },
            {
                "minAvailable": "that is a field of another kind of job; a gang is parallelism = completions, Indexed"
            },
        ),
        "status": Fields(
            {
                "startTime": STRING,
                "succeeded": INTEGER,
                "failed": INTEGER,
                "completedIndexes": STRING,
                "conditions": ListOf(CONDITION),
                **ignored("active ready terminating completionTime failedIndexes uncountedTerminatedPods"),
            }
        ),
    }
)
SHAPES: Mapping[str, Fields] = {
    "Job": JOB,
    "Node": NODE,
    "Pod": POD,
    "PodDisruptionBudget": BUDGET,
    "PodGroup": POD_GROUP,
    "PriorityClass": PRIORITY_CLASS,
    "Workload": WORKLOAD,
    **claim_fields.SHAPES,
}
VERSIONS: Mapping[str, str] = {
    "Job": "batch/v1",
    "Node": "v1",
    "Pod": "v1",
    "PodDisruptionBudget": "policy/v1",
    "PodGroup": "scheduling.k8s.io/v1alpha2",
    "PriorityClass": "scheduling.k8s.io/v1",
    "Workload": "scheduling.k8s.io/v1alpha2",
    **claim_fields.VERSIONS,
}
VERSION_HINTS: Mapping[tuple[str, str], str] = {
    ("Workload", "scheduling.k8s.io/v1alpha1"): (
        "rename spec.podGroups to spec.podGroupTemplates and policy to schedulingPolicy, make a PodGroup for"
        " each group, and give the pods schedulingGroup.podGroupName in place of workloadRef"
    ),
    ("Workload", "scheduling.k8s.io/v1beta1"): (
        "that is of v1.37, which is not modelled; in v1alpha2 disruptionMode is Pod or PodGroup"
    ),
    ("PodGroup", "scheduling.k8s.io/v1beta1"): (
        "that is of v1.37, which is not modelled; in v1alpha2 disruptionMode is Pod or PodGroup and the"
        " condition is PodGroupScheduled"
    ),
    (
        "PodGroup",
        "scheduling.k8s.io/v1alpha1",
    ): "v1alpha1 had no PodGroup; the fields are those of v1alpha2",
    (
        "PodDisruptionBudget",
        "policy/v1beta1",
    ): "v1 has the same fields; there an empty selector chooses every pod",
    ("PriorityClass", "scheduling.k8s.io/v1beta1"): "v1 has the same fields",
    ("PriorityClass", "scheduling.k8s.io/v1alpha1"): "v1 has the same fields",
    **claim_fields.VERSION_HINTS,
}
