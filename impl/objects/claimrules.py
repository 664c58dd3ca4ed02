"""What claims, templates, classes and slices must be like to be accepted, as far as the scheduler reads them."""

from __future__ import annotations

import re
from typing import Any

from gangproof.impl.claims.cel import malformed
from gangproof.impl.objects.checks import (
    Check,
    Finding,
    dns_label,
    dns_subdomain,
    entries,
    entries_of,
    exactly_one,
    fields_of,
    integer,
    one_of,
    optional,
    present,
    required,
    shown,
)
from gangproof.impl.objects.claim import MOST_CONSUMERS
from gangproof.impl.objects.quantity import QuantityError, parse_quantity

Rules = tuple[tuple[str, str, Check], ...]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def _some(value: Any) -> Finding | None:
    return None if value else Finding("nothing", "a value")


def _cel(value: Any) -> Finding | None:
    """An expression of which a piece is out of place; of one that is not modelled nothing is said here."""
    if not value:
        return _some(value)
    wrong = malformed(value)
    return Finding(f"{shown(value)}, {wrong}", "a CEL expression") if wrong else None


def _qualified(value: Any) -> Finding | None:
    domain, slash, name = str(value).rpartition("/")
    if _IDENTIFIER.fullmatch(name) and (not slash or dns_subdomain(domain) is None):
        return None
    return Finding(shown(value), "[domain/]name, the name at most 32 of A-Z, a-z, 0-9, _")


def _fully_qualified(value: Any) -> Finding | None:
    if "/" not in str(value):
        return Finding(shown(value), "domain/name")
    return _qualified(value)


def _amount(value: Any) -> Finding | None:
    try:
        fits = parse_quantity(str(value)) >= 0
    except QuantityError as error:
        return Finding(shown(value), error.expected)
    return None if fits else Finding(shown(value), "a quantity of at least 0")


def _named_amounts(value: Any) -> Finding | None:
    for name, entry in fields_of(value).items():
        finding = _qualified(name) or required(_amount)(fields_of(entry).get("value"))
        if finding is not None:
            return Finding(finding.found, finding.expected, (name,))
    return None


def _counters(value: Any) -> Finding | None:
    for name, entry in fields_of(value).items():
        finding = dns_label(name) or required(_amount)(fields_of(entry).get("value"))
        if finding is not None:
            return Finding(finding.found, finding.expected, (name,))
    return None


