"""Hand-made traces for the tests of the room, from the rules: no engine had a hand in them."""

from gangproof.counterexamples import (
    Action,
    ClaimView,
    Event,
    Frame,
    GroupView,
    NodeView,
    PodState,
    PodView,
    Trace,
    Verdict,
    Wait,
)

SCENARIO = """\
scenario: half-a-gang
steps:
- create:
    nodes: [{name: n1, cpu: 1}, {name: n2, cpu: 1}]
    podGroups: [{name: pg1, gang: 2}]
    pods: [{name: "p[1-2]", group: pg1, cpu: 1}]
- fail: [bind/p2]
- expect: {bound: ["p[1-2]"]}
"""


def _half(p1: PodState, p2: PodState, n2_used: int, *, condition: str | None, note: str = "") -> Frame:
    placed = (PodState.ASSUMED, PodState.PROMISED, PodState.BINDING, PodState.BOUND)
    pods = tuple(
        PodView(
            f"default/{name}",
            state,
            group="default/pg1",
            node=node if state in placed else None,
            requests=(("cpu", 1000),),
        )
        for name, state, node in (("p1", p1, "n1"), ("p2", p2, "n2"))
    )
    bound = sum(state is PodState.BOUND for state in (p1, p2))
    promised = sum(state in placed for state in (p1, p2)) - bound
    return Frame(
        nodes=(
            NodeView("n1", (("cpu", 1000),), (("cpu", 1000 if p1 in placed else 0),)),
            NodeView("n2", (("cpu", 1000),), (("cpu", n2_used),)),
        ),
        pods=pods,
        groups=(
            GroupView(
                "default/pg1",
                "gang 2",
                (("bound", bound), ("promised", promised), ("minimum", 2)),
                condition=condition,
            ),
        ),
        note=note,
    )


NAMES = ("half_a_gang", "zones", "sharing", "deadlock", "hostile", "crowd", "witness")


def half_a_gang() -> Trace:
    """A gang of two of which one is bound: the other's bind failed and a plain pod took its room."""
    start = _half(PodState.ACTIVE, PodState.ACTIVE, 0, condition=None)
    decided = _half(PodState.PROMISED, PodState.PROMISED, 1000, condition="True/Scheduled")
    one = _half(PodState.BOUND, PodState.PROMISED, 1000, condition="True/Scheduled")
    lost = _half(PodState.BOUND, PodState.UNSCHEDULABLE, 1000, condition="True/Scheduled")
    plain = PodView("default/plain", PodState.BOUND, node="n2", requests=(("cpu", 1000),), priority=10)
    broken = Frame(lost.nodes, (*lost.pods, plain), lost.groups)
    return Trace(
        title="a gang of two of which one is bound",
        property_id="INV-03",
        verdict=Verdict.VIOLATED,
        qualifier="DEV-17",
        claim="A started gang is whole, or what is missing of it is promised or owed.",
        clause="pg1 is started, but only p1 of its minimum of 2 is bound, promised or owed",
        citation=("INV-03", "BIND-07", "CYCLE-48"),
        numbers=(("bound", 1), ("promised", 0), ("owed", 0), ("minimum", 2)),
        involved=("default/pg1", "default/p2"),
        frames=(start, decided, one, broken),
        events=(
            Event("decides for pg1: p1 on n1, p2 on n2", "scheduler", ("CYCLE-41",)),
            Event("binds p1 to n1", "scheduler", ("BIND-05",), because=(0,)),
            Event(
                "the bind of p2 fails; plain takes its room on n2", "scheduler", ("BIND-07",), because=(0, 1)
            ),
        ),
        scenario=SCENARIO,
        actions=(Action("cycle", ("default/pg1", ("n1", "n2"))), Action("bind", ("p1", True, None, 3))),
        meta=(("profile", "v1.36.3"), ("engine", "explorer"), ("seed", "0")),
    )


