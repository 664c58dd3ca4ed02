"""An adapter that is a Python class: made here, and made anew after it has failed."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from gangproof.adapters.protocol import Adapter, AdapterError, Data

T = TypeVar("T")
OPERATIONS = ("hello", "load", "do", "settle", "observe", "log")


class NotAnAdapterError(ValueError):
    """A name that leads to no adapter; the text says what was found and what is expected."""


def find_class(name: str) -> Callable[[], Adapter]:
    """The class `module:Class`, looked for in the working directory too. Raises NotAnAdapterError."""
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise NotAnAdapterError(f"found {name!r}, expected MODULE:CLASS")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a module of somebody else raises
        raise NotAnAdapterError(f"{module_name} cannot be imported: {_said(error)}") from None
    found: Any = getattr(module, attribute, None)
    if not callable(found):
        raise NotAnAdapterError(f"found no class {attribute} in {module_name}, expected one")
    lacking = [name for name in OPERATIONS if not callable(getattr(found, name, None))]
    if lacking:
        raise NotAnAdapterError(f"{name}: found no {', '.join(lacking)}, expected {', '.join(OPERATIONS)}")
    return cast("Callable[[], Adapter]", found)


class InProcess:
    """Drives the instances of a class. There is no time-out: what hangs here, hangs.

    An AdapterError that the class raises is its answer, NotImplementedError is a refusal, anything else a
    crash, after which the next `load` makes a new instance.
    """

    def __init__(self, factory: Callable[[], Adapter]) -> None:
        self._factory = factory
        self._instance: Adapter | None = None

    def hello(self) -> Data:
        return self._ask(lambda it: it.hello())

    def load(self, setup: Data) -> None:
        self._ask(lambda it: it.load(setup))

    def do(self, step: Data) -> None:
        self._ask(lambda it: it.do(step))

    def settle(self, idle: float) -> None:
        self._ask(lambda it: it.settle(idle))

    def observe(self) -> Data:
        return self._ask(lambda it: it.observe())

    def log(self) -> Data:
        return self._ask(lambda it: it.log())

    def close(self) -> None:
        instance, self._instance = self._instance, None
        end = getattr(instance, "close", None)
        if callable(end):
            end()

    def _ask(self, request: Callable[[Adapter], T]) -> T:
        try:
            if self._instance is None:
                self._instance = self._factory()
            return request(self._instance)
        except AdapterError as error:
            if error.kind != "refused":
                self._instance = None
            raise
        except NotImplementedError as error:
            raise AdapterError("refused", str(error) or "not implemented") from None
        except Exception as error:  # whatever a scheduler of somebody else raises
            self._instance = None
            raise AdapterError("crash", _said(error)) from None


def _said(error: Exception) -> str:
    """The error in a line, with the place where it was raised."""
    last = next(reversed(traceback.extract_tb(error.__traceback__)), None)
    where = f" ({Path(last.filename).name}:{last.lineno})" if last is not None else ""
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first}{where}" if first else f"{type(error).__name__}{where}"
