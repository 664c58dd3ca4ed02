"""Random worlds that come to the points at which promises are kept or broken: full nodes, weak and slow victims,
groups that need them, and users who meddle while room is being made.

A world is what an adapter is given: a setup and steps, as plain data. The same seed gives the same world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from attrs import define, field, frozen

Data = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"
PROTECTION = "scheduling.k8s.io/podgroup-protection"
GANGS = ("GenericWorkload", "GangScheduling")
WAP, TAS, DRA = "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling", "DRAWorkloadResourceClaims"
GATES: tuple[tuple[tuple[str, ...], int], ...] = (
    (GANGS, 30),
    ((*GANGS, WAP), 40),
    ((*GANGS, TAS), 8),
    ((*GANGS, WAP, TAS), 7),
    ((*GANGS, DRA), 8),
    ((*GANGS, WAP, DRA), 4),
    (("GenericWorkload",), 3),
)
"""Which gates are on, and how often."""
MODES: tuple[tuple[Data, int], ...] = (
    ({}, 35),
    ({"order": "real"}, 15),
    ({"order": "real", "eager": True}, 25),
    ({"order": "real", "eager": True, "atomic": True}, 10),
    ({"order": "real", "eager": True, "watchDelay": 3}, 5),
    ({"order": "real", "eager": True, "watchDelay": 2, "callDelay": 20}, 10),
)
"""How the scheduler is let run, and how often."""
FOR_GOOD, SETTLED, BRIEFLY = 340, 25, 3
"""Seconds that pass: until also the flush of the queue has come, until nothing changes any more, and not so many."""
HOT_LIMIT = 3
"""So many tries in vain are let run at one instant before a second passes."""


def world(seed: int) -> Data:
    """The world of a seed: a scenario as an adapter and the loader of recorded runs take it."""
    random = Random(seed)
    gates = _drawn(random, GATES)
    builder = _Builder(random, frozenset(gates), slow=random.random() < 0.5)
    switched: dict[str, bool] = dict.fromkeys(gates, True)
    if random.random() < 0.1:
        switched["SchedulerPopFromBackoffQ"] = False
    if random.random() < 0.1:
        switched["SchedulerAsyncPreemption"] = False
    mode = _drawn(random, MODES)
    return {
        "name": f"world {seed}",
        "gates": switched,
        "seed": seed,
        "hotLimit": HOT_LIMIT,
        **mode,
        "steps": list(builder.steps(eager=bool(mode.get("eager")))),
    }


def _drawn(random: Random, weighted: Any) -> Any:
    return random.choices([value for value, _ in weighted], [weight for _, weight in weighted])[0]


@frozen
class Shape:
    """What the pods of one group, or a plain pod, are like."""

    cpu: int
    priority: int
    group: str | None = None
    more: Mapping[str, Any] = field(factory=dict[str, Any])


@define
class _Builder:
    """A world in the making: what there is so far, so that later steps can meet it."""

    random: Random
    gates: frozenset[str]
    slow: bool
    nodes: dict[str, Data] = field(factory=dict[str, Data])
    free: dict[str, int] = field(factory=dict[str, int])
    groups: dict[str, Shape] = field(factory=dict[str, Shape])
    running: list[str] = field(factory=list[str])
    waiting: list[str] = field(factory=list[str])
    members: dict[str, str] = field(factory=dict[str, str])
    claims: list[str] = field(factory=list[str])
    number: int = 0

    # the story

    def steps(self, eager: bool) -> Iterator[Data]:
        """Running pods fill nodes, groups and pods come, somebody meddles, all comes to rest."""
        random = self.random
        yield {"create": [*self.begun(), *self.come()]}
        held = self.held() if random.random() < 0.12 else []
        if held:
            yield {"hold": held}
        yield from self.pause(eager)
        for _ in range(random.choice((0, 1, 1, 2, 2, 3))):
            yield from _drawn(random, self.meddling(eager))()
            if held and random.random() < 0.7:
                yield {"release": held}
                held = []
            yield from self.pause(eager)
        if held:
            yield {"release": held}
        yield {"settle": {"idle": SETTLED}}
        if self.slow:
            yield {"snapshot": True}
            yield {"reap": True}
        yield {"settle": {"idle": SETTLED}}
        if not eager or random.random() < 0.2:
            yield {"advance": FOR_GOOD}
            yield {"settle": {"idle": SETTLED}}
        yield {"snapshot": True}

    def pause(self, eager: bool) -> list[Data]:
        """Some time passes, much or little."""
        kinds: list[tuple[list[Data], int]] = [
            ([{"settle": {"idle": SETTLED}}, {"snapshot": True}], 5),
            ([{"settle": {"idle": BRIEFLY}}], 3),
            ([{"advance": self.random.choice((1, 4, 15))}], 1),
            ([], 1),
        ]
        if not eager:
            kinds += [([{"cycles": 1}], 2), ([{"cycles": 2}], 1)]
        return _drawn(self.random, kinds)

    def meddling(self, eager: bool) -> list[tuple[Callable[[], list[Data]], int]]:
        return [
            (self.pods_come, 5),
            (self.waiting_go, 4),
            (self.running_go, 4),
            (self.replaced, 4),
            (self.reaped, 4 if self.slow else 0),
            (self.pods_end, 2),
            (self.node_comes, 1),
            (self.node_changes, 1),
            (self.restart, 0 if eager else 2),
            (self.group_goes, 1),
            (self.call_fails, 2),
        ]

    # what there is at first

    def begun(self) -> list[Data]:
        """Nodes, and pods that run on them already: plain ones and members of groups, weak and strong."""
        random = self.random
        made: list[Data] = [self.node() for _ in range(random.choice((1, 1, 1, 2, 2, 3)))]
        if DRA in self.gates:
            made += self.devices()
        if random.random() < 0.45:
            made.append(self.group(random.choice((1, 1, 2, 3)), weak=True))
        same = random.random() < 0.35
        for name in list(self.nodes):
            room = self.free[name]
            while room > 0 and random.random() < 0.85:
                victims = [g for g, shape in self.groups.items() if shape.priority <= 10]
                group = random.choice(victims) if victims and random.random() < 0.5 else None
                shape = self.groups[group] if group else Shape(1, random.choice((0, 10, 10, 10, 50, 1000)))
                cpu = min(room, shape.cpu if group else random.choice((1, 1, 1, 2, 3)))
                pod = self.pod(Shape(cpu, shape.priority, group, shape.more), on=name)
                if same:
                    pod["status"] = {"phase": "Running", "startTime": "1999-12-31T23:00:00Z"}
                made.append(pod)
                room -= cpu
            self.free[name] = room
        return made

    def come(self) -> list[Data]:
        """Groups and pods that want a place."""
        random = self.random
        made: list[Data] = []
        for _ in range(random.choice((1, 1, 1, 2))):
            least = random.choice((None, 1, 2, 2, 2, 3, 3))
            made.append(self.group(least))
            name, shape = list(self.groups.items())[-1]
            extra = random.choice((0, 0, 0, 1, -1))
            made += [self.member(name, shape) for _ in range(max(1, (least or 2) + extra))]
        if random.random() < 0.35:
            made += [self.plain() for _ in range(random.choice((1, 1, 2)))]
        if random.random() < 0.3:
            random.shuffle(made)
            made.sort(key=lambda each: each["kind"] != "PodGroup" and random.random() < 0.7)
        return made

    # what users do

    def pods_come(self) -> list[Data]:
        random = self.random
        made: list[Data] = []
        if self.groups and random.random() < 0.55:
            name = random.choice(list(self.groups))
            made += [self.member(name, self.groups[name]) for _ in range(random.choice((1, 1, 2)))]
        if not made or random.random() < 0.4:
            made.append(self.plain())
        return [{"create": made}]

    def waiting_go(self) -> list[Data]:
        return self.deleted(self.waiting)

    def running_go(self) -> list[Data]:
        return self.deleted(self.running)

    def deleted(self, names: list[str]) -> list[Data]:
        if not names:
            return []
        chosen = self.random.sample(names, min(len(names), self.random.choice((1, 1, 2, 3))))
        for name in chosen:
            names.remove(name)
            self.members.pop(name, None)
        return [{"delete": [f"Pod/default/{name}" for name in chosen]}]

    def replaced(self) -> list[Data]:
        """Members go, and new ones come in their place, as many or fewer, as controllers do it."""
        if not self.groups:
            return []
        name = self.random.choice(list(self.groups))
        mine = [pod for pod, group in self.members.items() if group == name]
        gone = self.random.sample(mine, self.random.randint(1, len(mine))) if mine else []
        for pod in gone:
            del self.members[pod]
            for names in (self.waiting, self.running):
                if pod in names:
                    names.remove(pod)
        fresh = [
            self.member(name, self.groups[name]) for _ in range(self.random.randint(1, max(1, len(gone))))
        ]
        return [*([{"delete": [f"Pod/default/{pod}" for pod in gone]}] if gone else []), {"create": fresh}]

    def reaped(self) -> list[Data]:
        return [{"reap": True}]

    def pods_end(self) -> list[Data]:
        if not self.running:
            return []
        name = self.running.pop(self.random.randrange(len(self.running)))
        self.members.pop(name, None)
        return [{self.random.choice(("finish", "crash")): [name]}]

    def node_comes(self) -> list[Data]:
        return [{"create": [self.node()]}]

    def node_changes(self) -> list[Data]:
        name = self.random.choice(list(self.nodes))
        node = {**self.nodes[name], "status": {"capacity": self.capacity()}}
        self.nodes[name] = node
        return [{"update": [node]}]

    def restart(self) -> list[Data]:
        return [{"restart": True}]

    def group_goes(self) -> list[Data]:
        if not self.groups:
            return []
        return [{"delete": [f"PodGroup/default/{self.random.choice(list(self.groups))}"]}]

    def call_fails(self) -> list[Data]:
        pods = [*self.waiting, *self.running]
        if not pods:
            return []
        name = self.random.choice(pods)
        return [{"fail": [f"{'bind' if name in self.waiting else 'delete'}/{name}"]}]

    def held(self) -> list[str]:
        """Calls that stay open for a while: all evictions, or some binds."""
        if self.running and self.random.random() < 0.6:
            return [f"delete/{name}" for name in self.running]
        some = self.random.sample(self.waiting, min(len(self.waiting), 2))
        return [f"bind/{name}" for name in some]

    # what is made

    def node(self) -> Data:
        random, name = self.random, f"n{len(self.nodes) + 1}"
        labels = {HOSTNAME: name, **({"zone": random.choice("ab")} if random.random() < 0.85 else {})}
        made: Data = {"kind": "Node", "metadata": {"name": name, "labels": labels}}
        if random.random() < 0.05:
            made["spec"] = {"taints": [{"key": "kept", "value": "yes", "effect": "NoSchedule"}]}
        made["status"] = {"capacity": self.capacity()}
        self.nodes[name] = made
        self.free[name] = int(made["status"]["capacity"]["cpu"])
        return made

    def capacity(self) -> dict[str, str]:
        return {"cpu": str(self.random.choice((1, 2, 2, 3, 3, 4))), "memory": "64Gi", "pods": "110"}

    def group(self, least: int | None, weak: bool = False) -> Data:
        """A group whose pods are alike, mostly; with group preemption on its priority is mostly theirs."""
        random, name = self.random, f"g{len(self.groups) + 1}"
        priority = random.choice((0, 10)) if weak else random.choice((10, 50, 100, 100, 100))
        more: Data = {}
        if not weak and random.random() < 0.08:
            more["preemptionPolicy"] = "Never"
        if random.random() < 0.06:
            more["nodeSelector"] = {"zone": random.choice("ab")}
        spec: Data = {"schedulingPolicy": {"gang": {"minCount": least}} if least else {"basic": {}}}
        if WAP in self.gates:
            spec["priority"] = priority if random.random() < 0.85 else random.choice((0, 10, 100))
            if random.random() < 0.5:
                spec["disruptionMode"] = random.choice(("Pod", "PodGroup"))
        if TAS in self.gates and random.random() < 0.7:
            spec["schedulingConstraints"] = {"topology": [{"key": random.choice(("zone", "zone", HOSTNAME))}]}
        if DRA in self.gates and self.claims and not weak and random.random() < 0.8:
            uses = [{"name": "c", "resourceClaimName": random.choice(self.claims)}]
            spec["resourceClaims"] = more["resourceClaims"] = uses
        self.groups[name] = Shape(random.choice((1, 1, 1, 2)), priority, name, more)
        metadata: Data = {"name": name, "finalizers": [PROTECTION]}
        return {"kind": "PodGroup", "metadata": metadata, "spec": spec}

    def member(self, name: str, shape: Shape) -> Data:
        """A member, now and then unlike its siblings."""
        random = self.random
        cpu = shape.cpu if random.random() < 0.9 else random.choice((1, 2))
        priority = shape.priority if random.random() < 0.85 else random.choice((0, 10, 100))
        more = dict(shape.more)
        if random.random() < 0.04:
            more["schedulingGates"] = [{"name": "example.com/wait"}]
        if random.random() < 0.04:
            sibling = {"matchLabels": {"of": name}}
            term = {"labelSelector": sibling, "topologyKey": HOSTNAME}
            more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        return self.pod(Shape(cpu, priority, name, more))

    def plain(self) -> Data:
        random = self.random
        more: Data = {"preemptionPolicy": "Never"} if random.random() < 0.3 else {}
        return self.pod(
            Shape(random.choice((1, 1, 2, 3)), random.choice((0, 10, 50, 100, 100, 200)), None, more)
        )

    def pod(self, shape: Shape, on: str | None = None) -> Data:
        self.number += 1
        name = f"p{self.number}"
        (self.running if on else self.waiting).append(name)
        requests = {"requests": {"cpu": str(shape.cpu)}}
        spec: Data = {
            "priority": shape.priority,
            "containers": [{"name": "c", "image": "i", "resources": requests}],
            **shape.more,
        }
        if shape.group is not None:
            self.members[name] = shape.group
            spec["schedulingGroup"] = {"podGroupName": shape.group}
        if on is not None:
            spec["nodeName"] = on
        if self.slow:
            spec["terminationGracePeriodSeconds"] = 30
        labels = {"of": shape.group or name}
        return {"kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}

    def devices(self) -> list[Data]:
        """A class, a claim or two, and on some nodes a device."""
        random = self.random
        selector = {"cel": {"expression": "device.driver == 'd.example.com'"}}
        made: list[Data] = [
            {"kind": "DeviceClass", "metadata": {"name": "dev"}, "spec": {"selectors": [selector]}}
        ]
        for name in self.nodes:
            devices = [{"name": f"d{n}"} for n in range(random.choice((0, 1, 1, 2)))]
            if devices:
                pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
                spec = {"driver": "d.example.com", "nodeName": name, "pool": pool, "devices": devices}
                made.append({"kind": "ResourceSlice", "metadata": {"name": f"slice-{name}"}, "spec": spec})
        for number in range(random.choice((1, 1, 2))):
            self.claims.append(f"claim{number + 1}")
            exactly = {"deviceClassName": "dev", "allocationMode": "ExactCount", "count": 1}
            claim = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
            made.append(
                {
                    "kind": "ResourceClaim",
                    "metadata": {"name": self.claims[-1], "namespace": "default"},
                    "spec": claim,
                }
            )
        return made
