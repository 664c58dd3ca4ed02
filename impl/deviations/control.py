"""Deviations of the Job controller: names that are too long, and views that are too old."""

from __future__ import annotations

from gangproof.impl.controllers.job_sync import in_view
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.objects import Job
from gangproof.impl.rules import Change
from gangproof.impl.steps import FindStep, TemplateStep


def in_full(old: TemplateStep) -> TemplateStep:
    """The template is called like the Job, with six characters more, whether that is a label or not (CTRL-08)."""

    def template(job: Job) -> str:
        return f"{job.name}-pgt-0"

    return template


def from_the_cache(old: FindStep) -> FindStep:
    """Only the controller's view is looked at, so a Workload that it has not seen is not there (CTRL-22)."""
    return in_view


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-46",
            "a Job with a name of 58 to 61 characters asks for a Workload that is refused, again and again",
            {"template": in_full},
        ),
        promise="every eligible Job works",
        intended="the name of the template is shortened to a DNS label",
        breaks=("LIVE-15",),
        rules=("CTRL-08",),
        scenario="DEV-46-shipped",
    ),
    Deviation(
        Change(
            "DEV-48",
            "a sync that does not see the Workload yet takes the Job for an old one, and makes pods without a group",
            {"find": from_the_cache},
        ),
        promise="all pods of a Job are grouped",
        intended="a sync that finds no Workload or PodGroup in its view reads what is stored",
        breaks=("INV-34",),
        rules=("CTRL-22",),
        race=True,
    ),
)