def _attributes(value: Any) -> Finding | None:
    one = exactly_one("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
    for name, entry in fields_of(value).items():
        finding = _qualified(name) or one(entry)
        if finding is not None:
            return Finding(finding.found, finding.expected, (name,))
    return None


def _count(value: Any) -> Finding | None:
    if value.get("allocationMode") == "All" and value.get("count") is not None:
        return Finding(shown(value["count"]), "no count, as the allocationMode is All", ("count",))
    return None


def _consumers(value: Any) -> Finding | None:
    """CLAIM-26: a limit, each uid once, and none without an allocation."""
    consumers = entries_of(value.get("reservedFor"))
    if consumers and value.get("allocation") is None:
        return Finding(f"{len(consumers)} entries", "none without an allocation", ("reservedFor",))
    return None


def _one_term(value: Any) -> Finding | None:
    terms = entries_of(fields_of(value).get("nodeSelectorTerms"))
    return None if len(terms) == 1 else Finding(f"{len(terms)} terms", "exactly one", ("nodeSelectorTerms",))


def _reach(value: Any) -> Finding | None:
    ways = [
        value.get("nodeName"),
        value.get("nodeSelector"),
        value.get("allNodes"),
        value.get("perDeviceNodeSelection"),
    ]
    number = sum(bool(way) for way in ways)
    expected = "exactly one of nodeName, nodeSelector, allNodes, perDeviceNodeSelection"
    return None if number == 1 else Finding(f"{number} of them", expected)


def _device_reach(value: Any) -> Finding | None:
    number = sum(bool(value.get(way)) for way in ("nodeName", "nodeSelector", "allNodes"))
    return None if number <= 1 else Finding(f"{number} of them", "one of nodeName, nodeSelector, allNodes")


def _toleration(value: Any) -> Finding | None:
    operator = value.get("operator") or "Equal"
    if not value.get("key") and operator != "Exists":
        return Finding(operator, "Exists, as the key is empty", ("operator",))
    if value.get("value") and operator == "Exists":
        return Finding(shown(value["value"]), "no value, as the operator is Exists", ("value",))
    return None


def _term_rules(prefix: str) -> Rules:
    return tuple(
        rule
        for part in ("matchExpressions", "matchFields")
        for rule in (
            ("core", f"{prefix}.{part}[].key", required(_some)),
            ("core", f"{prefix}.{part}[].operator", required(one_of(*_OPERATORS))),
        )
    )


def _metadata() -> Rules:
    return (
        ("core", "metadata", present),
        ("core", "metadata.name", required(dns_subdomain)),
        ("core", "metadata.namespace", optional(dns_label)),
    )


def _spec(prefix: str) -> Rules:
    exactly = f"{prefix}devices.requests[].exactly"
    return (
        ("core", f"{prefix}devices.requests", entries(0, 32, "name")),
        ("core", f"{prefix}devices.requests[].name", required(dns_label)),
        ("core", f"{prefix}devices.requests[]", exactly_one("exactly", "firstAvailable")),
        ("core", f"{exactly}.deviceClassName", required(dns_subdomain)),
        ("core", f"{exactly}.allocationMode", optional(one_of("ExactCount", "All"))),
        ("core", f"{exactly}.count", optional(integer(1))),
        ("core", exactly, optional(_count)),
        ("core", f"{exactly}.selectors", entries(0, 32)),
        ("core", f"{exactly}.selectors[].cel.expression", required(_cel)),
        ("core", f"{exactly}.tolerations[]", _toleration),
        ("core", f"{exactly}.tolerations[].operator", optional(one_of("Exists", "Equal"))),
        ("core", f"{prefix}devices.constraints", entries(0, 32)),
        ("core", f"{prefix}devices.constraints[]", exactly_one("matchAttribute", "distinctAttribute")),
        ("core", f"{prefix}devices.constraints[].matchAttribute", optional(_fully_qualified)),
    )


CLAIM_RULES: Rules = (
    *_metadata(),
    ("core", "spec", present),
    *_spec("spec."),
    ("CLAIM-26", "status", optional(_consumers)),
    ("CLAIM-26", "status.reservedFor", entries(0, MOST_CONSUMERS, "uid")),
    ("core", "status.reservedFor[].resource", required(_some)),
    ("core", "status.reservedFor[].name", required(_some)),
    ("core", "status.allocation.devices.results", entries(0, 32)),
    *(
        ("core", f"status.allocation.devices.results[].{name}", required(_some))
        for name in ("request", "driver", "pool", "device")
    ),
    ("core", "status.allocation.nodeSelector", optional(_one_term)),
    *_term_rules("status.allocation.nodeSelector.nodeSelectorTerms[]"),
)
TEMPLATE_RULES: Rules = (
    *_metadata(),
    ("core", "spec", present),
    ("core", "spec.spec", present),
    *_spec("spec.spec."),
)
CLASS_RULES: Rules = (
    *_metadata(),
    ("core", "spec.selectors", entries(0, 32)),
    ("core", "spec.selectors[].cel.expression", required(_cel)),
)
SLICE_RULES: Rules = (
    *_metadata(),
    ("core", "spec", present),
    ("core", "spec", optional(_reach)),
    ("core", "spec.driver", required(dns_subdomain)),
    ("core", "spec.pool", present),
    ("core", "spec.pool.name", required(_some)),
    ("core", "spec.pool.generation", optional(integer(0))),
    ("core", "spec.pool.resourceSliceCount", required(integer(1))),
    ("core", "spec.nodeSelector", optional(_one_term)),
    *_term_rules("spec.nodeSelector.nodeSelectorTerms[]"),
    ("core", "spec.devices", entries(0, 128, "name")),
    ("core", "spec.devices[]", _device_reach),
    ("core", "spec.devices[].name", required(dns_label)),
    ("core", "spec.devices[].attributes", optional(_attributes)),
    ("core", "spec.devices[].capacity", optional(_named_amounts)),
    ("core", "spec.devices[].nodeSelector", optional(_one_term)),
    *_term_rules("spec.devices[].nodeSelector.nodeSelectorTerms[]"),
    ("core", "spec.devices[].taints[].key", required(_some)),
    ("core", "spec.devices[].taints[].effect", required(one_of("NoSchedule", "NoExecute", "None"))),
    ("core", "spec.devices[].consumesCounters[].counterSet", required(dns_label)),
    ("core", "spec.devices[].consumesCounters[].counters", optional(_counters)),
    ("core", "spec.sharedCounters", entries(0, 8, "name")),
    ("core", "spec.sharedCounters[].name", required(dns_label)),
    ("core", "spec.sharedCounters[].counters", optional(_counters)),
)
