"""Stories that reach the interesting case of each promise, from a cluster in which there is nothing.

A promise about something that never happens would be worth nothing. Each story is a short run of the
contract's own actions on a small cluster; it is run, not only believed (see `prove`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangproof.spec.contract import Call, Witness
from gangproof.spec.state import State
from gangproof.spec.terms import And, Not, Term, b, c, e, f, g, n, p, q, r, some, v, w

WORLD: Mapping[str, tuple[str, ...]] = {
    "Pod": ("a", "b", "d", "v", "w"),
    "Node": ("n1", "n2"),
    "Group": ("g", "h"),
    "Claim": ("claim", "other", "again"),
    "Resource": ("cpu",),
    "Key": ("rack",),
    "Domain": ("r1", "r2"),
    "Device": ("gpu", "fpga"),
    "Entry": ("x", "y"),
}
"""The things that the stories are about."""

SETTINGS = {"workload_aware": True, "gang_scheduling": True}
"""The gates of the stories."""

Story = tuple[Call, ...]
now, then = State(), State(primed=True)


def node(name: str, cpu: int, rack: str = "") -> Call:
    """A node with so many CPUs, in a rack."""
    label = {"rack": rack} if rack else {}
    spec = {"capacity": {"cpu": cpu}, "labelled": set(label), "label": label, "reach": set[str]()}
    return "set_node", {"node": name, **spec}


def group(name: str, minimum: int, *, priority: int = 0, whole: bool = False, key: str = "") -> Call:
    """A protected PodGroup with the gang policy."""
    spec = {"protected": True, "gang": True, "minimum": minimum, "group_priority": priority, "whole": whole}
    return "create_group", {"g": name, **spec, "constrained": bool(key), "key": key}


def pods(names: str, of: str, *, priority: int = 0, ours: bool = True, uses: Iterable[str] = ()) -> Story:
    """Pods of a group, one for each letter, that ask for one CPU each."""
    spec: dict[str, object] = {
        "group": of,
        "ours": ours,
        "priority": priority,
        "request": {"cpu": 1},
        "uses": set(uses),
    }
    spec["pod_named"] = set[tuple[str, str]]()
    return tuple(("create_pod", {"pod": name, **spec}) for name in names)


def tried(names: str) -> Story:
    """Pods come from the pool into a cycle."""
    return (
        ("enqueue", {"ready": set(names), "resting": set()}),
        ("pop", {"head": names[0], "taken": set(names)}),
    )


def decided(of: str, **at: str) -> Call:
    """A decision for a group, that keeps pods at nodes."""
    return "decide", {"g": of, "kept": set(at), "at": at}


def bound(names: str) -> Story:
    """Promised pods are bound."""
    return tuple(("bind", {"pod": name}) for name in names)


def bound_elsewhere(pod: str, node: str = "n1", overlooked: bool = False) -> Call:
    """Another scheduler binds the pod, which a cycle that runs may overlook."""
    return "foreign_bind", {"pod": pod, "node": node, "overlooked": overlooked}


def given_back(names: str) -> Call:
    """Pods of a cycle go to backoff."""
    return "give_back", {"resting": set(names), "ready": set(), "held": set(), "cleared": set()}


def sent_to(place: str, name: str) -> dict[str, object]:
    """The arguments of an action that puts a pod into one of the queue's places."""
    return {"pod": name, **{other: other == place for other in ("active", "backoff", "pool")}}


PAIR: Story = (node("n1", 2), group("g", 2), *pods("ab", "g"), *tried("ab"))
PLACED: Story = (*PAIR, decided("g", a="n1", b="n1"))
SURPLUS: Story = (
    *(node("n1", 2), group("g", 2), *pods("abd", "g"), *tried("abd"), decided("g", a="n1", b="n1")),
    ("write_condition", {"g": "g", "decided": True}),
)
RUNNING: Story = (*PLACED, *bound("ab"))


def newly_promised(pod: Term) -> Term:
    """The pod is promised a node in this step."""
    return And(then.assumed(pod), Not(now.assumed(pod)))


def newly_named(pod: Term, by: Term) -> Term:
    """The pod becomes a victim in this step."""
    return And(then.victim(pod, by), Not(now.victim(pod, by)))


exact_fit = Witness(
    "a gang that fits exactly is decided",
    PLACED,
    some(p, g, And(newly_promised(p), now.group(p) == g, now.gang(g), then.placed(g) == now.minimum(g))),
)

late_member = Witness(
    "a replacement passes at exactly the minimum, counted together with a bound member",
    (*RUNNING, ("remove_pod", {"pod": "b"}), *pods("d", "g"), *tried("d"), decided("g", d="n1")),
    some(
        p,
        q,
        g,
        And(
            *(newly_promised(p), now.assigned(q), now.group(p) == g, now.group(q) == g),
            then.placed(g) == now.minimum(g),
        ),
    ),
)

