"""The findings, the strongest first: without a report, then reported, then repaired, then documented limits."""

from __future__ import annotations

from gangproof.findings.finding import Finding

K = "kubernetes#"

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "stale-reservation",
        "nomination-ends (a group, it keeps others from room)",
        "A gang that cannot go on keeps its reservation",
        "no public report found",
        "All members of a gang wait for the room of victims that are on their way out. One member is "
        "deleted, and no other comes: the rest is held back, since the gang is no longer complete, "
        "but stays nominated. A weaker pod that would fit waits for good.",
        "KEP-4671 (*Failure Handling*) wants nominations cleared so that others can have the room; "
        "nothing clears them on this path. By reading unchanged in v1.37.2. A controller that "
        "replaces the member ends it. Half of the question was asked when the plugin was reviewed.",
        (f"{K}134722", f"{K}106780"),
        ("INV-37",),
    ),
    Finding(
        "beside-leaving-members",
        "whole-gang (beside members on their way out)",
        "Members on their way out count towards minCount",
        "no public report found",
        "Both members of a gang of two are being deleted, and one replacement has come. It is bound "
        "alone: the two that are ending still count.",
        "A question more than an accusation: KEP-4671 says nothing about terminating members, and in "
        "other places they hold their room. Jobs replace pods while they are ending by default, so it"
        " can be reached. By reading unchanged in v1.37.2.",
        (f"{K}138422", f"{K}142330", f"{K}136334"),
        ("DEV-20", "DEV-23"),
    ),
    Finding(
        "claim-unreserved",
        "claim-reserved",
        "A pod runs on a claim that is reserved for nobody",
        "no public report found",
        "Two pods of a group share a claim. The bind of one fails once; its sibling, which does not "
        "fit, takes the group out of the claim's reservation meanwhile. The first is then bound all "
        "the same, and nobody reserves the claim any more.",
        "A claim that nobody reserves may be deallocated and given to others (KEP-5729). It needs a "
        "failed bind. When the reservation of a group ends was changed after v1.36; whether that "
        "covers this was not tried.",
        (f"{K}139864",),
        ("CLAIM-28", "DEV-50"),
    ),
    Finding(
        "condition-goes-back",
        "condition-final",
        "PodGroupScheduled goes back from True to False",
        "no public report found",
        "A gang is bound and its condition turns True. In the next cycle a member that does not fit "
        "is tried, on a copy of the group that is older than the scheduler's own write, and False is "
        "written over it, where it stays.",
        "KEP-4671 calls True final. It is a race between the write and its way back through the "
        "watch, and needs cycles side by side.",
        (),
        ("DEV-22",),
    ),
    Finding(
        "hot-loop",
        "backoff (a group)",
        "A group that fails is tried without pause",
        "no public report found",
        "A gang that does not fit is tried again at once, over and over, as long as nobody else waits.",
        "Two deliberate choices meet: failed members always go to backoff, and with "
        "`SchedulerPopFromBackoffQ`, the default, backoff is served early when nothing else waits. "
        "Other pods still go first; it costs scheduler time. The clock is simulated, and the recorder"
        " lets a second pass after three tries in vain, so the number of tries says nothing about a "
        "cluster. By reading the loop is gone in v1.37.",
        (f"{K}137768", f"{K}138249", f"{K}138567"),
        ("DEV-12", "LIVE-09"),
    ),
    Finding(
        "own-member",
        "no-own-eviction (by a group)",
        "A group evicts its own member",
        "no public report found",
        "A member of a basic group with priority 100 is bound. Its sibling, which does not fit beside"
        " it, has it evicted: the group's priority is weighed against the pod's own, which is lower.",
        "It needs members whose priority differs from their group's. v1.36 allows that and calls it "
        "confusing; v1.37 refuses it, and lets the group's priority count for every victim.",
        (f"{K}139030", f"{K}139920", f"{K}140356"),
        ("DEV-31", "INV-04"),
    ),
    Finding(
        "namesake",
        "weaker-victim (by a group)",
        "An eviction strikes another pod that bears the victim's name",
        "no public report found",
        "A group has a pod evicted. While the call is on its way the pod is deleted, and one of its name is "
        "created, on another node and stronger than the group. The call deletes that one.",
        "The pod is deleted by its name, without its uid as a precondition; by reading that holds for the preemption "
        "of a plain pod too. Who creates pods anew under their old names, as StatefulSets do, can be hit, in the "
        "moment between decision and call.",
        (),
        ("DEV-59", "PREEMPT-30"),
    ),
    Finding(
        "half-a-gang",
        "whole-gang",
        "Half of a gang stays bound when members share a claim",
        "reported",
        "Two members share a claim that is not allocated yet. One is bound; for the other the claim "
        "*got allocated elsewhere in the meantime*, namely for its sibling, and its bind is given up."
        " A plain pod takes its room. One of two stays bound, the condition says True.",
        "The failed bind is reported; that it leaves half of a gang for good, if somebody takes the "
        "room, we found nowhere. It needs no gate of KEP-5729: a claim that pods name themselves will"
        " do.",
        (f"{K}140053",),
        ("DEV-44", "DEV-52", "INV-03"),
    ),
    Finding(
        "asleep-after-preemption",
        "woken (a group, its preemption is over)",
        "A preemptor sleeps on after its victims are gone",
        "reported",
        "Two members ask for one victim's eviction; the second call finds it gone and wakes nobody. "
        "The gang is held back for good, though a node has come on which it fits.",
        "The same befalls plain pods with default gates, which the periodic flush wakes after five "
        "minutes according to the report; here the flush does not help.",
        (f"{K}141694", f"{K}142294"),
        ("DEV-55", "DEV-53"),
    ),
    Finding(
        "finished-members",
        "woken (its gang is complete with those that succeeded)",
        "Members that succeeded do not count",
        "reported",
        "A member of a gang of two has succeeded. The second one is held back, as if the gang were "
        "not complete.",
        "Whether finished members should count is an open question upstream.",
        (f"{K}142330", f"{K}136334"),
        ("DEV-23", "LIVE-02"),
    ),
    Finding(
        "claim-out-of-reach",
        "claim-in-reach",
        "A member runs where its device cannot be reached",
        "repaired in v1.37",
        "Two members share a claim. The device that is chosen for it is on one node, a member is "
        "bound to the other.",
        "Reported in June 2026; open in v1.36.x.",
        (f"{K}140087", f"{K}140089"),
        ("DEV-41", "INV-26"),
    ),
    Finding(
        "siblings-kept-apart",
        "apart (members of one group)",
        "Anti-affinity between members is overlooked",
        "repaired in v1.37",
        "One member must not be where the other is; in one cycle both are put on the same node and bound.",
        "Reported as an index of the snapshot that is not kept up within a cycle.",
        (f"{K}139028",),
        ("DEV-02", "INV-06"),
    ),
    Finding(
        "taken-room",
        "freed-room (made by a group, taken by a weaker one)",
        "The room made by group preemption is not reserved",
        "repaired in v1.37",
        "A gang has a pod evicted; a weaker pod gets the room, is bound, and has to be evicted as well.",
        "KEP-4671 nominates the members to their nodes after a preemption. The order of events "
        "decides who gets the room; side by side, with victims that vanish at once, the gang mostly "
        "does.",
        (f"{K}138967",),
        ("DEV-37", "INV-37"),
    ),
    Finding(
        "too-many-victims",
        "needed-victims (by a group)",
        "More victims than are needed, among equals",
        "repaired in v1.37",
        "Four pods of one start time run, and the gang needs the room of two. Each try while the "
        "victims are ending chooses anew, and may choose others: more go than have to.",
        "Two causes: no check whether a preemption is running, which v1.37 has, and no order among "
        "equal victims, which by reading v1.37.2 lacks too. Start times have whole seconds, so equal "
        "ones are ordinary.",
        (f"{K}138710", f"{K}140423"),
        ("DEV-29", "INV-20"),
    ),
    Finding(
        "pod-priority-counts",
        "weaker-victim (by a group)",
        "A group evicts a group of its own priority",
        "repaired in v1.37",
        "Two gangs have the same priority, and pods of priority 0. One evicts the other: of a victim "
        "the pod's own priority counts.",
        "KEP-5710 lets the group's priority count for its pods.",
        (f"{K}139030",),
        ("DEV-30", "INV-16"),
    ),
    Finding(
        "evicted-for-nothing",
        "useful-eviction (by a member, again and again)",
        "Eviction for a gang that cannot start anyway",
        "documented limit",
        "A member evicts a pod, though its gang does not fit even so; and the next pod that comes, "
        "and so on.",
        "Without `WorkloadAwarePreemption` members preempt one by one, at once; KEP-4671 says that "
        "this may be for nothing. Switch both gates on. Gone in v1.37.",
        (f"{K}140412", f"{K}139520"),
        ("DEV-38", "INV-18"),
    ),
    Finding(
        "victims-of-siblings",
        "needed-victims (by a member)",
        "Siblings do not see each other's victims",
        "documented limit",
        "The first member has a small pod evicted, the second a larger one, whose room would have "
        "done for both.",
        "The same cause: victims stay in the snapshot while the other members choose. Gone in v1.37 "
        "with preemption by members.",
        (f"{K}140412",),
        ("DEV-15",),
    ),
    Finding(
        "evicted-twice",
        "evicted-once (by a member)",
        "One victim is deleted twice",
        "documented limit",
        "Two members of a gang both choose the same victim in one cycle.",
        "Harmless: the second deletion changes nothing. Gone in v1.37.",
        (f"{K}140412",),
        ("DEV-15", "PREEMPT-49"),
    ),
    Finding(
        "broken-unit",
        "whole-unit (by a plain pod)",
        "A plain pod breaks up a group that goes as a whole",
        "documented limit",
        "A plain pod evicts one of two members of a group with disruptionMode PodGroup; the other runs on.",
        "The pages for v1.36 say that the preemption of a single pod respects neither mode nor "
        "priority of a group. Lifted in v1.37.",
        (f"{K}137981",),
        ("DEV-28", "INV-17"),
    ),
    Finding(
        "overtaken",
        "strongest-first (a gang, which waits on)",
        "A weak pod overtakes a gang in backoff",
        "documented limit",
        "A node becomes free while a strong gang is in backoff; a weak pod gets it. The gang must not"
        " preempt, so it waits on.",
        "Groups are woken by time alone in v1.36, as announced. A gang that may preempt gets the room"
        " back, at the price of a start for nothing.",
        (f"{K}137768", f"{K}138567"),
        ("INV-38",),
    ),
    Finding(
        "unequal-members",
        "work-conserving (a gang of unequal members)",
        "A gang of unequal members is missed",
        "documented limit",
        "The small member takes the large node, so that the large one finds none; the other way round"
        " both would fit.",
        "Members are placed one after another and never moved; KEP-4671 says that such gangs may be missed.",
        (),
        ("THM-03",),
    ),
)

BY_DESIGN = (
    "- The condition PodGroupScheduled stays True after all members are gone: it tells of the first "
    "placement only, and v1.37 renamed it (kubernetes#139743).",
    "- A member with a priority of 1000 falls to a group of priority 100 if its own group, of "
    "disruptionMode PodGroup, has 10: of a grouped pod the group's priority counts. v1.37 refuses the"
    " mismatch (kubernetes#139920).",
    "- A member with a scheduling gate counts for the gate of its gang: that opens when enough "
    "members have been created.",
    "- A gang that fits without the one member which needs a preemption waits for it all the same; "
    "v1.37 binds first (kubernetes#140412).",
)
"""What looks like a broken promise and is none; no promise here counts it as one."""