def zones() -> Trace:
    """Two zones with two nodes each, two groups, a nomination, an eviction, many resources."""

    def node(name: str, zone: str, used: int, note: str = "", unschedulable: bool = False) -> NodeView:
        return NodeView(
            name,
            (("cpu", 4000), ("memory", 8 << 30), ("nvidia.com/gpu", 2)),
            (("cpu", used), ("memory", used << 20), ("nvidia.com/gpu", used // 2000)),
            (("zone", zone), ("kubernetes.io/hostname", name)),
            note=note,
            unschedulable=unschedulable,
        )

    def pod(
        name: str, state: PodState, node: str | None = None, group: str | None = "default/train", **more: str
    ) -> PodView:
        return PodView(
            f"default/{name}",
            state,
            group=group,
            node=node,
            requests=(("cpu", 2000),),
            priority=100,
            nominated=more.get("nominated"),
        )

    groups = (
        GroupView(
            "default/train",
            "gang 3",
            (("bound", 2), ("promised", 0), ("minimum", 3)),
            "True/Scheduled",
            100,
            "zone",
        ),
        GroupView("default/batch", "basic", (("bound", 2),), "False/Unschedulable", 10),
    )
    nodes = (
        node("a1", "east", 4000),
        node("a2", "east", 5000),
        node("b1", "west", 2000),
        node("b2", "west", 0, unschedulable=True),
    )
    frame1 = Frame(
        nodes,
        (
            pod("t-0", PodState.BOUND, "a1"),
            pod("t-1", PodState.BOUND, "a1"),
            pod("t-2", PodState.UNSCHEDULABLE),
            pod("t-3", PodState.BACKOFF),
            pod("b-0", PodState.BOUND, "a2", "default/batch"),
            pod("b-1", PodState.BOUND, "a2", "default/batch"),
            pod("lonely", PodState.BINDING, "b1", None),
            pod("gate-0", PodState.GATED, group="default/batch"),
        ),
        groups,
    )
    frame2 = Frame(
        nodes,
        (
            pod("t-0", PodState.BOUND, "a1"),
            pod("t-1", PodState.BOUND, "a1"),
            pod("t-2", PodState.UNSCHEDULABLE, nominated="a2"),
            pod("t-3", PodState.ASSUMED, "b1"),
            pod("b-0", PodState.TERMINATING, "a2", "default/batch"),
            pod("b-1", PodState.EVICTED, "a2", "default/batch"),
            pod("lonely", PodState.BOUND, "b1", None),
            pod("gate-0", PodState.GATED, group="default/batch"),
        ),
        groups,
        (
            ClaimView(
                "default/gpu-share",
                "a1/d0",
                holders=("default/t-0", "default/t-1"),
                reserved_for_groups=("default/train",),
                wanted_by=("default/t-2",),
                reach=("a1", "a2"),
            ),
            ClaimView("default/gpu-b", "b2/d1", wanted_by=("default/t-3",), written=False),
            ClaimView("default/gpu-c", wanted_by=("default/gate-0",)),
        ),
    )
    return Trace(
        title="a member is assumed outside the domain of its siblings",
        property_id="INV-21",
        claim="All members committed by a cycle lie in one domain.",
        clause="t-3 is assumed on b1 in zone=west, while t-0 and t-1 are bound in zone=east",
        citation=("INV-21", "PLACE-06"),
        numbers=(("domains", 2), ("allowed", 1)),
        involved=("default/t-3",),
        frames=(frame1, frame2),
        events=(Event("places t-3 on b1 and evicts the batch pods for t-2", "scheduler", ("PLACE-06",)),),
    )


def sharing() -> Trace:
    """Two bound pods that share one claim, of which the second holds another."""
    return Trace(
        title="a pod holds a claim that is reserved for another",
        property_id="INV-27",
        frames=(
            Frame(
                nodes=(NodeView("n1", (("gpu", 2),), (("gpu", 2),)),),
                pods=tuple(PodView(f"default/p{i}", PodState.BOUND, "default/pg1", "n1") for i in (1, 2)),
                groups=(GroupView("default/pg1", "gang 2"),),
                claims=(
                    ClaimView("default/c1", "n1/d0", ("default/p1",), ("default/p1", "default/p2")),
                    ClaimView("default/c2", "n1/d1", ("default/p2", "default/p3"), ("default/p2",)),
                ),
            ),
        ),
        clause="c1 is held by p2, and reserved for p1 alone",
        involved=("default/c1", "default/p2"),
    )


def deadlock() -> Trace:
    """Two gangs that each hold a node and wait for the other's: a lasso with a cycle of waits."""

    def frame(a: PodState, waits: tuple[Wait, ...] = ()) -> Frame:
        return Frame(
            nodes=(
                NodeView("n1", (("cpu", 1000),), (("cpu", 1000),)),
                NodeView("n2", (("cpu", 1000),), (("cpu", 1000),)),
            ),
            pods=(
                PodView("default/a1", PodState.ASSUMED, "default/a", "n1"),
                PodView("default/a2", a, "default/a"),
                PodView("default/b1", PodState.ASSUMED, "default/b", "n2"),
                PodView("default/b2", PodState.UNSCHEDULABLE, "default/b"),
            ),
            groups=(GroupView("default/a", "gang 2"), GroupView("default/b", "gang 2")),
            waits=waits,
        )

    waits = (
        Wait("default/a2", "default/b1", "a2 needs the room of b1 on n2"),
        Wait("default/b1", "default/b", "b1 waits in permit for the quorum of b"),
        Wait("default/b", "default/a1", "b2 needs the room of a1 on n1"),
        Wait("default/a1", "default/a2", "a1 waits in permit for a2"),
        Wait("plain", "default/a1", "needs n1"),
    )
    return Trace(
        title="two gangs hold what the other needs",
        property_id="LIVE-04",
        clause="neither gang can go on",
        numbers=(("held", 2), ("needed", 4)),
        frames=(frame(PodState.UNSCHEDULABLE), frame(PodState.ACTIVE, waits)),
        events=(Event("the backoff of a2 ends", "queue"), Event("a2 is tried and fails", "scheduler")),
        loop=0,
    )


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<b>bold</b>",
    "quote \" and ' and `tick`",
    "line\nbreak\r\nand\ttab",
    "null\x00bell\x07escape\x1b[31m",
    "\u202eright to left\u202c",
    "مرحبا שלום",
    "日本語のとても長い名前のポッド",
    "a" * 300,
    "\\N \\G \\l %s {{ 7*7 }} ${x} #quot; &amp; ]]>",
    "-->",
    "end",
    "\ud800",
    "\ufffe\uffff",
    ">x<",
    "|pipe|[]{}()",
    "",
)
"""Names that try to be something else than names."""


def hostile() -> Trace:
    """Every text is hostile somewhere."""
    nodes = tuple(
        NodeView(name, ((name, 2), ("cpu", 0)), ((name, 3),), ((name, name),), note=name) for name in HOSTILE
    )
    pods = tuple(
        PodView(
            name,
            tuple(PodState)[i % 15],
            HOSTILE[0],
            HOSTILE[i - 1] if i % 2 else None,
            HOSTILE[i - 2],
            ((name, 1),),
            -5,
            name,
        )
        for i, name in enumerate(HOSTILE)
    )
    groups = tuple(GroupView(name, name, ((name, 1),), name, 3, HOSTILE[1], name) for name in HOSTILE)
    claims = tuple(
        ClaimView(name, name, (name,), (name,), name, (name,), HOSTILE[i - 1 : i], (name,), i % 2 == 0)
        for i, name in enumerate(HOSTILE)
    )
    waits = tuple(Wait(name, HOSTILE[i - 1], name) for i, name in enumerate(HOSTILE))
    text = " ".join(HOSTILE)
    return Trace(
        title=text,
        qualifier=text,
        property_id=HOSTILE[0],
        claim=text,
        clause=text,
        citation=HOSTILE,
        numbers=tuple((name, name) for name in HOSTILE),
        involved=HOSTILE,
        frames=(Frame(note=text), Frame(nodes, pods, groups, claims, waits, text)),
        events=(Event(text, text, HOSTILE),),
        scenario=text,
        actions=(Action(text, HOSTILE),),
        meta=tuple((name, name) for name in HOSTILE),
    )


def crowd() -> Trace:
    """More of everything than fits into a picture; the objects that matter come last."""
    capacity = (
        ("cpu", 64000),
        ("memory", 256 << 30),
        ("example.com/accelerator", 8),
        ("pods", 110),
        ("disk", 9),
    )
    nodes = tuple(
        NodeView(
            f"worker-node-with-a-long-name-{i}",
            capacity,
            tuple((name, amount // 2) for name, amount in capacity),
            (("zone", f"z{i % 3}"), ("rack", f"r{i % 6}")),
        )
        for i in range(60)
    )
    groups = tuple(
        GroupView(
            f"team/training-group-{i}",
            "gang 600",
            (("bound", 1),),
            "True/Scheduled",
            1,
            ("zone", "rack")[i % 2],
        )
        for i in range(14)
    )
    claims = tuple(
        ClaimView(
            f"team/claim-{i}",
            "n1/d0",
            holders=tuple(f"team/pod-{j}" for j in range(0, 600, 2)),
            reserved_for_groups=tuple(f"team/training-group-{j}" for j in range(0, 14, 2)),
            wanted_by=tuple(f"team/pod-{j}" for j in range(600, 650)),
            reach=tuple(f"worker-{j}" for j in range(9)),
            written=i % 2 == 0,
        )
        for i in range(14)
    )
    requests = (("cpu", 1000), ("memory", 1 << 30), ("example.com/accelerator", 1))

    def pod(i: int, state: PodState, node: str | None = None) -> PodView:
        return PodView(f"team/pod-{i}", state, f"team/training-group-{i % 14}", node, None, requests, 1000)

    bound = tuple(pod(i, PodState.BOUND, nodes[i % 60].name) for i in range(600))
    waiting = tuple(pod(i, PodState.UNSCHEDULABLE) for i in range(600, 650))
    last = pod(649, PodState.BOUND, nodes[59].name)
    return Trace(
        title="a crowd",
        clause="the last pod is bound to the last node",
        involved=(nodes[59].name, last.key),
        frames=(
            Frame(nodes, (*bound, *waiting), groups, claims),
            Frame(nodes, (*bound, *waiting[:-1], last), groups, claims),
        ),
        events=(Event("binds the last pod"),),
    )


def witness() -> Trace:
    """A trace that shows that something is possible: nothing broke."""
    return Trace(
        title="a gang can be placed",
        verdict=Verdict.HOLDS,
        property_id="INV-01",
        claim="The interesting case is reachable.",
        clause="g is placed whole",
        involved=("default/p",),
        numbers=(("bound", 1),),
        frames=(Frame(pods=(PodView("default/p", PodState.BOUND, node="n"),), nodes=(NodeView("n"),)),),
    )