one_is_owed = Witness(
    "of a gang of two one is bound, and the other is owed after its bind failed",
    (*PLACED, *bound("a"), ("lose", sent_to("backoff", "b"))),
    some(
        p, q, And(now.assigned(p), now.owed(q), now.group(p) == now.group(q), now.minimum(now.group(p)) == 2)
    ),
)

VICTIMS: Story = (
    node("n1", 2),
    node("n2", 1),
    group("h", 2, priority=10, whole=True),
    *pods("vw", "h", priority=50),
    *tried("vw"),
    decided("h", v="n1", w="n2"),
    *bound("vw"),
)
PREEMPTOR: Story = (
    *(*VICTIMS, group("g", 1, priority=100), *pods("a", "g", priority=1), *tried("a")),
    *(decided("g", a="n1"), *bound("a"), *pods("b", "g"), *tried("b")),
    ("evict", {"g": "g", "victims": {"v", "w"}, "asker": {"v": "b", "w": "b"}}),
)

weaker_sibling = Witness(
    "a group evicts others while a bound member of its own has the least priority of all",
    PREEMPTOR,
    some(
        p,
        v,
        g,
        And(
            *(newly_named(v, g), now.assigned(p), now.group(p) == g),
            now.priority(p) < now.group_priority(g),
            now.priority(p) < now.priority(v),
        ),
    ),
)

last_unit = Witness(
    "a node is filled to the last unit",
    PLACED,
    some(p, r, And(newly_promised(p), then.used(then.node(p), r) == then.capacity(then.node(p), r))),
)

nobody_kept = Witness(
    "a cycle gives its members back and keeps nobody",
    (*PAIR, given_back("ab")),
    some(p, And(now.in_flight(p), Not(then.in_flight(p)), then.backoff(p))),
)

deleted_in_backoff = Witness(
    "a member is deleted while its sibling is in backoff",
    (*PAIR, given_back("ab"), ("delete_pod", {"pod": "a"})),
    some(p, q, And(now.terminating(p), now.backoff(q), now.group(p) == now.group(q))),
)

bound_by_another = Witness(
    "another scheduler binds a pending member while its sibling waits",
    (*PAIR, given_back("ab"), bound_elsewhere("a")),
    some(p, q, And(now.assigned(p), Not(now.own(p)), now.unscheduled(q), now.group(p) == now.group(q))),
)

foreign_member = Witness(
    "a bound member that asked for another scheduler counts",
    (node("n1", 2), group("g", 2), *pods("a", "g", ours=False), bound_elsewhere("a")),
    some(p, g, And(now.known(p), Not(now.ours(p)), now.group(p) == g, now.placed(g) == 1)),
)

surplus_fails = Witness(
    "a surplus member fails after True was written",
    (*SURPLUS, given_back("d")),
    some(p, And(now.in_flight(p), then.backoff(p), now.scheduled_true(now.group(p)))),
)

group_priority_counts = Witness(
    "a group whose members' own priority differs from its own is a candidate",
    PREEMPTOR,
    some(
        v,
        g,
        And(
            newly_named(v, g),
            now.priority(v) > now.group_priority(now.group(v)),
            now.round(g) != then.round(g),
        ),
    ),
)

whole_unit = Witness(
    "a unit of two pods on two nodes is evicted",
    PREEMPTOR,
    some(
        v,
        w,
        g,
        And(
            *(newly_named(v, g), newly_named(w, g), now.node(v) != now.node(w)),
            *(now.group(v) == now.group(w), now.whole(now.group(v))),
        ),
    ),
)

tried_while_terminating = Witness(
    "a group is tried again while a victim is terminating",
    (
        *(*PREEMPTOR, given_back("b"), ("delete_pod", {"pod": "v"})),
        *(("call_off", {"pod": "w", "g": "g"}), *tried("b")),
    ),
    some(
        p, v, And(Not(now.in_flight(p)), then.in_flight(p), now.victim(v, now.group(p)), now.terminating(v))
    ),
)

RACKS: Story = (node("n1", 1, "r1"), node("n2", 2, "r2"), group("g", 1, key="rack"), *pods("a", "g"))
follows_its_siblings = Witness(
    "a late member follows its sibling although another domain has room",
    (
        *(*RACKS, *tried("a"), decided("g", a="n1"), *bound("a"), node("n1", 2, "r1")),
        *(*pods("b", "g"), *tried("b"), decided("g", b="n1")),
    ),
    some(
        p,
        q,
        And(newly_promised(p), now.assigned(q), now.constrained(now.group(q)), now.node(q) == then.node(p)),
    ),
)


def claim(name: str, owner: str = "", entry: str = "") -> Call:
    """A claim that a user makes, or the controller for an entry of a group."""
    return "create_claim", {"claim": name, "generated": {(owner, entry)} if owner else set[tuple[str, str]]()}


def holds(names: str, of: str, device: str = "gpu", nodes: Iterable[str] = ("n1",)) -> Story:
    """Promised pods hold a claim, with this device in flight."""
    given = {"claim": of, "devices": {device}, "nodes": set(nodes)}
    return tuple(("reserve_claim", {"pod": name, **given}) for name in names)


