"""What a terminal, a pipe or a log needs: text that always gets through, progress only where a person looks.

Answers go to standard output, everything else to standard error. A reader that closes the pipe, a stream that
is closed from the start and an encoding without the character are no reasons to fail.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import ParamSpec

import typer
from attrs import frozen

from gangproof.errors import InputError

P = ParamSpec("P")
USAGE = 2
INTERRUPTED = 3
INTERNAL = 70


@frozen
class Session:
    """What holds for every command: whether an internal error shows its traceback."""

    debug: bool = False


class UsageError(Exception):
    """A command line, or what it names, that cannot be used; its text is the message. Exit code 2."""


def prepare() -> None:
    """Let every character through, escaped where the encoding lacks it; replace streams that are closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (lives as long as the program)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def emit(answer: str | bytes) -> None:
    """Write an answer to standard output, text with a line break at its end."""
    try:
        if isinstance(answer, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(answer)
        else:
            sys.stdout.write(answer if answer.endswith("\n") else answer + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more. What is left in the buffer must not fail again when Python closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Write something beside the answer to standard error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def progress(what: str) -> Generator[Callable[[str], None]]:
    """Gives a function that shows how far it has come: on a terminal, in one line that goes away again."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    with console.status(escape(what)) as status:
        yield lambda text: status.update(escape(f"{what}: {text}"))


def command(function: Callable[P, int]) -> Callable[P, None]:
    """Make a command of a function that gives an exit code, with every way to fail told in one message."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = function(*args, **kwargs)
        except (InputError, UsageError) as error:
            tell(f"error: {error}" if isinstance(error, UsageError) else str(error))
            code = USAGE
        except KeyboardInterrupt:
            code = _interrupted()
        except OSError as error:
            tell(f"error: found {error.strerror or error} while reading or writing, expected none")
            code = USAGE
        except Exception as error:  # the one place where a mistake of our own becomes an exit code
            code = _failed(error, getattr(kwargs.get("context"), "obj", None))
        raise typer.Exit(code)

    return run


def _interrupted() -> int:
    tell("inconclusive: interrupted before anything was found")
    return INTERRUPTED


def _failed(error: Exception, session: object) -> int:
    if isinstance(error, ctypes.ArgumentError) and "KeyboardInterrupt" in str(error):
        return _interrupted()  # it came while a value was on its way into the solver
    if isinstance(session, Session) and session.debug:
        traceback.print_exception(error)
    else:
        first = next(iter(str(error).splitlines()), "")
        tell(f"internal error: {type(error).__name__}: {first[:200]}")
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("gangproof"):
            tell("after new files have come into a checkout, run make install again")
        else:
            tell("please report it to the project, with the output of: gangproof --debug COMMAND…")
    return INTERNAL
