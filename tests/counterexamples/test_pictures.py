"""The pictures: they show what is there, mark what changed and broke, stay small, and never become markup."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gangproof.counterexamples import (
    ClaimView,
    Event,
    Frame,
    GroupView,
    NodeView,
    PodState,
    PodView,
    Trace,
    draw,
)
from gangproof.counterexamples import picture as several

GOLDEN = Path(__file__).with_name("golden")
SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "rect", "g", "text", "tspan", "path", "polygon", "ellipse", "polyline"}


def words(svg: str) -> list[str]:
    """Every line of text in the picture."""
    return [
        "".join(element.itertext()).replace("\xa0", " ")
        for element in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


def picture(trace: Trace, frame: int | None = None) -> str:
    drawn = draw(trace, "svg", frame)
    assert isinstance(drawn, str)
    return drawn


def boxes(svg: str, title: str) -> list[ElementTree.Element]:
    """The rectangles with this tooltip, in the order of the drawing."""
    groups = [
        g
        for g in ElementTree.fromstring(svg).iter(f"{SVG}g")
        if g.findtext(f"{SVG}title", "").startswith(title)
    ]
    return [rect for group in groups for rect in group.findall(f"{SVG}rect")[:1]]


@pytest.mark.parametrize(
    ("name", "format", "frame"),
    [
        ("half-a-gang.svg", "svg", 3),
        ("half-a-gang-strip.svg", "svg", None),
        ("half-a-gang.txt", "text", None),
        ("half-a-gang.mmd", "mermaid", 3),
    ],
)
def test_golden(half_a_gang: Trace, name: str, format: str, frame: int | None) -> None:
    assert draw(half_a_gang, format, frame) == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_frame_is_well_formed_small_and_without_foreign_elements(trace: Trace) -> None:
    drawings = [picture(trace, frame) for frame in range(len(trace.frames))]
    for drawn in [*drawings, picture(trace)]:
        root = ElementTree.fromstring(drawn)
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= KNOWN
        assert root.find(f"{SVG}rect").attrib["fill"] == "#FFFFFF"
        assert "href" not in drawn and " on" not in "".join(k for e in root.iter() for k in e.attrib)
    assert all(len(drawn.encode()) < 50_000 for drawn in drawings)


def test_an_ordinary_frame_stays_below_20_kb(half_a_gang: Trace, zones: Trace, deadlock: Trace) -> None:
    for each in (half_a_gang, zones, deadlock):
        assert all(len(picture(each, i).encode()) < 20_000 for i in range(len(each.frames)))


def test_no_text_is_wider_than_its_picture(half_a_gang: Trace, zones: Trace) -> None:
    for drawn in (picture(half_a_gang, 3), picture(zones, 1), picture(half_a_gang)):
        root = ElementTree.fromstring(drawn)
        width = float(root.attrib["width"])
        for element in root.iter(f"{SVG}text"):
            length = len("".join(element.itertext()))
            assert float(element.attrib["x"]) + length * 9 * 0.5 < width


def test_states_are_words_and_borders(zones: Trace) -> None:
    drawn = picture(zones, 1)
    lines = words(drawn)
    for status in (
        "bound",
        "bound → terminating",
        "bound → evicted",
        "backoff → assumed",
        "nominated",
        "gated",
    ):
        assert status in lines
    [bound] = boxes(drawn, "t-0, bound on a1")
    [assumed] = boxes(drawn, "t-3, assumed on b1")
    [evicted] = boxes(drawn, "b-1, evicted on a2")
    waiting, ghost = boxes(drawn, "t-2, unschedulable, nominated to a2")
    dashes = [box.attrib.get("stroke-dasharray") for box in (bound, assumed, evicted, waiting, ghost)]
    assert dashes[0] is None and dashes[2] is None and dashes[3] is None
    assert dashes[1] == dashes[4] == "1,5"
    assert bound.attrib["stroke-width"] == "2" and "stroke-width" not in evicted.attrib
    struck = [
        e.text
        for e in ElementTree.fromstring(drawn).iter()
        if e.attrib.get("text-decoration") == "line-through"
    ]
    assert struck == ["b-0", "b-1"]


def test_a_promise_is_dashed(half_a_gang: Trace) -> None:
    [promised] = boxes(picture(half_a_gang, 2), "p2, promised on n2")
    assert promised.attrib["stroke-dasharray"] == "5,2"


def test_what_broke_is_marked_in_the_last_frame_only(half_a_gang: Trace) -> None:
    lines = words(picture(half_a_gang, 3))
    assert "! A p2" in lines and "A p1" in lines
    broken = next(i for i, line in enumerate(lines) if line.startswith("broken  pg1 is started"))
    assert lines[broken + 1] == "bound 1 · promised 0 · owed 0 · minimum 2"
    assert not any(line.startswith(("!", "broken")) for line in words(picture(half_a_gang, 2)))


def test_a_witness_is_not_called_broken(witness: Trace) -> None:
    assert "clause  g is placed whole" in words(picture(witness, 0))
    for format in ("svg", "text", "html", "mermaid"):
        assert "broken" not in str(draw(witness, format)).replace(".broken", "")


def test_groups_are_told_apart_by_letters(zones: Trace) -> None:
    lines = words(picture(zones, 0))
    assert {"A t-0", "B b-0", "lonely"} <= set(lines)
    assert any(line.startswith("A group train") for line in lines)


def test_topology_domains_are_boxes(zones: Trace) -> None:
    lines = words(picture(zones, 0))
    assert (
        lines.index("zone=east") < lines.index("node a1") < lines.index("zone=west") < lines.index("node b1")
    )


def _racks(*labels: dict[str, str]) -> Trace:
    """A node with each of these sets of labels, one group that keeps to racks and one that keeps to zones."""
    nodes = tuple(NodeView(f"n{i}", labels=tuple(each.items())) for i, each in enumerate(labels))
    groups = (GroupView("default/a", topology="rack"), GroupView("default/b", topology="zone"))
    return Trace("t", (Frame(nodes, groups=groups),))


def test_domains_of_two_keys_are_nested_the_larger_outside() -> None:
    zones = [("east", "r1"), ("east", "r2"), ("west", "r3"), ("west", "r3")]
    drawn = picture(_racks(*({"rack": rack, "zone": zone} for zone, rack in zones), {"zone": "north"}, {}), 0)
    lines = [line for line in words(drawn) if "=" in line or line.startswith("node")]
    assert lines == [
        *("zone=east", "rack=r1", "node n0", "rack=r2", "node n1"),
        *("zone=west, rack=r3", "node n2", "node n3"),
        *("zone=north", "node n4"),
        "node n5",
    ]
    frames = [
        tuple(float(box.attrib[side]) for side in ("x", "y", "width", "height"))
        for box in ElementTree.fromstring(drawn).iter(f"{SVG}rect")
        if box.attrib.get("stroke-dasharray") == "5,2"
    ]

    def inside(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return all(
            one[axis] > other[axis] and one[axis] + one[axis + 2] < other[axis] + other[axis + 2]
            for axis in (0, 1)
        )

    assert sorted(sum(inside(one, other) for other in frames) for one in frames) == [0, 0, 0, 1, 1]


def test_nested_domains_in_mermaid_and_text() -> None:
    trace = _racks({"rack": "r1", "zone": "east"}, {"rack": "r2", "zone": "east"})
    assert [line for line in str(draw(trace, "text", 0)).splitlines() if line.startswith("=")] == [
        *("= zone=east", "== rack=r1", "== rack=r2")
    ]
    chart = str(draw(trace, "mermaid", 0)).splitlines()
    opened = [line for line in chart if line.strip().startswith("subgraph")]
    assert [len(line) - len(line.lstrip()) for line in opened] == [2, 4, 6, 4, 6]
    assert len({line.split("[")[0] for line in opened}) == 5
    assert len(opened) == sum(line.strip() == "end" for line in chart)


def test_occupancy_is_drawn_and_told(zones: Trace) -> None:
    lines = words(picture(zones, 0))
    assert {"cpu 4/4", "cpu 5/4 over", "memory 4000Mi/8Gi", "cpu 2/4"} <= set(lines)
    bars = [
        r
        for r in ElementTree.fromstring(picture(zones, 0)).iter(f"{SVG}rect")
        if r.attrib.get("height") == "7"
    ]
    halves = [r for r in bars if r.attrib["width"] == "36"]
    assert len(halves) == 4, "cpu 2/4 and gpu 1/2 are half full: a used and a free half each"


def edges(svg: str) -> list[tuple[str, str, str | None, str | None, str]]:
    """Of each edge of a claim its words, where it leads to, its width, its dashes and its colour."""
    found: list[tuple[str, str, str | None, str | None, str]] = []
    shapes = [e for e in ElementTree.fromstring(svg).iter() if e.tag in (f"{SVG}polyline", f"{SVG}text")]
    for i, line in enumerate(shapes):
        if line.tag == f"{SVG}polyline":
            said, head, end = ("".join(shapes[i + k].itertext()).replace("\xa0", " ") for k in (1, 2, 3))
            assert head == "►"
            width, dashes = (line.attrib.get(f"stroke-{what}") for what in ("width", "dasharray"))
            found.append((said, end, width, dashes, line.attrib["stroke"]))
    return found


def test_a_claim_has_an_edge_to_its_device_to_whom_it_is_reserved_for_and_to_who_waits(zones: Trace) -> None:
    ink = "#1f2933"
    assert edges(picture(zones, 1)) == [
        ("allocated", "a1/d0", "2", None, ink),
        ("reserved for", "A group train", None, "5,2", ink),
        ("held by", "A t-0, t-1", None, None, ink),
        ("wanted by", "A t-2", None, "1,5", ink),
        ("chosen, not written", "b2/d1", "2", "5,2", ink),
        ("! wanted by", "! A t-3", None, "1,5", "#b00020"),
        ("wanted by", "B gate-0", None, "1,5", ink),
    ]
    lines = words(picture(zones, 1))
    assert "reached from a1, a2" in lines and "not allocated" in lines and "reserved for nobody" in lines


def test_a_pod_that_holds_what_is_not_reserved_for_it_has_an_edge_of_its_own(sharing: Trace) -> None:
    told = [(said, end) for said, end, *_ in edges(picture(sharing, 0))]
    assert told == [
        ("allocated", "n1/d0"),
        ("held by", "A p1"),
        ("! held, not reserved", "! A p2"),
        ("allocated", "n1/d1"),
        ("! held by", "! A p2"),
        ("reserved for", "p3"),
    ]


def test_a_pod_on_its_way_is_promised_what_is_not_reserved_yet() -> None:
    states = (PodState.ASSUMED, PodState.PROMISED, PodState.BINDING, PodState.BOUND)
    pods = tuple(PodView(f"default/p{i}", state, node="n") for i, state in enumerate(states))
    claim = ClaimView("default/c", "n/d0", holders=tuple(p.key for p in pods), written=False)
    trace = Trace("t", (Frame((NodeView("n"),), pods, (), (claim,)),))
    assert [(said, end, dashes) for said, end, _, dashes, _ in edges(picture(trace, 0))] == [
        ("chosen, not written", "n/d0", "5,2"),
        ("promised to", "p0, p1, p2", "5,2"),
        ("held, not reserved", "p3", None),
    ]


def test_a_claim_that_a_thousand_members_share_is_drawn_like_one_that_two_share() -> None:
    pods = tuple(PodView(f"default/p{i}", PodState.BOUND, "default/g", "n") for i in range(1000))
    claim = ClaimView(
        "default/c", "n/d0", holders=tuple(p.key for p in pods), reserved_for_groups=("default/g",)
    )
    trace = Trace("t", (Frame((NodeView("n"),), pods, (GroupView("default/g"),), (claim,)),))
    assert [(said, end) for said, end, *_ in edges(picture(trace, 0))] == [
        ("allocated", "n/d0"),
        ("reserved for", "A group g"),
        ("held by", "A p0, p1, p2 and 997 more"),
    ]
    assert len(picture(trace, 0)) < 8_000


def test_of_many_edges_those_by_which_the_clause_broke_are_shown_and_the_others_counted(crowd: Trace) -> None:
    lines = words(picture(crowd, 1))
    assert [end for said, end, *_ in edges(picture(crowd, 1)) if said == "! wanted by"] == [
        "! F team/pod-607, team/pod-621,"
    ] * 2
    assert lines.count("and 25 more") == 2, "a device, seven groups, the holders of seven and who waits of 14"


def test_an_edge_that_this_step_made_is_told_in_bold() -> None:
    node, pod = NodeView("n"), PodView("default/p", PodState.BOUND, node="n")
    before = ClaimView("default/c", "n/d0", wanted_by=("default/p",))
    after = ClaimView("default/c", "n/d0", reserved_for=("default/p",), holders=("default/p",))
    trace = Trace(
        "t", tuple(Frame((node,), (pod,), (), (c,)) for c in (before, after)), (Event("reserves c"),)
    )
    bold = [
        element.text
        for element in ElementTree.fromstring(picture(trace, 1)).iter(f"{SVG}text")
        if element.attrib.get("font-weight") == "bold"
    ]
    assert "held by" in bold and "allocated" not in bold


def test_edges_in_mermaid_and_text(zones: Trace) -> None:
    chart = str(draw(zones, "mermaid", 1)).splitlines()
    assert '  c0 ==>|"allocated"| c0e0["a1/d0<br/>reached from a1, a2"]' in chart
    assert '  c0 -.->|"reserved for"| c0e1["A group train"]' in chart
    assert sum(line.startswith('  c0 -->|"held by"| n0x0p') for line in chart) == 2
    assert (
        " *claim gpu-share: allocated a1/d0 reached from a1, a2 · reserved for group train · held by t-0, t-1"
        in str(draw(zones, "text", 1)).splitlines()
    )


def test_a_deadlock_is_a_cycle_in_red(deadlock: Trace) -> None:
    drawn = picture(deadlock, 1)
    assert "deadlock: each waits for the next" in words(drawn)
    edges = [p for p in ElementTree.fromstring(drawn).iter(f"{SVG}path") if p.attrib.get("fill") == "none"]
    assert sorted(e.attrib["stroke"] for e in edges) == ["#5f6b76"] + ["#b00020"] * 4
    assert any("for ever" in line for line in words(drawn))


def test_a_pod_that_vanished_is_shown_once_as_gone() -> None:
    before = Frame((NodeView("n"),), (PodView("default/p", PodState.BOUND, node="n"),))
    empty = Frame((NodeView("n"),))
    trace = Trace("t", (before, empty, empty), (Event("deletes p"), Event("nothing happens")))
    assert "bound → gone" in words(picture(trace, 1))
    assert not any("gone" in line for line in words(picture(trace, 2)))


def test_of_a_crowd_the_ones_that_matter_are_shown(crowd: Trace) -> None:
    lines = words(picture(crowd, 1))
    assert "! F team/pod-649" in lines and "! node worker-n…g-name-59" in lines
    assert "and 8 more groups, and 48 more nodes, and 12 more claims" in lines
    assert "and 37 more" in lines


def test_long_names_are_short_with_the_whole_as_tooltip() -> None:
    name = "training-job-with-a-very-long-name-0042"
    trace = Trace("t", (Frame(pods=(PodView(f"default/{name}", PodState.ACTIVE),)),))
    assert "training…name-0042" in words(picture(trace, 0))
    assert f"<title>{name}, active</title>" in picture(trace, 0)


def test_hostile_names_are_shown_as_they_are(hostile: Trace) -> None:
    lines = words(picture(hostile, 1))
    assert any(line == "! node <b>bold</b>  <b>bold</b>" for line in lines)
    assert any("\\N \\G" in line for line in lines), (
        "Graphviz would put its own names in the place of \\N and \\G"
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend(attrs)


def test_the_page_is_one_file_without_network_and_without_foreign_markup(trace: Trace) -> None:
    page = _Page()
    text = str(draw(trace, "html"))
    page.feed(text)
    assert page.tags.count("script") == 1 and "b" not in page.tags[page.tags.index("main") :]
    assert not {"link", "img", "iframe", "object", "base"} & set(page.tags)
    assert not [
        name for name, _ in page.attributes if name in ("src", "href", "xlink:href") or name.startswith("on")
    ]
    assert page.tags.count("section") == len(trace.frames) == page.tags.count("svg")
    assert "default-src 'none'" in text


def test_the_page_tells_every_event_and_the_scenario(half_a_gang: Trace) -> None:
    text = str(draw(half_a_gang, "html"))
    assert all(event.text in text for event in half_a_gang.events)
    assert "pod p2: promised → unschedulable" in text
    assert "fail: [bind/p2]" in text


def test_mermaid_labels_hold_nothing_that_mermaid_reads(hostile: Trace) -> None:
    for line in str(draw(hostile, "mermaid")).splitlines():
        for label in re.findall(r'"([^"]*)"', line):
            assert re.fullmatch(r"(?:[A-Za-z0-9 .,:/+\-=_()!]|#\d+;|<br/>)*", label)
        assert re.fullmatch(r"[\w :#,.;\-=>|\[\](){}]*", re.sub(r'"[^"]*"', "", line))


def test_dot_quotes_everything(hostile: Trace) -> None:
    source = str(draw(hostile, "dot", 1))
    assert "<script" not in source and "<b>" not in source


@pytest.mark.parametrize("frame", [-1, 4])
@pytest.mark.parametrize("format", ["svg", "png", "dot", "mermaid", "text"])
def test_a_frame_that_does_not_exist_is_refused(half_a_gang: Trace, format: str, frame: int) -> None:
    with pytest.raises(IndexError, match=f"frame {frame} found, 0 to 3 expected"):
        draw(half_a_gang, format, frame)


def test_formats_are_named_in_the_error(half_a_gang: Trace) -> None:
    with pytest.raises(ValueError, match="format 'gif' found, one of svg, png, dot, mermaid, text, html"):
        draw(half_a_gang, "gif")
    with pytest.raises(ValueError, match="'html' holds the whole trace, not frame 1"):
        draw(half_a_gang, "html", 1)


def test_any_frames_stand_side_by_side(half_a_gang: Trace) -> None:
    lines = words(several(half_a_gang, 1, 2, 3))
    moments = [line for line in lines if re.fullmatch("step . of 3", line)]
    assert moments == ["step 1 of 3", "step 2 of 3", "step 3 of 3"]
    assert several(half_a_gang) == several(half_a_gang, 0, 2, 3)


def test_png_is_a_png(half_a_gang: Trace) -> None:
    assert bytes(draw(half_a_gang, "png", 3)).startswith(b"\x89PNG\r\n")


def test_text_boxes_fit_the_terminal(half_a_gang: Trace, zones: Trace, deadlock: Trace, crowd: Trace) -> None:
    for each in (half_a_gang, zones, deadlock, crowd):
        assert max(map(len, str(draw(each, "text")).splitlines())) <= 100


DIGEST = """
import hashlib
import handmade_traces
from gangproof.counterexamples import FORMATS, draw
digest = hashlib.sha256()
for name in handmade_traces.NAMES:
    trace = getattr(handmade_traces, name)()
    for format in FORMATS if name == "half_a_gang" else ("svg", "html", "mermaid", "text", "json", "itf"):
        drawn = draw(trace, format)
        digest.update(drawn if isinstance(drawn, bytes) else drawn.encode())
print(digest.hexdigest())
"""


def test_the_same_trace_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    found: set[str] = set()
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1
