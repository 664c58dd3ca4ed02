"""`gangproof draw`: a saved trace in another form."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gangproof.cli.pictures import write
from gangproof.cli.terminal import UsageError, command, emit, tell


class Form(StrEnum):
    """The forms of a trace."""

    SVG = "svg"
    PNG = "png"
    HTML = "html"
    DOT = "dot"
    MERMAID = "mermaid"
    TEXT = "text"
    JSON = "json"
    ITF = "itf"
    SCENARIO = "scenario"
    PYTEST = "pytest"


@command
def draw(
    context: typer.Context,
    trace: Annotated[
        str, typer.Argument(metavar="TRACE.json", help="A saved trace, or - for standard input.")
    ],
    form: Annotated[Form, typer.Option("-o", "--output", help="The form to draw it in.")] = Form.SVG,
    frame: Annotated[
        int | None, typer.Option(min=0, help="One moment alone: 0 is the beginning, 1 is after step 1.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to save it; default: standard output."),
    ] = None,
) -> int:
    """Draw a saved trace (JSON or ITF) as a picture, a page, text, a scenario or a test.

    Example: gangproof draw out/INV-03.trace.json -o html --save story.html
    """
    from gangproof.counterexamples import DrawingError, TraceFormatError, itf, loads
    from gangproof.counterexamples import draw as draw_trace
    from gangproof.load.files import read

    name, text = read(trace)
    try:
        found = itf.loads(text) if '"#meta"' in text else loads(text)
        drawn = draw_trace(found, form.value, frame)
    except TraceFormatError as error:
        raise UsageError(f"{name}: {error}") from None
    except (ValueError, IndexError, DrawingError) as error:
        raise UsageError(str(error)) from None
    if save is None:
        emit(drawn)
    else:
        write(save, drawn)
        tell(f"saved: {save}")
    return 0
