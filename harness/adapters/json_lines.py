"""An adapter that is a program: one request a line to its standard input, one answer a line back, in order.

A program that ends or does not answer in time is started again with the next `load`; what it last wrote to
standard error is in the error.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from gangproof.adapters.protocol import AdapterError, Data

TIMEOUT = 60.0
"""Seconds of wall time for one answer, unless said otherwise."""
GOODBYE = 5.0
"""Seconds that a program has to end once its standard input is closed."""
TAIL = 20
"""Lines of standard error that are kept."""


class JsonLines:
    """Drives a program; `timeout` is in seconds of wall time for one answer."""

    def __init__(self, command: Sequence[str], timeout: float = TIMEOUT) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._process: _Process | None = None

    def hello(self) -> Data:
        return self._ask({"request": "hello"})

    def load(self, setup: Data) -> None:
        self._done(self._ask({"request": "load", "setup": setup}))

    def do(self, step: Data) -> None:
        self._done(self._ask({"request": "do", "step": step}))

    def settle(self, idle: float) -> None:
        self._done(self._ask({"request": "settle", "idle": idle}))

    def observe(self) -> Data:
        answer = self._ask({"request": "observe"})
        if "look" not in answer:
            self._stop()
            raise AdapterError("answer", f"observe: found {_shown(answer)}, expected look")
        return answer["look"]

    def log(self) -> Data:
        return self._ask({"request": "log"})

    def close(self) -> None:
        """End the program: its standard input is closed, and if that does not do it is killed."""
        process, self._process = self._process, None
        if process is not None:
            process.end(GOODBYE)

    def _done(self, answer: Data) -> None:
        if answer.get("ok") is not True:
            self._stop()
            raise AdapterError("answer", f'found {_shown(answer)}, expected {{"ok": true}}')

    def _ask(self, request: Data) -> Data:
        try:
            if self._process is None:
                self._process = _Process(self._command)
            answer = self._process.ask(request, self._timeout)
        except BaseException:
            # An answer that is still to come would be taken for that of the next request.
            self._stop()
            raise
        if "error" in answer:
            raise AdapterError("refused", str(answer["error"]))
        return answer

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(0)


class _Process:
    """The running program, with a thread for each of its outputs."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # an interrupt is for us alone
            )
        except OSError as error:
            raise AdapterError("crash", f"{command[0]} cannot be started: {error.strerror}") from None
        self.answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.complaints: deque[str] = deque(maxlen=TAIL)
        self.threads = (
            threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._complain, args=(self.process.stderr,), daemon=True),
        )
        for thread in self.threads:
            thread.start()

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            self.answers.put(line)
        self.answers.put(None)

    def _complain(self, stream: IO[str]) -> None:
        self.complaints.extend(line.rstrip() for line in stream)

    def ask(self, request: Data, timeout: float) -> Data:
        """The answer to a request. Raises AdapterError."""
        name = request["request"]
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=timeout)
        except queue.Empty:
            raise AdapterError("hang", f"no answer to {name} within {timeout:g} s{self._tail()}") from None
        except OSError:
            line = None
        if line is None:
            raise AdapterError("crash", f"{self._ending()} at {name}{self._tail()}")
        try:
            answer: Any = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise AdapterError("answer", f"{name}: found {_shown(line.rstrip())}, expected a JSON object")
        return answer  # pyright: ignore[reportUnknownVariableType] (its form is held against the protocol's)

    def _ending(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GOODBYE)
        code = self.process.returncode
        if code is None:
            return "it closed its standard output"
        return (
            f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
        )

    def _tail(self) -> str:
        if self.process.returncode is not None:
            self.threads[1].join(1)
        said = [line for line in self.complaints if line.strip()]
        return f"; it said: {' | '.join(said)}" if said else ""

    def end(self, patience: float) -> None:
        """Close its input, wait so many seconds, kill it and what it started."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            if patience:
                self.process.wait(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for thread, stream in zip(self.threads, (self.process.stdout, self.process.stderr), strict=True):
            thread.join(1)
            if stream is not None and not thread.is_alive():
                stream.close()


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return repr(text if len(text) <= 80 else text[:77] + "…")
