"""`gangproof explain` for claims and topology domains: which one blocks, who holds it, which number decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import gangproof
from gangproof.properties.explanation import Explanation

Explain = Callable[..., Explanation]
CLAIMS = "gates: {DRAWorkloadResourceClaims: true, TopologyAwareWorkloadScheduling: true}\n"


@pytest.fixture
def explained(scenario_file: Callable[..., Path]) -> Explain:
    """Explains a target in the one world in which these steps end, or after the first of them."""

    def explained(target: str, *steps: str, step: int | None = None) -> Explanation:
        head = f"scenario: it\ntitle: it\n{CLAIMS}steps:\n"
        path = scenario_file(head + "".join(f"- {step}\n" for step in steps))
        (one,) = gangproof.explain(path, target, step=step).found
        return one.explanation

    return explained


RACKS = """create:
    nodes:
    - {name: "a[1-2]", cpu: 1, labels: {rack: a}}
    - {name: "b[1-3]", cpu: 1, labels: {rack: b}}
    - {name: "c[1-4]", cpu: 1, labels: {rack: c}}
    podGroups: [{name: g, gang: 3, topology: rack}]
    pods: [{name: "p[1-3]", group: g, cpu: 1}]"""


def test_every_domain_is_told_with_the_number_that_decides(explained: Explain) -> None:
    """PLACE-10, PLACE-12, PLACE-20, PLACE-21, PLACE-22: a is too small; of the others the fuller one wins."""
    told = explained("podgroup/g", RACKS, step=1)
    assert told.domains is not None
    assert (told.domains.key, told.domains.number) == ("rack", 3)
    found = [(d.value, d.kept, d.fits, d.packing, d.members, d.chosen) for d in told.domains.tried]
    assert found == [
        ("a", 2, False, 50, 0, False),
        ("b", 3, True, 50, 100, True),
        ("c", 3, True, 37, 100, False),
    ]
    text = str(told)
    assert "2 of 3 members find a place  1 short of the minimum 3 (CYCLE-26); p3 is the first without" in text
    assert "requests 50 + members 100 = 150 (PLACE-22), chosen" in text


UNLABELLED = """create:
    nodes: [{name: "n[1-3]", cpu: 2}]
    podGroups: [{name: g, gang: 3, topology: rack}]
    pods: [{name: "p[1-3]", group: g, cpu: 1}]"""


def test_a_topology_key_that_no_node_has_is_named_and_the_label_is_tried(explained: Explain) -> None:
    """PLACE-02, PLACE-05: nodes without the label belong to no domain."""
    told = explained("podgroup/g", UNLABELLED, step=1)
    assert told.sentence == "podgroup/g is pending: no node has the label rack (PLACE-02, PLACE-05)"
    (one,) = told.suggestions
    assert (one.kind, one.text, one.outcome) == (
        "label",
        "label 2 nodes (n1, n2) with one value of rack",
        "placed",
    )


def test_a_label_alone_may_not_be_enough(explained: Explain) -> None:
    """PLACE-02: the domain that the label makes has room for two of the three."""
    told = explained("podgroup/g", UNLABELLED.replace("n[1-3]", "n[1-2]").replace("cpu: 2", "cpu: 1"), step=1)
    assert {one.text.split(" (by")[0] for one in told.suggestions} == {
        "label 2 nodes (n1, n2) with one value of rack, and add one more node like n1",
        "label 2 nodes (n1, n2) with one value of rack, and lower minCount from 3 to 2",
    }


def test_where_no_label_helps_it_is_told_what_was_tried(explained: Explain) -> None:
    told = explained("podgroup/g", UNLABELLED.replace("group: g, cpu: 1", "group: g, cpu: 9"), step=1)
    (one,) = told.suggestions
    assert (one.outcome, one.objects) == ("not enough", 3)
    assert "tried, and not enough:" in str(told)


def test_the_label_that_members_select_is_the_value(explained: Explain) -> None:
    """FILT-07: in a domain of another value no member would find a place."""
    told = explained("podgroup/g", UNLABELLED.replace("cpu: 1}", "cpu: 1, nodeSelector: {rack: a}}"), step=1)
    assert ("label 2 nodes (n1, n2) with rack=a", "placed") in [(s.text, s.outcome) for s in told.suggestions]


def test_members_that_differ_get_as_many_nodes_as_they_need(explained: Explain) -> None:
    """Two nodes have room for two members each, but not for all four together."""
    told = explained(
        "podgroup/g",
        """create:
    nodes: [{name: a, cpu: 4}, {name: b, cpu: 4}, {name: c, cpu: 4}]
    podGroups: [{name: g, gang: 4, topology: rack}]
    pods: [{name: "big[1-2]", group: g, cpu: 4}, {name: "small[1-2]", group: g, cpu: 1}]""",
        step=1,
    )
    assert ("label 3 nodes (a, b, c) with one value of rack", "placed") in [
        (s.text, s.outcome) for s in told.suggestions
    ]


def test_a_node_without_the_label_can_join_a_domain(explained: Explain) -> None:
    """PLACE-02: n3 has room, and belongs to no domain."""
    told = explained(
        "podgroup/g",
        UNLABELLED.replace(
            '{name: "n[1-3]", cpu: 2}', "{name: n1, cpu: 2, labels: {rack: a}}, {name: n3, cpu: 2}"
        ),
        step=1,
    )
    assert ("label node n3 with rack=a", "placed") in [(s.text, s.outcome) for s in told.suggestions]


PINNED = """create:
    nodes:
    - {name: "a[1-3]", cpu: 1, labels: {rack: a}}
    - {name: "b[1-3]", cpu: 1, labels: {rack: b}}
    podGroups: [{name: g, gang: 3, topology: rack}]
    pods:
    - {name: first, group: g, cpu: 1, node: b1}
    - {name: "p[1-3]", group: g, cpu: 1}"""


def test_members_placed_before_leave_one_domain(explained: Explain) -> None:
    """PLACE-03: its numbers count them."""
    told = explained("podgroup/g", PINNED, step=1)
    assert told.domains is not None
    (only,) = told.domains.tried
    assert (only.value, only.kept, only.before, only.chosen) == ("b", 2, 1, True)
    assert "2 of 3 members find a place + 1 placed before" in str(told)


def test_without_a_topology_key_there_are_no_domains(explained: Explain) -> None:
    told = explained("podgroup/g", RACKS.replace(", topology: rack", ""), step=1)
    assert told.domains is None


DEVICES = """create:
    nodes: [{name: n1, cpu: 4}, {name: n2, cpu: 4}]
    deviceClasses: [{name: gpu, devices: {n1: 1}}]
    claims: [{name: c, deviceClass: gpu}]
    podGroups: [{name: g, gang: 2, claims: [{name: d, claim: c}]}]
    pods: [{name: "p[1-2]", group: g, cpu: 1, claims: [{name: d, claim: c}]}]"""
X = "create: {pods: [{name: x, cpu: 4, claims: [{name: d, claim: c}]}]}"


def test_the_claim_that_blocks_is_told_with_who_holds_it(explained: Explain) -> None:
    """CLAIM-16, CLAIM-22: the other node has room, and cannot use the device."""
    told = explained("pod/x", DEVICES, "settle: true", X)
    (claim,) = told.claims
    assert (claim.claim, claim.whose, claim.nodes, claim.reach) == (
        "default/c",
        "pod",
        ("default/n1"[8:],),
        1,
    )
    assert claim.devices == ("gpu.example.com/n1/d0",)
    assert claim.holders == ("podgroup/g",)
    assert (claim.blocks, claim.rule) == ("can be used on n1 only", "CLAIM-16")
    (refused,) = told.refused
    assert {(one.node, one.rule) for one in refused.closest} == {("n1", "FILT-10"), ("n2", "CLAIM-16")}
    assert "can be used on n1 only (CLAIM-16); held by podgroup/g (CLAIM-22)" in str(told)


def test_an_allocation_that_is_not_written_is_told(explained: Explain) -> None:
    """CLAIM-15: x is of another cycle, and waits until the members have written it."""
    told = explained(
        "pod/x",
        "hold: [prebind/p1, prebind/p2]",
        DEVICES,
        "attempt: {group: g, result: scheduled}",
        X,
        step=4,
    )
    (claim,) = told.claims
    assert (claim.written, claim.blocks, claim.rule) == (
        False,
        "is being allocated for somebody else",
        "CLAIM-15",
    )
    assert claim.holders == ("pod/p1", "pod/p2")
    assert all(one.rule == "CLAIM-15" for one in told.refused[0].closest)
    assert "not written yet" in str(told)


def test_who_has_the_devices_is_told(explained: Explain) -> None:
    """CLAIM-12: both claims ask for the only device."""
    other = X.replace("claim: c", "claim: c2").replace("cpu: 4", "cpu: 1")
    both = DEVICES.replace("claims: [{name: c, ", "claims: [{name: c2, deviceClass: gpu}, {name: c, ", 1)
    told = explained("pod/x", both, "settle: true", other)
    (claim,) = told.claims
    assert (claim.devices, claim.rivals, claim.asks) == ((), ("default/c",), ("1 gpu",))
    assert "c has devices of its class" in str(told)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("template: none", "its template none does not exist"),
        ("claim: none", "none does not exist"),
    ],
)
def test_a_claim_that_holds_a_pod_at_the_gate_is_told(explained: Explain, entry: str, why: str) -> None:
    """CLAIM-10."""
    told = explained("pod/y", f"create: {{pods: [{{name: y, claims: [{{name: d, {entry}}}]}}]}}", step=1)
    assert told.state == "gated"
    assert "(CLAIM-10)" in told.gate
    (claim,) = told.claims
    assert (claim.blocks, claim.rule) == (why, "CLAIM-10")


def test_json_has_the_same_facts(
    gangproof_command: Callable[..., Result], scenario_file: Callable[..., Path]
) -> None:
    path = scenario_file(f"scenario: it\ntitle: it\n{CLAIMS}steps:\n- {DEVICES}\n- settle: true\n- {X}\n")
    result = gangproof_command("explain", path, "pod/x", "-o", "json")
    (one,) = json.loads(result.stdout)["explanations"]
    assert one["claims"][0]["holders"] == ["podgroup/g"]
    assert one["claims"][0]["reach"] == 1
    assert one["domains"] is None
