"""An adapter that fails on demand: what a step asks for is what goes wrong. In process and as JSON lines.

It has no scheduler: pods are created and looked at, nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


class Faulty:
    """Keeps the names of the pods that were created, and does as it is told by `fail` steps."""

    def __init__(self) -> None:
        self.pods: dict[str, dict[str, str]] = {}

    def hello(self) -> dict[str, Any]:
        return {"name": "faulty", "version": "0", "protocol": 1, "can": ["create", "delete", "fail"]}

    def load(self, setup: dict[str, Any]) -> None:
        self.pods = {}
        if setup.get("name") == "crash at load":
            raise RuntimeError("no room\nfor more")

    def do(self, step: dict[str, Any]) -> None:
        for pod in step.get("create", ()):
            self.pods[pod["metadata"]["name"]] = {}
        for fault in step.get("fail", ()):
            self.fail(fault)
        if "restart" in step:
            raise NotImplementedError("restart: no such step")

    def fail(self, fault: str) -> None:
        match fault:
            case "crash":
                raise RuntimeError("it is broken")
            case "exit":
                print("first line\nthe last words", file=sys.stderr, flush=True)
                os._exit(7)
            case "hang":
                time.sleep(60)
            case "look":
                self.pods["p"] = {"node": 3}  # type: ignore[dict-item]

    def settle(self, idle: float) -> None:
        self.idle = idle

    def observe(self) -> dict[str, Any]:
        return {"t": 0, "pods": self.pods}

    def log(self) -> dict[str, Any]:
        return {"events": [], "cycles": 0}


def serve() -> None:
    """The same as JSON lines; a fault `garbage` answers with what is no JSON."""
    if "slow" in sys.argv:
        time.sleep(0.5)
    it = Faulty()
    for line in sys.stdin:
        request = json.loads(line)
        match request["request"]:
            case "hello":
                answer = it.hello()
            case "load":
                it.load(request["setup"])
                answer = {"ok": True}
            case "do" if "garbage" in request["step"].get("fail", ()):
                print("this is no answer", flush=True)
                continue
            case "do":
                try:
                    it.do(request["step"])
                    answer = {"ok": True}
                except NotImplementedError as error:
                    answer = {"error": str(error)}
            case "settle":
                it.settle(request["idle"])
                answer = {"ok": True}
            case "observe":
                answer = {"look": it.observe()}
            case _:
                answer = it.log()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
