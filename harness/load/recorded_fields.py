"""The fields of a recorded run, and which of its events the model does not follow yet."""

from __future__ import annotations

from gangproof.load.schema import (
    BOOLEAN,
    IGNORED,
    INTEGER,
    STRING,
    STRINGS,
    Either,
    Fields,
    ListOf,
    MapOf,
    Scalar,
)

UNTOLD = ("evict", "held", "failed")
"""Entries that tell of a call of the scheduler; what comes of it has entries of its own."""

NUMBER = Scalar("quantity", (int, float))
OBJECTS = ListOf(MapOf(IGNORED))
STEP = Fields(
    {
        "create": OBJECTS,
        "update": OBJECTS,
        "delete": STRINGS,
        "settle": Either({bool: BOOLEAN, dict: Fields({"idle": INTEGER})}, "true or a mapping with idle"),
        "cycles": INTEGER,
        "advance": NUMBER,
        "kill": STRINGS,
        "finish": STRINGS,
        "crash": STRINGS,
        "hold": STRINGS,
        "release": STRINGS,
        "fail": STRINGS,
        "during": ListOf(IGNORED),
        "attempt": BOOLEAN,
        "restart": BOOLEAN,
        "reap": BOOLEAN,
        "snapshot": BOOLEAN,
    }
)
SCENARIO = Fields(
    {
        "name": STRING,
        "gates": MapOf(BOOLEAN),
        "steps": ListOf(STEP),
        "score": STRING,
        "nodeScores": MapOf(INTEGER),
        "profiles": STRINGS,
        "order": STRING,
        "graceful": BOOLEAN,
        "eager": BOOLEAN,
        "trace": BOOLEAN,
        "noBackoff": BOOLEAN,
        "claimController": BOOLEAN,
        "watchDelay": INTEGER,
        "callDelay": INTEGER,
        **dict.fromkeys(("seed", "hotLimit", "noKubelet", "atomic", "parallelism", "restless"), IGNORED),
    }
)
POD = Fields(
    {
        "node": STRING,
        "nominated": STRING,
        "cond": STRING,
        "message": STRING,
        "deleting": BOOLEAN,
        "queue": STRING,
        "plugins": STRINGS,
        "attempts": INTEGER,
    }
)
CLAIM = Fields(
    {
        "allocation": Fields(
            {
                "devices": Fields(
                    {
                        "results": ListOf(
                            Fields({"driver": STRING, "pool": STRING, "device": STRING, "request": STRING})
                        ),
                        "config": IGNORED,
                    }
                ),
                "nodeSelector": IGNORED,
                "allocationTimestamp": IGNORED,
            }
        ),
        "reservedFor": ListOf(
            Fields({"apiGroup": STRING, "resource": STRING, "name": STRING, "uid": STRING})
        ),
        "devices": IGNORED,
    }
)
CONDITION = Fields(
    {
        "type": STRING,
        "status": STRING,
        "reason": STRING,
        "message": STRING,
        "lastTransitionTime": IGNORED,
        "observedGeneration": IGNORED,
    }
)
SNAPSHOT = Fields(
    {
        "t": NUMBER,
        "cycles": INTEGER,
        "pods": MapOf(POD),
        "podGroups": MapOf(ListOf(CONDITION)),
        "claims": MapOf(CLAIM),
    }
)
EVENT = Fields({"t": NUMBER, "cycle": INTEGER, "ev": STRING, "obj": STRING, "node": STRING, "msg": STRING})
RUN = Fields(
    {
        "kind": IGNORED,
        "stable": IGNORED,
        "scenario": SCENARIO,
        "result": Fields(
            {
                "name": STRING,
                "error": STRING,
                "snapshots": ListOf(SNAPSHOT),
                "log": ListOf(EVENT),
                "cycles": INTEGER,
                "marks": ListOf(INTEGER),
                "hotLoop": IGNORED,
                "errors": IGNORED,
            }
        ),
    }
)
"""One run: what was done, and what came of it."""
