"""What v1.36.3 does otherwise than promised, a file a topic: each deviation is a change of *intended*."""

from gangproof.impl.deviations import (
    claims,
    commit,
    condition,
    control,
    cycle,
    identity,
    members,
    nominations,
    preemption,
    queue,
    topology,
)
from gangproof.impl.deviations.deviation import Deviation

DEVIATIONS: tuple[Deviation, ...] = tuple(
    sorted(
        (
            *members.DEVIATIONS,
            *queue.DEVIATIONS,
            *commit.DEVIATIONS,
            *condition.DEVIATIONS,
            *control.DEVIATIONS,
            *cycle.DEVIATIONS,
            *identity.DEVIATIONS,
            *nominations.DEVIATIONS,
            *preemption.DEVIATIONS,
            *topology.DEVIATIONS,
            *claims.DEVIATIONS,
        ),
        key=lambda deviation: deviation.id,
    )
)
"""Every deviation of the parts that are modelled, by id."""

__all__ = ["DEVIATIONS", "Deviation"]
