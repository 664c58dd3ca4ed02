"""SVG and PNG of a picture, drawn by Graphviz from pip: nothing has to be installed on the system.

Graphviz draws each filled shape twice, spells rounded boxes as curves and repeats the font at each text.
What is kept is a third of that: one rectangle with a title (a tooltip in every browser) and plain text. The
picture brings its own white paper, so it can be read on a dark page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from gangproof.counterexamples.names import clean

_SVG = "{http://www.w3.org/2000/svg}"
_TITLE = "{http://www.w3.org/1999/xlink}title"
METRICS = "Verdana"
"""The font in which a graph that becomes SVG is measured: as wide as any in which a viewer may show it."""

_FONT = "Helvetica, Arial, 'Liberation Sans', Verdana, 'DejaVu Sans', sans-serif"
_USUAL = {"font-size": "9", "fill": "#1f2933"}
_RADIUS = 5
_THICKEST = 3


class DrawingError(RuntimeError):
    """Graphviz is missing or refused the picture."""


def svg(source: str, title: str) -> str:
    """The DOT graph as one SVG element, without ids, so that several fit on a page. Raises `DrawingError`."""
    return _tidy(_run("svg", source), clean(title))


def png(source: str, dpi: int = 144) -> bytes:
    """The DOT graph as a PNG image. Raises `DrawingError`."""
    return _run("png", source, f"-Gdpi={dpi}")


def _run(form: str, source: str, *options: str) -> bytes:
    beside = str(Path(sys.executable).parent)
    program = shutil.which("graphviz-pure", path=beside) or shutil.which("graphviz-pure")
    if program is None:
        raise DrawingError("graphviz-pure is not installed: pip install graphviz-pure")
    arguments = [program, "-Kdot", f"-T{form}", "-q", *options]
    done = subprocess.run(arguments, input=source.encode(), capture_output=True, check=False)
    if done.returncode or not done.stdout:
        raise DrawingError(
            done.stderr.decode(errors="replace").strip() or f"graphviz-pure ended with {done.returncode}"
        )
    return done.stdout


def _tidy(drawn: bytes, title: str) -> str:
    root = ElementTree.fromstring(drawn)
    graph = root.find(f"{_SVG}g")
    assert graph is not None
    width, height = (float(root.attrib[name].removesuffix("pt")) for name in ("width", "height"))
    shift = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", graph.attrib["transform"])
    assert shift is not None
    out = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {height:g}",
            "width": f"{width:g}",
            "height": f"{height:g}",
            "role": "img",
            "font-family": _FONT,
            "xml:space": "preserve",
        },
    )
    ElementTree.SubElement(out, "title").text = title
    ElementTree.SubElement(out, "rect", {"width": "100%", "height": "100%", "fill": "#FFFFFF"})
    inside = ElementTree.SubElement(out, "g", {"transform": f"translate({shift[1]} {shift[2]})", **_USUAL})
    for child in list(graph)[2:]:
        inside.extend(_shapes(child))
    return ElementTree.tostring(out, encoding="unicode") + "\n"


def _shapes(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """What the element draws, flat but for groups that carry a tooltip."""
    name = element.tag.removeprefix(_SVG)
    if name == "a":
        tooltip = element.attrib.get(_TITLE, "").strip()
        group = ElementTree.Element("g")
        if tooltip:
            ElementTree.SubElement(group, "title").text = tooltip
        group.extend(_flowing(_merged(element)))
        yield from [group] if tooltip else group
    elif name == "g":
        yield from _merged(element)
    elif name == "text" and (element.text or "").strip():
        yield _text(element)
    elif name in ("polygon", "path", "ellipse", "polyline"):
        yield _shape(element, name)


def _merged(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The shapes inside, a filled one and its outline made one."""
    filled: ElementTree.Element | None = None
    for child in element:
        for shape in _shapes(child):
            if filled is not None and shape.tag == "rect" and _is_outline(shape, filled):
                shape.set("fill", filled.attrib["fill"])
            elif filled is not None:
                yield filled
            filled = None
            if shape.tag == "rect" and "stroke" not in shape.attrib:
                filled = shape
            else:
                yield shape
    if filled is not None:
        yield filled


def _flowing(shapes: Iterable[ElementTree.Element]) -> Iterator[ElementTree.Element]:
    """The shapes of one cell with the pieces of a line made one text, so that any font sets it evenly."""
    line: ElementTree.Element | None = None
    for shape in shapes:
        if line is not None and shape.tag == "text" and shape.attrib["y"] == line.attrib["y"]:
            if line.text:
                line.append(_piece(line))
                line.text, line.attrib = None, {key: line.attrib[key] for key in ("x", "y")}
            line.append(_piece(shape))
            continue
        line = shape if shape.tag == "text" else None
        yield shape


def _piece(words: ElementTree.Element) -> ElementTree.Element:
    piece = ElementTree.Element("tspan", {k: v for k, v in words.attrib.items() if k not in ("x", "y")})
    piece.text = words.text
    return piece


def _is_outline(shape: ElementTree.Element, filled: ElementTree.Element) -> bool:
    """Whether the shape bounds the filled one; a thick line may lie a little inside or outside."""
    return "stroke" in shape.attrib and all(
        abs(float(shape.attrib[side]) - float(filled.attrib[side])) <= 2 * _THICKEST
        for side in ("x", "y", "width", "height")
    )


def _text(element: ElementTree.Element) -> ElementTree.Element:
    words = ElementTree.Element(
        "text", {"x": _number(element.attrib["x"]), "y": _number(element.attrib["y"])}
    )
    for name in ("font-size", "font-weight", "font-style", "text-decoration", "fill"):
        value = element.attrib.get(name)
        if value is not None:
            value = _number(value) if name == "font-size" else value
            if _USUAL.get(name) != value:
                words.set(name, value)
    if element.attrib.get("text-anchor", "start") != "start":
        words.set("text-anchor", element.attrib["text-anchor"])
    words.text = element.text
    return words


def _shape(element: ElementTree.Element, name: str) -> ElementTree.Element:
    points = [
        (float(x), float(y))
        for x, y in re.findall(
            r"(-?[\d.]+),(-?[\d.]+)", element.attrib.get("points", element.attrib.get("d", ""))
        )
    ]
    box = len(points) == (25 if name == "path" else 5) and points[0] == points[-1]
    if box and name in ("path", "polygon"):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        sizes = {"x": min(xs), "y": min(ys), "width": max(xs) - min(xs), "height": max(ys) - min(ys)}
        shape = ElementTree.Element("rect", {key: _number(value) for key, value in sizes.items()})
        if name == "path":
            shape.set("rx", str(_RADIUS))
    else:
        shape = ElementTree.Element(name)
        for key in ("d", "points", "cx", "cy", "rx", "ry"):
            if key in element.attrib:
                shape.set(key, re.sub(r"-?\d+\.\d+", lambda m: _number(m[0]), element.attrib[key]))
    for key in ("fill", "stroke", "stroke-width", "stroke-dasharray"):
        value = element.attrib.get(key)
        if value is not None and (key, value) != ("stroke", "none"):
            shape.set(key, value)
    if "stroke" not in shape.attrib:
        shape.attrib.pop("stroke-dasharray", None)
    return shape


def _number(value: str | float) -> str:
    return f"{float(value):.1f}".removesuffix(".0")
