"""A scenario as plain data: the value that a scenario file denotes, and that a runner follows.

Names are resolved: a pod, group, workload, job, claim or budget is meant by its key `namespace/name`,
anything else by its name; patterns such as `p[1-4]` are written out. Durations are in milliseconds. Created
objects are those of `gangproof.impl.objects` with uid 0: the order of creation is the runner's to number. A
`line` says where something stands in its file and takes no part in equality.
"""

from __future__ import annotations

from typing import Literal

from attrs import Factory, field, frozen

from gangproof.impl.gates import SCENARIO_GATES, FeatureGates
from gangproof.impl.table import Table
from gangproof.properties.scenarios.expectations import Expectation
from gangproof.properties.scenarios.records import Created, Kind, Ref, line_field

Profile = Literal["intended", "v1.36.3"]
Result = Literal["scheduled", "unschedulable", "error", "absent"]
Component = Literal["scheduler", "admission", "claim-controller", "job-controller", "protection-controller"]


@frozen
class Create:
    """Create the objects, in this order."""

    objects: tuple[Created, ...]
    line: int = line_field()


@frozen
class Delete:
    """Delete the objects, in this order."""

    objects: tuple[Ref, ...]
    line: int = line_field()


@frozen
class Change:
    """New values for some attributes of one object, named as in `gangproof.impl.objects`.

    A value for `requests`, `scoring_requests` or `allocatable` is a table of the quantities that change.
    Attributes that may never change can be here too: the API refuses that.
    """

    ref: Ref
    values: Table[object]


@frozen
class Update:
    """Change the objects, in this order."""

    changes: tuple[Change, ...]
    line: int = line_field()


@frozen
class Finish:
    """These bound pods end, as Succeeded or as Failed."""

    pods: tuple[str, ...]
    phase: Literal["Succeeded", "Failed"]
    line: int = line_field()


@frozen
class Settle:
    """Run until nothing more can happen without an outside event."""

    line: int = line_field()


@frozen
class Call:
    """One kind of asynchronous work for one pod: the wait in permit, the binding calls, the eviction.

    Two are for a group, whose key `pod` is then: making its claims, and naming them in its status.
    """

    kind: Literal["permit", "prebind", "bind", "delete", "generate", "record"]
    pod: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.pod.removeprefix('default/')}"


@frozen
class Hold:
    """The next such calls stay open until they are released."""

    calls: tuple[Call, ...]
    line: int = line_field()


@frozen
class Release:
    """Such calls, open ones and later ones, may end."""

    calls: tuple[Call, ...]
    line: int = line_field()


@frozen
class Fail:
    """The next such call fails, once each."""

    calls: tuple[Call, ...]
    line: int = line_field()


@frozen
class Flush:
    """The periodic flush of the queue, with every entry old enough."""

    line: int = line_field()


@frozen
class Advance:
    """That much time passes, with every timer that falls due in it."""

    milliseconds: int
    line: int = line_field()


@frozen
class Restart:
    """A component loses its memory and reads everything anew."""

    component: Literal["scheduler"] = "scheduler"
    line: int = line_field()


@frozen
class View:
    """What one component sees of one kind of object."""

    component: Component
    kind: Kind

    def __str__(self) -> str:
        return f"{self.component}/{self.kind}"


@frozen
class Lag:
    """From here on these views do not move."""

    views: tuple[View, ...]
    line: int = line_field()


@frozen
class CatchUp:
    """These views see everything, in order, and are prompt again."""

    views: tuple[View, ...]
    line: int = line_field()


@frozen
class Expect:
    """Settle; then all of it holds in every run."""

    expectations: tuple[Expectation, ...]
    line: int = line_field()


@frozen
class Possible:
    """Settle; then all of it holds in at least one run. It filters nothing."""

    expectations: tuple[Expectation, ...]
    line: int = line_field()


@frozen
class Attempt:
    """One cycle runs, for this pod or group, with this result; `during` happens after it took its view."""

    entity: Ref
    result: Result
    during: tuple[Create | Delete | Update, ...] = ()
    line: int = line_field()


Step = (
    Create
    | Delete
    | Update
    | Finish
    | Settle
    | Expect
    | Possible
    | Attempt
    | Hold
    | Release
    | Fail
    | Flush
    | Advance
    | Restart
    | Lag
    | CatchUp
)


@frozen
class SchedulerOptions:
    """What a scenario fixes in the scheduler.

    `node_scores` replaces the scoring by fixed scores of 0 to 100, a node that is not named has 0
    (SCORE-13); with `rank` nodes and placements are taken in the order of their names (SCORE-14). At most
    one of the two is set.
    """

    node_scores: Table[int] | None = None
    rank: bool = False
    backoff_initial: int = 1000
    backoff_max: int = 10000
    profiles: tuple[str, ...] = ("default-scheduler",)


@frozen
class Scenario:
    """One document; `profile` None means that it holds in both. `file` and `line` say where it begins."""

    id: str
    title: str
    steps: tuple[Step, ...]
    gates: FeatureGates = SCENARIO_GATES
    scheduler: SchedulerOptions = Factory(SchedulerOptions)
    profile: Profile | None = None
    source: str = ""
    verified: bool = False
    unverified: bool = False
    file: str = field(default="", eq=False)
    line: int = line_field()