def written(of: str, by: str, device: str = "gpu", nodes: Iterable[str] = ("n1",)) -> Story:
    """A pod writes the allocation and the entry of its group; the scheduler sees it."""
    return (
        ("allocate", {"claim": of, "devices": {device}, "nodes": set(nodes)}),
        ("reserve_for_group", {"claim": of, "pod": by}),
        ("see_claim", {"claim": of}),
        ("unreserve_claim", {"pod": by, "claim": of}),
    )


SHARERS: Story = (
    *(node("n1", 2), claim("claim"), group("g", 2), *pods("ab", "g", uses=["claim"]), *tried("ab")),
    *(decided("g", a="n1", b="n1"), *holds("ab", "claim")),
)
SHARED: Story = (
    *(*SHARERS, *written("claim", "a"), ("unreserve_claim", {"pod": "b", "claim": "claim"}), *bound("ab")),
)
made_again = Witness(
    "one of two generated claims was deleted and made again, and a member was given both names",
    (
        *(group("g", 2), claim("claim", "g", "x"), claim("other", "g", "y")),
        ("name_claims", {"g": "g", "named": {("x", "claim"), ("y", "other")}}),
        *(("remove_claim", {"claim": "other"}), claim("again", "g", "y")),
        ("name_claims", {"g": "g", "named": {("x", "claim"), ("y", "again")}}),
        *pods("a", "g"),
        ("refer", {"pod": "a", "uses": {"claim", "again"}, "pod_named": {("x", "claim"), ("y", "again")}}),
    ),
    some(
        *(p, g, b, c, e, f),
        And(
            *(now.group(p) == g, e != f, b != c, now.claim_exists(b), now.claim_exists(c)),
            *(now.named(g, e, b), now.named(g, f, c), now.pod_named(p, e, b), now.pod_named(p, f, c)),
        ),
    ),
)

LOST: Call = ("lose", sent_to("backoff", "b"))
LET_GO: Call = ("unreserve_claim", {"pod": "b", "claim": "claim"})
one_of_two_fails = Witness(
    "of two sharers one fails before anything is written, and the other still reckons with it",
    (*SHARERS, LOST, LET_GO),
    some(
        *(p, q, c),
        And(now.holding(q, c), Not(now.holding(p, c)), now.uses(p, c), now.chosen(c), now.sharers(c) == 1),
    ),
)

unreserved_after_the_write = Witness(
    "a sharer lets go after a sibling's allocation was seen",
    (*SHARERS, *written("claim", "a"), *bound("a"), LOST, LET_GO),
    some(p, c, And(now.holding(p, c), Not(then.holding(p, c)), then.seen_allocated(c), Not(then.chosen(c)))),
)

all_devices_taken = Witness(
    "two groups have taken all devices of a node",
    (
        *(
            *SHARERS,
            claim("other"),
            group("h", 1),
            *pods("v", "h", uses=["other"]),
            node("n2", 1),
            *tried("v"),
        ),
        *(decided("h", v="n2"), *holds("v", "other", "fpga", ("n1", "n2"))),
    ),
    some(
        *(p, q, c, b, n),
        And(
            *(now.holding(p, c), now.holding(q, b), now.group(p) != now.group(q)),
            *(c != b, now.reach(n, c), now.reach(n, b)),
        ),
    ),
)

out_of_reach = Witness(
    "a sharer could only go where the devices cannot be reached, and gets no place",
    (
        *(node("n1", 1), node("n2", 1), claim("claim"), group("g", 1), *pods("ab", "g", uses=["claim"])),
        *(*tried("ab"), decided("g", a="n1"), *holds("a", "claim"), given_back("b")),
    ),
    some(
        *(p, q, c, n, r),
        And(
            *(now.holding(p, c), now.uses(q, c), then.backoff(q)),
            *(now.node_exists(n), now.used(n, r) == 0, Not(now.reach(n, c)), now.capacity(n, r) >= 1),
        ),
    ),
)
two_members_one_entry = Witness(
    "two bound members share a claim by one entry",
    SHARED,
    some(
        *(p, q, c),
        And(
            *(p != q, now.assigned(p), now.assigned(q), now.uses(p, c), now.uses(q, c)),
            now.pod_entries(c) + now.group_entries(c) == 1,
        ),
    ),
)

last_member_ends = Witness(
    "the last bound member of a living group ends, and the claim is let go",
    (
        *(*SHARED, ("finish_pod", {"pod": "a"}), ("finish_pod", {"pod": "b"})),
        ("release_group", {"claim": "claim", "g": "g"}),
    ),
    some(
        c,
        g,
        And(now.reserved_group(c, g), Not(then.reserved_group(c, g)), then.group_exists(g), now.done(g) == 2),
    ),
)

protected_until_the_end = Witness(
    "a protected group goes when its last member has ended",
    (*RUNNING, ("finish_pod", {"pod": "a"}), ("fail_pod", {"pod": "b"}), ("remove_group", {"g": "g"})),
    some(p, g, And(now.protected(g), Not(then.group_exists(g)), now.succeeded(p), now.group(p) == g)),
)
