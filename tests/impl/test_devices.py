"""Which devices a claim gets on a node, and which devices a CEL selector means (CLAIM-12)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from attrs import evolve

from gangproof.impl.claims.allocator import (
    MOST_DEVICES,
    AllocationError,
    BeyondAllocationError,
    allocate,
    offer,
    overdrawn,
)
from gangproof.impl.claims.cel import beyond, malformed, matches
from gangproof.impl.claims.cel_meaning import BeyondCelError, CelError
from gangproof.impl.objects import (
    ClaimSpec,
    Device,
    DeviceClass,
    DeviceRequest,
    Node,
    NodeSelectorTerm,
    Reach,
    Requirement,
    ResourceClaim,
    ResourceSlice,
)
from gangproof.impl.objects.claim import DeviceToleration, MatchAttribute
from gangproof.impl.objects.device import DeviceTaint, Version
from gangproof.impl.table import Table
from gangproof.properties.worlds.named import node

ANY = Table({"any": DeviceClass("any")})
N = node("n", 1, labels={"rack": "r1"})
RACK = NodeSelectorTerm((Requirement("rack", "In", ("r1",)),))


def part(*devices: Device, name: str = "s", pool: str = "n", **fields: object) -> ResourceSlice:
    """A slice of the driver `d.io` with these devices, local to the node n."""
    return evolve(ResourceSlice(name, "d.io", pool, devices, Reach(node="n")), **fields)


def parts(*slices: ResourceSlice) -> Table[ResourceSlice]:
    return Table((each.key, each) for each in slices)


def named(*names: str, **fields: object) -> tuple[Device, ...]:
    return tuple(evolve(Device(name), **fields) for name in names)


def claim(*requests: DeviceRequest, constraints: tuple[MatchAttribute, ...] = ()) -> ResourceClaim:
    return ResourceClaim("default", "c", spec=ClaimSpec(requests, constraints))


def asks(count: int | None = 1, name: str = "r", **fields: object) -> DeviceRequest:
    return evolve(DeviceRequest(name, "any", count), **fields)


def given(
    claims: list[ResourceClaim], slices: Table[ResourceSlice], *in_use: str, where: Node = N
) -> list[list[str]] | None:
    """The devices that each of the claims gets, by their own names; None if they do not get all."""
    found = allocate(claims, where, slices, ANY, frozenset(f"d.io/n/{name}" for name in in_use))
    return None if found is None else [[device.device for device in one.devices] for one in found]


def test_the_first_free_devices_in_the_order_of_the_slice() -> None:
    slices = parts(part(*named("d0", "d1", "d2")))
    assert given([claim(asks(2))], slices) == [["d0", "d1"]]
    assert given([claim(asks(2))], slices, "d0") == [["d1", "d2"]]
    assert given([claim(asks(2))], slices, "d0", "d1") is None
    assert given([claim(asks()), claim(asks(2))], slices) == [["d0"], ["d1", "d2"]]


def test_within_one_pod_the_search_goes_back() -> None:
    """The first request may have any device; the second only the first one."""
    slices = parts(part(*(Device(name, Table({"d.io/name": name})) for name in ("d0", "d1"))))
    picky = asks(name="s", selectors=("device.attributes['d.io'].name == 'd0'",))
    assert given([claim(asks(), picky)], slices) == [["d1", "d0"]]


def test_devices_of_other_nodes_are_not_offered() -> None:
    far = part(*named("far"), name="f", pool="m", reach=Reach(node="m"))
    near = part(*named("near"), name="g", pool="rack", reach=Reach(selector=RACK))
    every = part(*named("everywhere"), name="h", pool="net", reach=Reach(everywhere=True))
    found = offer(parts(far, near, every), N)
    assert [one.device.name for one in found.devices] == ["everywhere", "near"]


def test_the_allocation_can_be_used_where_all_its_devices_can() -> None:
    """CLAIM-16: on the node alone as soon as one is local; else where the selectors of all meet."""

    def nodes(reach: Reach) -> NodeSelectorTerm | None:
        (found,) = (
            allocate([claim(asks())], N, parts(part(*named("d0"), reach=reach)), ANY, frozenset()) or ()
        )
        return found.nodes

    assert nodes(Reach(everywhere=True)) is None
    assert nodes(Reach(selector=RACK)) == RACK
    local = nodes(Reach(node="n"))
    assert local is not None
    assert [(f.key, f.values) for f in local.fields] == [("metadata.name", ("n",))]


def test_a_device_may_say_itself_from_where_it_is_reached() -> None:
    devices = (Device("here", reach=Reach(node="n")), Device("there", reach=Reach(node="m")))
    slices = parts(part(*devices, reach=Reach()))
    assert given([claim(asks())], slices) == [["here"]]
    assert given([claim(asks(2))], slices) is None


def test_all_devices_are_asked_for_and_none_may_be_missing() -> None:
    slices = parts(part(*named("d0", "d1")))
    assert given([claim(asks(None))], slices) == [["d0", "d1"]]
    assert given([claim(asks(None))], slices, "d1") is None
    incomplete = parts(part(*named("d0"), slice_count=2))
    with pytest.raises(AllocationError, match=r"pool d\.io/n is not complete"):
        given([claim(asks(None))], incomplete)


def test_only_the_newest_generation_of_a_pool_counts_and_only_if_it_is_whole() -> None:
    old, new = part(*named("old"), name="a"), part(*named("new"), name="b", generation=2)
    assert given([claim(asks())], parts(old, new)) == [["new"]]
    half = evolve(new, slice_count=2)
    assert given([claim(asks())], parts(old, half)) is None


def test_a_taint_keeps_claims_away_that_do_not_tolerate_it() -> None:
    tainted = Device("d0", taints=(DeviceTaint("bad", "NoSchedule", "x"),))
    slices = parts(part(tainted, Device("d1")))
    assert given([claim(asks())], slices) == [["d1"]]
    for toleration, helps in (
        (DeviceToleration("bad", "Exists"), True),
        (DeviceToleration("bad", "Equal", "x", "NoSchedule"), True),
        (DeviceToleration("bad", "Equal", "y"), False),
        (DeviceToleration("", "Exists"), True),
    ):
        found = given([claim(asks(tolerations=(toleration,)))], slices)
        assert found == [["d0" if helps else "d1"]]
    untold = evolve(tainted, taints=(DeviceTaint("bad", "None"),))
    assert given([claim(asks())], parts(part(untold))) == [["d0"]]


def test_admin_access_uses_a_device_beside_whoever_has_it() -> None:
    slices = parts(part(*named("d0")))
    assert given([claim(asks(admin_access=True))], slices, "d0") == [["d0"]]
    assert given([claim(asks(admin_access=True)), claim(asks())], slices) == [["d0"], ["d0"]]


def test_devices_that_are_to_be_alike() -> None:
    numa = [Device(f"d{i}", Table({"d.io/numa": i % 2})) for i in range(4)]
    alike = MatchAttribute("d.io/numa")
    slices = parts(part(*numa))
    assert given([claim(asks(2), constraints=(alike,))], slices) == [["d0", "d2"]]
    assert given([claim(asks(3), constraints=(alike,))], slices) is None
    only_r = evolve(alike, requests=("r",))
    assert given([claim(asks(2), asks(name="s"), constraints=(only_r,))], slices) == [["d0", "d2", "d1"]]
    assert given([claim(asks(), constraints=(MatchAttribute("d.io/other"),))], slices) is None


def test_parts_of_a_device_draw_on_its_counters() -> None:
    """INV-25: two parts of one do not fit beside the whole."""
    whole = Device("whole", draws=Table({"c/mem": Fraction(2)}))
    half = [Device(f"h{i}", draws=Table({"c/mem": Fraction(1)})) for i in range(3)]
    counters = part(name="counters", counters=Table({"c/mem": Fraction(2)}), slice_count=2)
    slices = parts(counters, part(whole, *half, slice_count=2))
    assert given([claim(asks(2))], slices) == [["h0", "h1"]]
    assert given([claim(asks(3))], slices) is None
    assert given([claim(asks())], slices, "h0") == [["h1"]]
    assert given([claim(asks())], slices, "whole") is None
    used = {f"d.io/n/{name}" for name in ("whole", "h0")}
    assert list(overdrawn(slices, used)) == ["d.io/n/c/mem"]
    assert list(overdrawn(slices, {"d.io/n/whole"})) == []


def test_limits() -> None:
    many = parts(part(*named(*(f"d{i}" for i in range(40)))))
    assert given([claim(asks(MOST_DEVICES))], many) is not None
    assert given([claim(asks(MOST_DEVICES + 1))], many) is None
    with pytest.raises(BeyondAllocationError, match="does not end soon"):
        given([claim(asks(16), asks(30, name="s"))], many)


DEVICE = Device(
    "d0",
    Table(
        {
            "d.io/model": "A100",
            "d.io/cores": 8,
            "d.io/fast": True,
            "d.io/driver": Version("1.10.0"),
            "other.io/model": "B",
        }
    ),
    Table({"d.io/memory": Fraction(80 * 2**30)}),
)
OF = "device.attributes['d.io']"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("device.driver == 'd.io'", True),
        ('device.driver != "d.io"', False),
        (f"{OF}.model == 'A100'", True),
        (f"{OF}['model'] == 'A100'", True),
        ("device.attributes['other.io'].model == 'B'", True),
        (f"{OF}.cores >= 8 && {OF}.fast", True),
        (f"{OF}.cores > 8 || !{OF}.fast", False),
        (f"{OF}.cores in [4, 8]", True),
        (f"{OF}.model.startsWith('A') && {OF}.model.size() == 4", True),
        (f"{OF}.model.lowerAscii() == 'a100'", True),
        (f"has({OF}.model) && !has({OF}.missing)", True),
        ("'other.io' in device.attributes", True),
        ("has(device.attributes['none.io'].x)", False),
        ("device.capacity['d.io'].memory.compareTo(quantity('80Gi')) == 0", True),
        ("device.capacity['d.io'].memory.isGreaterThan(quantity('100Gi'))", False),
        (f"{OF}.driver.isGreaterThan(semver('1.9.0'))", True),
        (f"{OF}.driver.isLessThan(semver('1.10.0-rc.1'))", False),
        (f"{OF}.cores == 8 ? true : {OF}.missing", True),
        (f"{OF}.cores == -8", False),
        (f"{OF}.missing == 1 || true", True),
        (f"false && {OF}.missing == 1", False),
        ("device.allowMultipleAllocations == false", True),
    ],
)
def test_what_an_expression_says_of_a_device(expression: str, value: bool) -> None:
    assert beyond(expression) == ""
    assert matches(expression, "d.io", DEVICE) is value


@pytest.mark.parametrize(
    "expression",
    [
        f"{OF}.missing == 'x'",
        f"{OF}.cores",
        f"{OF}.cores > 'x'",
        f"{OF}.model && true",
        "quantity('x').isLessThan(quantity('1'))",
        "semver('1.0') == semver('1.0')",
        f"{OF}.cores.startsWith('x')",
        "1 in 2",
        "-'a' == 'a'",
    ],
)
def test_an_expression_that_fails_on_a_device(expression: str) -> None:
    with pytest.raises(CelError):
        matches(expression, "d.io", DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        "device.attributes.exists(a, true)",
        f"{OF}.model.matches('A.*')",
        "1 + 1 == 2",
        "1.5 > 1",
        "x == 1",
        '"""a""" == "a"',
        "r'a' == 'a'",
        "device.?driver.hasValue()",
        "[?device.driver].size() == 1",
        "1 == 1 // always",
        ".5 < 1.0",
        "(" * 50 + "true" + ")" * 50,
        "!" * 100 + "true",
        "'\\u0041' == 'A'",
        "a" * 11_000,
        "[" * 5_000,
        "device" + ".driver" * 5_000,
        "9" * 40 + " == 1",
    ],
)
def test_an_expression_outside_of_the_part_that_is_modelled(expression: str) -> None:
    assert beyond(expression)
    with pytest.raises(BeyondCelError):
        matches(expression, "d.io", DEVICE)


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("", "which breaks off"),
        ("device.driver ==", "which breaks off"),
        ("(((", "which breaks off"),
        ("device.attributes.exists(a, ", "which breaks off"),
        ("true ? false", "which breaks off"),
        ("device.", "which breaks off"),
        ("device.driver == 'd.io", """with "'d.io" out of place"""),
        ("device.driver = 'd.io'", """with "= 'd.io'" out of place"""),
        ("true & false", "with '& false' out of place"),
        ("true)", "with ')' out of place"),
        ("device driver", "with 'driver' out of place"),
        ("device.attributes.all(a, a b)", "with 'b' out of place"),
        ("size('a',)", "with ')' out of place"),
    ],
)
def test_an_expression_that_is_none(expression: str, wrong: str) -> None:
    assert malformed(expression) == wrong
    assert not beyond(expression)
    with pytest.raises(AllocationError, match="CEL compile error"):
        given([claim(asks(selectors=(expression,)))], parts(part(*named("d0"))))


@pytest.mark.parametrize("expression", ["1 < 2 == true", "['a', 'b',].size() == 2", "device.driver\n  != ''"])
def test_what_reads_odd_and_is_well_formed(expression: str) -> None:
    assert not beyond(expression) and not malformed(expression)
    assert matches(expression, "d.io", DEVICE) is True


def test_a_selector_that_fails_ends_the_attempt_and_one_that_is_not_modelled_is_told() -> None:
    slices = parts(part(*named("d0")))
    with pytest.raises(AllocationError, match="CEL runtime error: no such key: x"):
        given([claim(asks(selectors=(f"{OF}.x == 1",)))], slices)
    with pytest.raises(BeyondAllocationError, match="CEL selectors with"):
        given([claim(asks(selectors=("1 + 1 == 2",)))], slices)
