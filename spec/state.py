"""The abstract state: what a cluster is to the PodGroup rules, and no more.

A state is as this scheduler sees it (the objects as its informers delivered them, and its own memory), plus
a little history that no rule reads and the promises are about. A plain pod is a basic group of its own: that
group appears and goes with the pod, and what is said of groups is thereby said of plain pods.

Whatever the number of pods, nodes, groups, claims, resources and topology keys: the proofs never fix it.
"""

from __future__ import annotations

from attrs import frozen

from gangproof.spec.terms import (
    And,
    Claim,
    Device,
    Domain,
    Entry,
    Group,
    If,
    Int,
    Key,
    Node,
    Not,
    Or,
    Pod,
    Resource,
    Sum,
    Symbol,
    Term,
    c,
    function,
    g,
    n,
    p,
    r,
    relation,
)


@frozen
class State:
    """The symbols of one state, to be applied: `now.assumed(p)`; a `primed` state is the one after a step."""

    primed: bool = False

    workload_aware = relation(means="The gate WorkloadAwarePreemption is on.")

    gang_scheduling = relation(means="The gate GangScheduling is on.")

    # Pods
    pod_exists = relation(Pod, means="The pod exists.")
    ours = relation(Pod, means="The pod asks for this scheduler.")
    group = function(Pod, Group, means="The group of the pod; a plain pod is a group of its own.")
    priority = function(Pod, Int, means="The pod's own priority.")
    request = function(Pod, Resource, Int, means="How much of the resource the pod asks for, a pod slot too.")
    uses = relation(Pod, Claim, means="The pod refers to the claim.")
    pod_named = relation(
        Pod,
        Entry,
        Claim,
        means="The pod's status names the claim, which is there, for the entry of its group.",
    )
    bound = relation(Pod, means="The pod has a node name.")
    node = function(Pod, Node, means="The node to which the pod is bound or promised; else nobody.")
    terminating = relation(Pod, means="The pod has a deletion timestamp.")
    succeeded = relation(Pod, means="The pod's phase is Succeeded.")
    failed = relation(Pod, means="The pod's phase is Failed.")

    # PodGroups, and the groups that plain pods are
    group_exists = relation(Group, means="The PodGroup exists, or the plain pod does.")
    protected = relation(Group, means="The PodGroup carries the protection finalizer.")
    gang = relation(Group, means="The policy is gang (and the gate GangScheduling is on).")
    minimum = function(Group, Int, means="minCount of a gang, 0 otherwise.")
    group_priority = function(Group, Int, means="The group's priority; a plain pod's own.")
    whole = relation(Group, means="disruptionMode is PodGroup: all pods are disrupted or none.")
    constrained = relation(Group, means="The group has a topology key (and the gate is on).")
    key = function(Group, Key, means="The topology key of a constrained group; else nobody.")
    scheduled_true = relation(Group, means="The condition PodGroupScheduled is True.")
    scheduled_false = relation(Group, means="The condition PodGroupScheduled is False.")

    # Nodes
    node_exists = relation(Node, means="The node exists.")
    capacity = function(Node, Resource, Int, means="How much of the resource is allocatable on the node.")
    labelled = relation(Node, Key, means="The node carries the label.")
    label = function(Node, Key, Domain, means="The value of the label, which may be the empty text.")

    # Claims
    claim_exists = relation(Claim, means="The ResourceClaim exists.")
    allocated = relation(Claim, means="The stored claim has an allocation.")
    reserved_pod = relation(Claim, Pod, means="reservedFor has an entry for the pod.")
    reserved_group = relation(Claim, Group, means="reservedFor has an entry for the group.")
    generated = relation(Claim, Group, Entry, means="The claim was generated for the entry of the group.")
    named = relation(
        Group, Entry, Claim, means="The group's status names the claim, which is there, for the entry."
    )
    device = relation(
        Claim, Device, means="The claim's allocation, stored or in flight, has the device for itself."
    )
    reach = relation(
        Node, Claim, means="From the node the claim's devices, stored or in flight, can be used."
    )

    # The scheduler's memory: member sets, queue, nominations, rounds of preemption
    known = relation(Pod, means="The pod is in All(g) of its group.")
    unscheduled = relation(Pod, means="The pod is in Unsched(g) of its group.")
    assumed = relation(Pod, means="Promised: kept by a decision that stands, its bind not yet seen.")
    assigned = relation(Pod, means="The pod is in Assigned(g) of its group.")
    active = relation(Pod, means="The pod is in the active queue.")
    backoff = relation(Pod, means="The pod is in a backoff queue.")
    pool = relation(Pod, means="The pod is in the unschedulable pool, gated or not.")
    in_flight = relation(Pod, means="The pod is popped, and its cycle has not closed it yet.")
    overlooked = relation(
        Pod, means="The pod came to its node when the running cycle of its group had looked there."
    )
    nominated = relation(Pod, means="The pod is nominated to a node, in memory.")
    nomination = function(Pod, Node, means="The node to which the pod is nominated; else nobody.")
    round = relation(Group, means="A round of preemption for the group runs.")
    victim = relation(Pod, Group, means="The group's round named the pod and waits for it.")

    # Its memory of claims: what its cache shows, and allocations that are chosen and not written
    seen_allocated = relation(Claim, means="The scheduler's cache shows the claim as allocated.")
    chosen = relation(Claim, means="An allocation of the claim is in flight.")
    holding = relation(
        Pod, Claim, means="The pod reserved the claim and has neither written it nor let it go."
    )
    sharers = function(
        Claim, Int, means="How many pods reckon with the allocation in flight, as it is noted."
    )

    # History (SEMANTICS 0.5), which ends with the PodGroup object
    started = relation(Group, means="The gang had a decision.")
    own = relation(Pod, means="This scheduler chose the node of the pod.")
    stood = relation(Pod, means="The member counted at a decision of its gang, and still counts.")
    owed = relation(Pod, means="Kept by a decision, neither bound nor promised, still counting.")
    lost = function(Group, Int, means="How many members counted at a decision and no longer do.")

    # Counters: what they count is COUNTERS
    members = function(Group, Int, means="How many pods All(g) has.")
    placed = function(Group, Int, means="How many members are promised or bound: Scheduled(g).")
    done = function(Group, Int, means="How many members have succeeded and count: Done(g).")
    owing = function(Group, Int, means="How many members are owed.")
    late = function(Group, Int, means="How many members are placed or done that no decision counted.")
    used = function(Node, Resource, Int, means="How much the pods on the node or promised to it ask for.")
    pod_entries = function(Claim, Int, means="How many pods reservedFor names.")
    group_entries = function(Claim, Int, means="How many groups reservedFor names.")
    holders = function(Claim, Int, means="How many pods hold the claim.")

    def finished(self, pod: Term) -> Term:
        """The pod is in Done(g): it succeeded, and nobody deletes it."""
        return And(self.pod_exists(pod), self.succeeded(pod), Not(self.terminating(pod)))

    def is_placed(self, pod: Term) -> Term:
        """The pod is in Scheduled(g)."""
        return Or(self.assumed(pod), self.assigned(pod))

    def on_node(self, pod: Term) -> Term:
        """The pod takes room: it is promised, or bound and not at its end; Leaving(g) is in this."""
        return Or(self.assumed(pod), And(self.bound(pod), Not(self.succeeded(pod)), Not(self.failed(pod))))

    def to_be_placed(self, pod: Term) -> Term:
        """The pod asks for this scheduler, has no node, and is neither terminating nor at its end."""
        ended = Or(self.bound(pod), self.terminating(pod), self.succeeded(pod), self.failed(pod))
        return And(self.pod_exists(pod), self.ours(pod), Not(ended))

    def holds_claim(self, pod: Term, claim: Term) -> Term:
        """reservedFor has an entry for the pod, or for its living group."""
        group = self.group(pod)
        return Or(
            self.reserved_pod(claim, pod), And(self.reserved_group(claim, group), self.group_exists(group))
        )

    def queued(self, pod: Term) -> Term:
        """The pod waits in the scheduling queue."""
        return Or(self.active(pod), self.backoff(pod), self.pool(pod))

    def strength(self, pod: Term) -> Term:
        """The effective priority eff(p), which decides who may evict whom."""
        return If(self.workload_aware(), self.group_priority(self.group(pod)), self.priority(pod))


SYMBOLS: tuple[Symbol, ...] = tuple(s for s in vars(State).values() if isinstance(s, Symbol))
"""Every symbol of the state, in the order of State."""

_now = State()
COUNTERS: tuple[Sum, ...] = (
    Sum("members", p, (g,), And(_now.known(p), _now.group(p) == g)),
    Sum("placed", p, (g,), And(_now.is_placed(p), _now.group(p) == g)),
    Sum("done", p, (g,), And(_now.finished(p), _now.group(p) == g)),
    Sum("owing", p, (g,), And(_now.owed(p), _now.group(p) == g)),
    Sum(
        "late",
        p,
        (g,),
        And(Or(_now.is_placed(p), _now.finished(p)), Not(_now.stood(p)), _now.group(p) == g),
    ),
    Sum("used", p, (n, r), If(And(_now.on_node(p), _now.node(p) == n), _now.request(p, r), 0)),
    Sum("pod_entries", p, (c,), _now.reserved_pod(c, p)),
    Sum("group_entries", g, (c,), _now.reserved_group(c, g)),
    Sum("holders", p, (c,), _now.holding(p, c)),
)
"""What each counter counts. Proofs carry counters as functions; `Structure.of` adds them up."""
