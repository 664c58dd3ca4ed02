"""Claims, templates, classes and slices from manifests and dumps: values, defaults, and what is told about them."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
import yaml
from written import GROUP, load, node, only, pod, problem, stored, with_spec

from gangproof.errors import InputError
from gangproof.impl.objects import (
    Allocation,
    ClaimSpec,
    Consumer,
    Device,
    DeviceClass,
    DeviceRequest,
    NodeSelectorTerm,
    Reach,
    Requirement,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from gangproof.impl.objects.claim import AllocatedDevice, DeviceToleration, MatchAttribute, Owner
from gangproof.impl.objects.device import DeviceTaint, Version
from gangproof.impl.table import Table
from gangproof.load import load_manifests_text
from gangproof.load.decode_claim import GONE

V1 = {"apiVersion": "resource.k8s.io/v1"}
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
CLAIM = {**V1, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": SPEC}
TEMPLATE = {**V1, "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": {"spec": SPEC}}
CLASS = {**V1, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}
SLICE = {
    **V1,
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.io",
        "pool": {"name": "n", "generation": 3, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [{"name": "d0"}],
    },
}
ON_N = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}
ALLOCATED = {
    "allocation": {
        "devices": {"results": [{"request": "r", "driver": "gpu.io", "pool": "n", "device": "d0"}]},
        "nodeSelector": ON_N,
    },
    "reservedFor": [
        {"resource": "pods", "name": "p", "uid": "u-p"},
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u-g"},
        {"apiGroup": "example.com", "resource": "things", "name": "x", "uid": "u-x"},
    ],
}


def by_kind(*items: dict[str, Any]) -> dict[str, Any]:
    return {type(value).__name__: value for value in load(*items).objects}


def test_a_claim_with_every_field_that_decides() -> None:
    request = {
        "deviceClassName": "gpu",
        "count": 2,
        "adminAccess": True,
        "selectors": [{"cel": {"expression": "device.driver == 'gpu.io'"}}],
        "tolerations": [{"key": "bad", "operator": "Exists", "effect": "NoSchedule"}],
    }
    every = {"deviceClassName": "gpu", "allocationMode": "All"}
    spec = {
        "devices": {
            "requests": [{"name": "r", "exactly": request}, {"name": "s", "exactly": every}],
            "constraints": [{"requests": ["r"], "matchAttribute": "gpu.io/numa"}],
        }
    }
    assert by_kind(CLASS, {**CLAIM, "spec": spec})["ResourceClaim"] == ResourceClaim(
        "default",
        "c",
        uid=2,
        spec=ClaimSpec(
            (
                DeviceRequest(
                    "r",
                    "gpu",
                    2,
                    ("device.driver == 'gpu.io'",),
                    (DeviceToleration("bad", "Exists", "", "NoSchedule"),),
                    True,
                ),
                DeviceRequest("s", "gpu", None),
            ),
            (MatchAttribute("gpu.io/numa", ("r",)),),
        ),
    )


def test_a_template_and_a_class() -> None:
    found = by_kind(CLASS, TEMPLATE)
    assert found["DeviceClass"] == DeviceClass("gpu")
    spec = ClaimSpec((DeviceRequest("r", "gpu", 1),))
    assert found["ResourceClaimTemplate"] == ResourceClaimTemplate("default", "t", uid=2, spec=spec)


def test_a_slice_with_every_field_that_decides() -> None:
    """Names without a domain have that of the driver."""
    devices = [
        {
            "name": "d0",
            "attributes": {"model": {"string": "A"}, "x.io/cores": {"int": 8}, "v": {"version": "1.2.3"}},
            "capacity": {"memory": {"value": "1Gi"}},
            "taints": [{"key": "bad", "value": "x", "effect": "NoExecute"}],
            "consumesCounters": [{"counterSet": "whole", "counters": {"mem": {"value": "500m"}}}],
        }
    ]
    counters = [{"name": "whole", "counters": {"mem": {"value": "2"}}}]
    found = by_kind(node(), with_spec(SLICE, devices=devices, sharedCounters=counters))["ResourceSlice"]
    assert found == ResourceSlice(
        "s",
        "gpu.io",
        "n",
        (
            Device(
                "d0",
                Table({"gpu.io/model": "A", "x.io/cores": 8, "gpu.io/v": Version("1.2.3")}),
                Table({"gpu.io/memory": Fraction(2**30)}),
                (DeviceTaint("bad", "NoExecute", "x"),),
                Table({"whole/mem": Fraction(1, 2)}),
            ),
        ),
        Reach(node="n"),
        Table({"whole/mem": Fraction(2)}),
        generation=3,
        slice_count=1,
    )


def test_devices_that_say_themselves_from_where_they_are_reached() -> None:
    spec = {**SLICE["spec"], "perDeviceNodeSelection": True, "devices": [{"name": "d0", "allNodes": True}]}
    del spec["nodeName"]
    found = only({**SLICE, "spec": spec})
    assert found.reach == Reach()
    assert found.devices[0].reach == Reach(everywhere=True)


def in_a_dump(*claims: dict[str, Any]) -> list[ResourceClaim]:
    group = stored(with_spec(GROUP, schedulingPolicy={"basic": {}}), uid="u-g")
    items = (node(), stored(pod(nodeName="n"), uid="u-p"), group, CLASS, *claims)
    return [value for value in load(*items).objects if isinstance(value, ResourceClaim)]


def test_a_claim_of_a_dump_keeps_allocation_and_users() -> None:
    """CLAIM-22: entries for anything but pods and groups say nothing to the scheduler."""
    (claim,) = in_a_dump(stored({**CLAIM, "status": ALLOCATED}))
    nodes = NodeSelectorTerm(fields=(Requirement("metadata.name", "In", ("n",)),))
    assert claim.allocation == Allocation((AllocatedDevice("r", "gpu.io", "n", "d0"),), nodes)
    assert claim.reserved_for == (Consumer("pod", "p", 0), Consumer("podGroup", "g", 0))


def test_a_user_of_a_dump_that_was_replaced_is_gone() -> None:
    """CLAIM-30: the uid tells."""
    status = deepcopy(ALLOCATED)
    status["reservedFor"][0]["uid"] = "older"
    (claim,) = in_a_dump(stored({**CLAIM, "status": status}))
    assert claim.reserved_for == (Consumer("pod", "p", GONE), Consumer("podGroup", "g", 0))


def test_a_status_that_somebody_wrote_is_cleared_at_creation() -> None:
    (claim,) = in_a_dump({**CLAIM, "status": ALLOCATED})
    assert (claim.allocation, claim.reserved_for) == (None, ())


def test_the_owner_of_a_generated_claim_and_the_entry_it_is_for() -> None:
    """CLAIM-02, CLAIM-03."""
    owner = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "name": "g", "controller": True}
    metadata = {"annotations": {"resource.kubernetes.io/pod-claim-name": "dev"}}
    made = [
        stored(CLAIM, name=name, ownerReferences=[{**owner, "uid": uid}], **metadata)
        for name, uid in (("c1", "u-g"), ("c2", "older"))
    ]
    assert [claim.owner for claim in in_a_dump(*made)] == [
        Owner("podGroup", "g", 0, "dev"),
        Owner("podGroup", "g", GONE, "dev"),
    ]


@pytest.mark.parametrize("wanted", [{"resourceClaimName": "c"}, {"resourceClaimTemplateName": "c"}])
def test_a_claim_that_is_not_there_is_told(wanted: dict[str, str]) -> None:
    """CLAIM-10: the pod waits for it."""
    found = load(pod(resourceClaims=[{"name": "x", **wanted}]))
    (warning,) = found.warnings
    (field,) = wanted
    assert (warning.field, warning.rule) == (f"spec.resourceClaims[0].{field}", "CLAIM-10")


@pytest.mark.parametrize(
    ("item", "what"),
    [
        (with_spec(CLASS, extendedResourceName="example.com/gpu"), "extended resources"),
        (
            with_spec(CLASS, selectors=[{"cel": {"expression": "1 + 1 == 2"}}]),
            "CEL selectors with '+'",
        ),
        (
            with_spec(SLICE, devices=[{"name": "d", "allowMultipleAllocations": True}]),
            "capacity that several",
        ),
        (with_spec(SLICE, devices=[{"name": "d", "bindingConditions": ["x"]}]), "conditions that a device"),
    ],
)
def test_what_is_legal_and_not_modelled_is_told(item: dict[str, Any], what: str) -> None:
    assert any(what in one.why for one in load(node(), item).unmodelled)


def test_a_device_taint_rule_is_not_modelled() -> None:
    rule = {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": {"name": "r"}}
    assert [one.why for one in load(rule).unmodelled] == ["rules that taint devices are not modelled"]


@pytest.mark.parametrize(
    ("item", "field", "rule"),
    [
        (with_spec(SLICE, allNodes=True), "spec", "core"),
        (with_spec(SLICE, pool={"name": "n"}), "spec.pool.resourceSliceCount", "core"),
        ({**CLAIM, "status": {"reservedFor": ALLOCATED["reservedFor"]}}, "status.reservedFor", "CLAIM-26"),
    ],
)
def test_what_the_api_server_refuses(item: dict[str, Any], field: str, rule: str) -> None:
    assert problem(item) == (field, rule)


HEAD = "apiVersion: resource.k8s.io/v1\n"
LONG = "x" * 20_000


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{HEAD}kind: ResourceClaim\nmetadata: {{name: c}}\n", 1, "spec: found nothing"),
        (
            f"{HEAD}kind: ResourceClaim\nmetadata: {{name: c}}\nspec:\n  devices:\n    requests:\n"
            "    - name: r\n      deviceClassName: gpu\n",
            8,
            "it stands below exactly since v1",
        ),
        (
            f"{HEAD}kind: ResourceClaim\nmetadata: {{name: c}}\nspec:\n  devices:\n    requests:\n"
            "    - {name: r, exactly: {deviceClassName: gpu, count: 99999999999999999999}}\n",
            7,
            "count",
        ),
        (
            f"{HEAD}kind: ResourceClaim\nmetadata: {{name: c}}\nspec:\n  devices:\n    requests:\n"
            '    - {name: r, exactly: {deviceClassName: gpu, count: "2"}}\n',
            7,
            "expected an integer",
        ),
        (f"{HEAD}kind: ResourceClaim\nmetadata: {{name: c}}\nspec: {{devices: [1]}}\n", 4, "found a list"),
        (
            f"{HEAD}kind: ResourceClaimTemplate\nmetadata: {{name: t}}\nspec: {{devices: {{}}}}\n",
            4,
            "below spec.spec",
        ),
        (
            f"{HEAD}kind: ResourceSlice\nmetadata: {{name: s}}\nspec:\n  driver: d.io\n  nodeName: n\n"
            "  pool: {name: n, resourceSliceCount: 1}\n  devices:\n  - name: d\n    basic: {}\n",
            10,
            "beside name since v1",
        ),
        (
            f"{HEAD}kind: ResourceSlice\nmetadata: {{name: s}}\nspec:\n  driver: d.io\n  nodeName: n\n"
            "  pool: {name: n, resourceSliceCount: 1}\n  devices:\n"
            '  - {name: d, capacity: {m: {value: "1e9999999"}}}\n',
            9,
            "capacity",
        ),
        (
            "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n",
            1,
            "in v1 a request's fields stand below exactly",
        ),
        (f"{HEAD}kind: DeviceClass\nmetadata: {{name: '{LONG}'}}\n", 3, "(20000 characters)"),
        (
            f"{HEAD}kind: DeviceClass\nmetadata: {{name: gpu}}\nspec: {{selektors: []}}\n",
            4,
            "did you mean selectors?",
        ),
    ],
)
def test_bad_input_is_told_with_line_and_field(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_manifests_text(text, "claims.yaml")
    first = caught.value.problems[0]
    assert (first.file, first.line) == ("claims.yaml", line)
    assert message in str(first)
    assert len(str(first)) < 500


def test_an_expression_without_end_is_told_and_not_followed() -> None:
    for expression in ("(" * 5_000, "a" * 50_000, "device" + ".a" * 5_000):
        item = with_spec(CLASS, selectors=[{"cel": {"expression": expression}}])
        assert any(
            "CEL selectors with" in one.why for one in load_manifests_text(yaml.safe_dump(item)).unmodelled
        )
