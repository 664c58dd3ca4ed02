"""Kinds that are not modelled: those that could change what the scheduler does, and why they are left out."""

from __future__ import annotations

from collections.abc import Mapping

_CONTROLLER = "its pods are made by a controller that is not modelled; give the pods themselves"
_TAINT_RULES = "rules that taint devices are not modelled"
_VOLUMES = "volumes are not modelled"
DECISIVE: Mapping[str, str] = {
    "CronJob": _CONTROLLER,
    "DaemonSet": _CONTROLLER,
    "Deployment": _CONTROLLER,
    "DeviceTaintRule": _TAINT_RULES,
    "LimitRange": "defaults from limit ranges are not modelled",
    "PersistentVolume": _VOLUMES,
    "PersistentVolumeClaim": _VOLUMES,
    "ReplicaSet": _CONTROLLER,
    "ReplicationController": _CONTROLLER,
    "ResourceQuota": "quotas are not modelled",
    "RuntimeClass": "runtime classes are not modelled",
    "StatefulSet": _CONTROLLER,
    "StorageClass": _VOLUMES,
}
OTHERWISE = "nothing that the model reads"
