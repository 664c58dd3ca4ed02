"""Devices as drivers publish them, and the classes by which claims ask for them (CLAIM-12).

A `ResourceSlice` is a part of a driver's pool. Devices of one pool may draw on common counters, as the partitions
of one card do. A device is named by driver, pool and its own name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from attrs import frozen

from gangproof.impl.objects.affinity import NodeSelectorTerm
from gangproof.impl.table import Table


@frozen(cache_hash=True)
class Version:
    """An attribute that is a semantic version, such as 1.2.3."""

    text: str


Attribute = str | int | bool | Version


@frozen(cache_hash=True)
class DeviceTaint:
    """A mark on a device that keeps claims without a matching toleration away."""

    key: str
    effect: Literal["NoSchedule", "NoExecute", "None"]
    value: str = ""


@frozen(cache_hash=True)
class Reach:
    """From which nodes something can be used: by one node's name, by a selector, or from all of them.

    With none of the three it can be used from nowhere.
    """

    node: str | None = None
    selector: NodeSelectorTerm | None = None
    everywhere: bool = False


@frozen(cache_hash=True)
class Device:
    """One device. Attributes and capacities stand under `domain/name`.

    `draws` is what it takes of the counters of its pool once it is allocated, under `set/counter`. `reach` is its own
    where the slice leaves that to its devices.
    """

    name: str
    attributes: Table[Attribute] = Table()
    capacity: Table[Fraction] = Table()
    taints: tuple[DeviceTaint, ...] = ()
    draws: Table[Fraction] = Table()
    reach: Reach | None = None


@frozen(cache_hash=True)
class ResourceSlice:
    """A part of a pool: devices, or the counters that they draw on, under `set/counter`.

    The slices of a pool with the highest `generation` make it up; there have to be `slice_count` of them.
    """

    name: str
    driver: str
    pool: str
    devices: tuple[Device, ...] = ()
    reach: Reach = Reach()
    counters: Table[Fraction] = Table()
    generation: int = 1
    slice_count: int = 1

    @property
    def key(self) -> str:
        return self.name


@frozen(cache_hash=True)
class DeviceClass:
    """Which devices are meant by its name: those that meet every selector, a CEL expression each."""

    name: str
    selectors: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.name
