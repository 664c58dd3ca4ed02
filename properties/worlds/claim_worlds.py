"""Small worlds with claims, of the kind of `named`: one question about devices each, in its smallest form."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import (
    DeviceClass,
    Pod,
    PodGroup,
    PodGroupClaim,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from gangproof.impl.world import Settings
from gangproof.properties.scenarios.devices import claim_spec, device_class
from gangproof.properties.worlds.named import Named, gang, node, pod, world

GPU = "gpu"
SETTINGS = Settings(gates=evolve(SCENARIO_GATES, dra_workload_resource_claims=True))
BY_TEMPLATE = PodGroupClaim("dev", resource_claim_template_name="template")
BY_NAME = PodGroupClaim("dev", resource_claim_name="claim")


def devices(counts: Mapping[str, int]) -> tuple[DeviceClass | ResourceSlice, ...]:
    """The class `gpu`, and so many of its devices on each node."""
    return device_class(GPU, counts)


def claim(name: str = "claim", number: int = 1) -> ResourceClaim:
    """A claim for so many devices."""
    return ResourceClaim("default", name, spec=claim_spec(GPU, number))


def template(number: int = 1) -> ResourceClaimTemplate:
    """The template `template` of claims for so many devices."""
    return ResourceClaimTemplate("default", "template", spec=claim_spec(GPU, number))


def sharing(group: PodGroup, *entries: PodGroupClaim) -> PodGroup:
    """The group with these entries."""
    return evolve(group, resource_claims=entries)


def using(pod: Pod, *entries: PodGroupClaim) -> Pod:
    """The pod with these entries."""
    return evolve(pod, resource_claims=entries)


_ALL = (
    Named(
        "shared-claim",
        "a gang of two shares a generated claim, whose device only one of two nodes has",
        world(
            *(node("n1", 2), node("n2", 2), *devices({"n1": 1}), template()),
            sharing(gang("g1", 2), BY_TEMPLATE),
            *(using(pod("p1", "g1"), BY_TEMPLATE), using(pod("p2", "g1"), BY_TEMPLATE)),
            settings=SETTINGS,
        ),
    ),
    Named(
        "failing-write",
        "two members share a generated claim, and one call fails",
        world(
            *(node("n1", 2), *devices({"n1": 1}), template()),
            sharing(gang("g1", 2), BY_TEMPLATE),
            *(using(pod("p1", "g1"), BY_TEMPLATE), using(pod("p2", "g1"), BY_TEMPLATE)),
            settings=SETTINGS,
            failures=1,
        ),
    ),
    Named(
        "one-device-for-two",
        "two gangs want the only device, each for a claim of its own",
        world(
            *(node("n1", 2), *devices({"n1": 1}), template()),
            *(sharing(gang("g1", 1), BY_TEMPLATE), using(pod("p1", "g1"), BY_TEMPLATE)),
            *(sharing(gang("g2", 1), BY_TEMPLATE), using(pod("p2", "g2"), BY_TEMPLATE)),
            settings=SETTINGS,
        ),
    ),
    Named(
        "with-a-plain-pod",
        "a gang and a plain pod share a claim, and a user deletes one of the pods",
        world(
            *(node("n1", 2), *devices({"n1": 1}), claim()),
            *(sharing(gang("g1", 1), BY_NAME), using(pod("p1", "g1"), BY_NAME), using(pod("p2"), BY_NAME)),
            settings=SETTINGS,
            deletions=1,
            kubelet=True,
        ),
    ),
)
WORLDS = {named.name: named for named in _ALL}
"""The worlds by name."""
