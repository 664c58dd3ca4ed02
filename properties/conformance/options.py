"""What a random world is set up with: feature gates, how the scheduler is driven, and what is drawn how often."""

from __future__ import annotations

from random import Random
from typing import Literal

from gangproof.properties.conformance.inhabitants import Habits, Object, chance

Features = Literal["core", "preemption", "topology", "claims", "templates"]
CLAIMS = ("claims", "templates")

GENERIC = {"GenericWorkload": True}
GANGS = {**GENERIC, "GangScheduling": True}
ALIKE, MIXED = (0,), (0, 10, 10, 100)
MOST_NODES = 4


def gates(features: Features, random: Random) -> dict[str, bool]:
    """The feature gates that are not as they are by default."""
    on = GENERIC if chance(random, 0.12) else GANGS
    on = dict(on) if chance(random, 0.96) else {}
    if chance(random, 0.4):
        on["SchedulerPopFromBackoffQ"] = False
    if chance(random, 0.2):
        on["SchedulerAsyncPreemption"] = False
    if features == "preemption" and "GangScheduling" in on and chance(random, 0.6):
        on["WorkloadAwarePreemption"] = True
    if features == "topology" and "GenericWorkload" in on:
        on["TopologyAwareWorkloadScheduling"] = True
        if "GangScheduling" in on and chance(random, 0.25):
            on["WorkloadAwarePreemption"] = True
    if features in CLAIMS and "GenericWorkload" in on and chance(random, 0.85):
        on["DRAWorkloadResourceClaims"] = True
    return on


def setup(features: Features, random: Random) -> Object:
    """How the scheduler is set up: its scores, the order of members, backoff.

    By name a recorder takes domains in a way of its own, so where there are any the scheduler scores them.
    """
    options: Object = {}
    score = random.choices(("rank", "default", "fixed"), (0 if features == "topology" else 7, 2, 1))[0]
    if score != "rank":
        options["score"] = score
        options["seed"] = random.randrange(1, 1000)
    if score == "fixed":
        options["nodeScores"] = {f"n{n}": random.choice((0, 50, 100)) for n in range(1, MOST_NODES + 1)}
    if chance(random, 0.15):
        options["order"] = "real"
    if chance(random, 0.1):
        options["noBackoff"] = True
    if features == "templates":
        options["claimController"] = True
    return options


def habits(features: Features, random: Random) -> Habits:
    """What is drawn how often in a world with these features."""
    constraints = random.choice((0.0, 0.0, 0.1, 0.3))
    resources = random.choice((0.0, 0.0, 0.2))
    preferences = random.choice((0.0, 0.0, 0.2))
    gated = random.choice((0.0, 0.0, 0.15))
    graceful = random.choice((0.0, 0.3, 1.0))
    if features == "preemption":
        return Habits(
            constraints=constraints / 2,
            priorities=MIXED,
            never=random.choice((0.0, 0.0, 0.1)),
            gated=gated / 2,
            graceful=graceful,
            lasting=random.choice((0.0, 0.0, 0.0, 0.1)),
            ranked=0.7,
            resources=resources / 2,
            preferences=preferences / 2,
        )
    mixed = chance(random, 0.3)
    if features in CLAIMS:
        return Habits(
            constraints=constraints / 3,
            priorities=MIXED if mixed else ALIKE,
            never=random.choice((0.0, 1.0)) if mixed else 0.1,
            gated=gated / 3,
            graceful=graceful,
            claims=random.choice((0.4, 0.7, 0.9)),
            templates=0.6 if features == "templates" else 0.0,
        )
    return Habits(
        constraints=constraints,
        priorities=MIXED if mixed else ALIKE,
        never=1.0 if mixed else 0.1,
        gated=gated,
        graceful=graceful,
        topology=0.8 if features == "topology" else 0.0,
        ranked=0.3 if features == "topology" else 0.0,
        resources=resources,
        preferences=preferences,
    )
