"""Known mistakes of gang schedulers, each as a change of one or two steps, and whether they are caught.

A fault that no property catches shows a hole in the properties, or in the state that the model carries.
"""

from __future__ import annotations

from importlib.resources import files

from gangproof.properties.faults import (
    claiming,
    control,
    counting,
    placing,
    queueing,
    rounds,
    verdicts,
    victims,
)
from gangproof.properties.faults.fault import Fault
from gangproof.properties.faults.run import FaultResult, Unfaulted, run_fault, without_fault

FAULTS: tuple[Fault, ...] = tuple(
    sorted(
        (
            *claiming.FAULTS,
            *control.FAULTS,
            *counting.FAULTS,
            *placing.FAULTS,
            *queueing.FAULTS,
            *rounds.FAULTS,
            *verdicts.FAULTS,
            *victims.FAULTS,
        ),
        key=lambda fault: fault.id,
    )
)
"""Every fault, in the order of the ids."""


def cases_text() -> str:
    """The smallest case of each fault as scenario documents, each under the fault's id."""
    return (files(__package__ or "") / "cases.scenario.yaml").read_text(encoding="utf-8")


__all__ = ["FAULTS", "Fault", "FaultResult", "Unfaulted", "cases_text", "run_fault", "without_fault"]
