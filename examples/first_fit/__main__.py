"""The same scheduler as JSON lines on standard input and output, as one in any other language would be."""

from __future__ import annotations

import json
import sys

from examples.first_fit import FirstFit

scheduler = FirstFit()
for line in sys.stdin:
    request = json.loads(line)
    match request["request"]:
        case "hello":
            answer = scheduler.hello()
        case "load":
            scheduler.load(request["setup"])
            answer = {"ok": True}
        case "do":
            scheduler.do(request["step"])
            answer = {"ok": True}
        case "settle":
            scheduler.settle(request["idle"])
            answer = {"ok": True}
        case "observe":
            answer = {"look": scheduler.observe()}
        case "log":
            answer = scheduler.log()
        case other:
            answer = {"error": f"request: found {other}, expected one of the protocol"}
    print(json.dumps(answer), flush=True)
