"""Promises about the condition PodGroupScheduled: final once True, true when True, there when it is needed."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.properties.conformance.events import Conditioned, short
from gangproof.properties.observed.binding import tally
from gangproof.properties.observed.cluster import members, minimum, pending, placed
from gangproof.properties.observed.history import History
from gangproof.properties.observed.promise import Case, promise


@promise("condition-final", "KEP-4671 INV-13")
def condition_final(history: History) -> Iterator[Case]:
    """Once PodGroupScheduled is True it is never another for the life of the group."""
    for moment in history.moments:
        for key, before in moment.before.conditions.items():
            old, new = moment.before.groups.get(key), moment.after.groups.get(key)
            after = moment.after.conditions.get(key)
            if before.status != "True" or old is None or new is None or old.uid != new.uid:
                continue
            if after is not None and after != before:
                words = f"the condition of {short(key)} goes from True to {after.status}/{after.reason}"
                yield Case(moment.index, after.status == "True", words, (key,))
    for rest in history.rests:
        for key, condition in rest.cluster.conditions.items():
            if condition.status == "True" and any(map(pending, members(rest.cluster, key))):
                yield Case(rest.at, True)


@promise("condition-meaning", "KEP-4671 INV-14 THM-10")
def condition_meaning(history: History) -> Iterator[Case]:
    """A gang's condition turns True only when at least minCount members get their place, and then it does."""
    for rest in history.rests:
        for moment in history.moments[rest.since : rest.at]:
            event = moment.what
            if not isinstance(event, Conditioned) or event.status != "True":
                continue
            found = tally(history, event.group, moment, rest)
            if found is not None:
                kept = found.have + found.lost >= found.least
                words = (
                    f"{short(event.group)} is True, and {found.have} of {found.least} members have a place"
                )
                numbers = (("bound", found.have), ("minimum", found.least))
                aspect = "True, and too few bound"
                yield Case(rest.at, kept, words, (event.group,), aspect, numbers)
        for group in rest.cluster.groups.values():
            least = minimum(rest.cluster, group.key)
            mine = [pod for pod in members(rest.cluster, group.key) if placed(pod)]
            ours = {pod.uid for _, pod in history.binds(0, rest.at)}
            if least is None or len(mine) < least or not all(pod.uid in ours for pod in mine):
                continue
            condition = rest.cluster.conditions.get(group.key)
            kept = condition is not None and condition.status == "True"
            told = f"{condition.status}/{condition.reason}" if condition is not None else "not there"
            words = f"{len(mine)} members of {short(group.key)} are bound, and its condition is {told}"
            aspect = "not True, and the gang is bound"
            yield Case(rest.at, kept, words, (group.key,), aspect, (("bound", len(mine)), ("minimum", least)))


@promise("explained", "KEP-4671 LIVE-13 COND-02")
def explained(history: History) -> Iterator[Case]:
    """A group that was tried in vain has a condition that tells why."""
    for rest in history.rests:
        for group in rest.cluster.groups.values():
            tried = [
                pod
                for pod in members(rest.cluster, group.key)
                if pending(pod)
                and (seen := rest.look.pods.get(pod.key)) is not None
                and seen.attempts
                and not seen.place.startswith("gated")
            ]
            if tried:
                kept = group.key in rest.cluster.conditions
                words = f"{short(group.key)} was tried in vain and has no condition"
                yield Case(rest.at, kept, words, (group.key, *(pod.key for pod in tried)))


CONDITION = (condition_final, condition_meaning, explained)
