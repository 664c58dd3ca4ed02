"""Claims for devices: what is asked for, what was allocated, and who may use it (CLAIM-01 to CLAIM-36)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import field, frozen

from gangproof.impl.objects.affinity import NodeSelectorTerm

CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection"
MOST_CONSUMERS = 256
"""How many entries `reservedFor` may have (CLAIM-26)."""


@frozen(cache_hash=True)
class DeviceToleration:
    """A request's permission to take devices with certain taints; an empty key or effect matches every one."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@frozen(cache_hash=True)
class DeviceRequest:
    """So many devices of a class that meet all selectors, CEL expressions; `count` None means all that there are.

    With `admin_access` a device is used beside whoever has it.
    """

    name: str
    device_class: str
    count: int | None = 1
    selectors: tuple[str, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()
    admin_access: bool = False


@frozen(cache_hash=True)
class MatchAttribute:
    """All devices for these requests (without any, for all) have the same value of the attribute `domain/name`."""

    attribute: str
    requests: tuple[str, ...] = ()


@frozen(cache_hash=True)
class AllocatedDevice:
    """One device of an allocation, and the request that it is for."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool = False

    @property
    def id(self) -> str:
        """The device's name among all devices."""
        return f"{self.driver}/{self.pool}/{self.device}"


@frozen(cache_hash=True)
class Allocation:
    """The devices that a claim has, and from which nodes all of them can be reached; None: from all."""

    devices: tuple[AllocatedDevice, ...]
    nodes: NodeSelectorTerm | None = None

    @property
    def exclusive(self) -> tuple[str, ...]:
        """The devices that nobody else may have, by their names."""
        return tuple(device.id for device in self.devices if not device.admin_access)


@frozen(cache_hash=True)
class Consumer:
    """An entry of `reservedFor`: a pod, or a PodGroup and thereby each of its members (CLAIM-22)."""

    kind: Literal["pod", "podGroup"]
    name: str
    uid: int


@frozen(cache_hash=True)
class Owner:
    """The controller owner of a generated claim, and the entry of it that the claim was made for (CLAIM-03)."""

    kind: Literal["pod", "podGroup"]
    name: str
    uid: int
    entry: str


@frozen(cache_hash=True)
class ClaimSpec:
    """What a claim asks for; a template's spec is that of each claim made from it."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[MatchAttribute, ...] = ()


def _in_order(entries: Iterable[Consumer]) -> tuple[Consumer, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.kind, entry.name, entry.uid)))


@frozen(cache_hash=True)
class ResourceClaim:
    """A claim. While it has the finalizer it outlives its deletion, `terminating` (CLAIM-32).

    A set allocation stays as it is until it is cleared (CLAIM-26). The order of `reserved_for` means nothing; it is
    kept sorted.
    """

    namespace: str
    name: str
    uid: int = 0
    spec: ClaimSpec = ClaimSpec()
    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] = field(default=(), converter=_in_order)
    owner: Owner | None = None
    finalizers: tuple[str, ...] = ()
    terminating: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def slot(self) -> str:
        """What tells the claim from a later one of the same name."""
        return f"{self.key}/{self.uid}"


@frozen(cache_hash=True)
class ResourceClaimTemplate:
    """What claims are made from, one for each user (CLAIM-02, CLAIM-08)."""

    namespace: str
    name: str
    uid: int = 0
    spec: ClaimSpec = ClaimSpec()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"
