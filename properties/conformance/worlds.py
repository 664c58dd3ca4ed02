"""Random worlds for a real scheduler: a setup and a course of steps, drawn from a seed.

A world is the `scenario` of a recorded run: plain data, with whole Kubernetes objects. Same features, seed and
number: same world, in every process and on every machine. Objects arrive in any order, in one go or with the
scheduler's turns between; then things change and go, pods and groups also under their old names.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from attrs import define, field

from gangproof.properties.conformance import devices, inhabitants
from gangproof.properties.conformance.inhabitants import Habits, Object, chance
from gangproof.properties.conformance.options import MOST_NODES, Features, gates, habits, setup

Step = dict[str, Any]

MOST_GROUPS, MOST_PODS = 4, 12


def draw(features: Features, seed: int | str, number: int) -> Object:
    """The world of that number."""
    random = Random(f"{features}/{seed}/{number}")
    course = _Course(random, habits(features, random))
    on = gates(features, random)
    course.served = "GenericWorkload" in on
    return {
        "name": f"{features}-{seed}-{number}",
        "gates": on,
        **setup(features, random),
        "steps": course.steps(),
    }


@define
class _Course:
    """The steps of one world, as they are drawn; it remembers what has been made and is still meant to be there.

    Where PodGroups are not `served` there are none; pods name them all the same. `shared` are the entries by which
    groups have their claims, `templates` those that are there, `slices` each node's.
    """

    random: Random
    habits: Habits
    served: bool = True
    nodes: dict[str, Object] = field(factory=dict[str, Object])
    groups: dict[str, Object] = field(factory=dict[str, Object])
    protected: set[str] = field(factory=set[str])
    pods: dict[str, Object] = field(factory=dict[str, Object])
    claims: list[str] = field(factory=list[str])
    shared: dict[str, Object] = field(factory=dict[str, Object])
    templates: list[str] = field(factory=list[str])
    number_of_claims: int = 0
    slices: dict[str, Object] = field(factory=dict[str, Object])
    gone: list[str] = field(factory=list[str])
    made: dict[str, int] = field(factory=dict[str, int])

    def steps(self) -> list[Step]:
        """All steps: arrivals, then changes, with the scheduler's turns between."""
        random = self.random
        steps: list[Step] = []
        waves = self.waves()
        for wave in waves:
            steps.append({"create": wave})
            if wave is not waves[-1]:
                steps.extend(self.turns())
        steps.extend(self.rest())
        for _ in range(random.choice((0, 1, 1, 2, 3, 4))):
            for _ in range(random.choice((1, 1, 2))):
                steps.extend(self.change())
                if chance(random, 0.2):
                    steps.extend(self.turns())
            steps.extend(self.rest())
        return steps

    def waves(self) -> list[list[Object]]:
        """Everything that is there in the beginning, in a random order, cut into a few pieces.

        With templates groups come first: the claim controller gives up on a pod without its group for some time.
        """
        random = self.random
        objects = self.devices() if self.habits.claims else []
        objects += [self.node() for _ in range(random.choice((1, 1, 2, 2, 3, MOST_NODES)))]
        groups = [self.group() for _ in range(random.choice((1, 1, 2, 2, 3, MOST_GROUPS)))]
        objects += groups if self.served else []
        unknown = "unknown" if chance(random, 0.05) else None
        objects += [self.pod(unknown) for _ in range(random.choice((1, 2, 3, 4, 4, 5, 6, 7, 8, MOST_PODS)))]
        if self.habits.never < 1 and len(self.habits.priorities) > 1 and chance(random, 0.25):
            objects.append(inhabitants.budget(random, "b1"))
        if chance(random, 0.6):
            random.shuffle(objects)
        if self.habits.templates:
            objects.sort(key=lambda drawn: drawn["kind"] != "PodGroup")
        cuts = sorted(random.randrange(len(objects) + 1) for _ in range(random.choice((0, 0, 1, 2))))
        edges = [0, *cuts, len(objects)]
        return [objects[a:b] for a, b in pairwise(edges) if a < b]

    def turns(self) -> list[Step]:
        """A few turns of the scheduler, or some time."""
        random = self.random
        return random.choices(
            (
                [{"settle": {"idle": random.choice((1, 3))}}],
                [{"cycles": random.choice((1, 1, 2, 3))}],
                [{"advance": random.choice((1, 3, 12))}],
            ),
            (3, 3, 1),
        )[0]

    def rest(self) -> list[Step]:
        """The scheduler comes to rest, and is looked at."""
        if chance(self.random, 0.12):
            return [*self.turns(), {"snapshot": True}]
        return [{"settle": True}, {"snapshot": True}]

    # what changes

    def change(self) -> list[Step]:
        random = self.random
        kinds = (
            (self.more_pods, 6),
            (self.fewer_pods, 6),
            (self.pods_end, 2),
            (self.more_nodes, 2),
            (self.fewer_nodes, 1.5),
            (self.other_nodes, 3),
            (self.other_pods, 1.5),
            (self.groups_go, 1.5),
            (self.groups_come, 1),
            (self.restart, 0.7),
        )
        if self.habits.claims:
            kinds += ((self.claims_change, 3), (self.devices_change, 3))
        chosen = random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return chosen()

    def more_pods(self) -> list[Step]:
        objects = [self.pod() for _ in range(self.random.choice((1, 1, 2, 3)))]
        return [{"create": objects}] if objects else []

    def fewer_pods(self) -> list[Step]:
        """Pods are told to go; those that take their time are taken away sooner or later."""
        random = self.random
        if not self.pods:
            return []
        chosen = random.sample(sorted(self.pods), min(len(self.pods), random.choice((1, 1, 1, 2, 3))))
        for name in chosen:
            del self.pods[name]
        self.gone.extend(chosen)
        if chance(random, 0.2):
            return [{"kill": chosen}]
        steps: list[Step] = [{"delete": [f"Pod/default/{name}" for name in chosen]}]
        if self.habits.graceful and chance(random, 0.6):
            if chance(random, 0.5):
                steps.extend(self.turns())
            steps.append({"reap": True})
        return steps

    def pods_end(self) -> list[Step]:
        if not self.pods:
            return []
        name = self.random.choice(sorted(self.pods))
        del self.pods[name]
        return [{"finish": [name]}]

    def more_nodes(self) -> list[Step]:
        return [{"create": [self.node()]}] if len(self.nodes) < MOST_NODES else []

    def fewer_nodes(self) -> list[Step]:
        """A node goes, its pods mostly with it."""
        random = self.random
        if not self.nodes:
            return []
        name = random.choice(sorted(self.nodes))
        del self.nodes[name]
        return [{"delete": [f"Node//{name}"]}]

    def other_nodes(self) -> list[Step]:
        """A node is relabelled, tainted, cordoned, or has other room."""
        random = self.random
        if not self.nodes:
            return []
        name = random.choice(sorted(self.nodes))
        drawn = inhabitants.node(
            random, Habits(constraints=0.4, resources=self.habits.resources, topology=1), name
        )
        node = dict(self.nodes[name])
        match random.choice(("room", "room", "labels", "spec", "spec")):
            case "room":
                node["status"] = drawn["status"]
            case "labels":
                node["metadata"] = drawn["metadata"]
            case _:
                node.pop("spec", None)
                node.update({"spec": drawn["spec"]} if "spec" in drawn else {})
        self.nodes[name] = node
        return [{"update": [node]}]

    def other_pods(self) -> list[Step]:
        """A pod loses its scheduling gates, gets a toleration, or is relabelled."""
        random = self.random
        if not self.pods:
            return []
        gated = [name for name in sorted(self.pods) if "schedulingGates" in self.pods[name]["spec"]]
        name = random.choice(gated or sorted(self.pods))
        pod = self.pods[name]
        spec, metadata = dict(pod["spec"]), dict(pod["metadata"])
        if gated:
            del spec["schedulingGates"]
        elif chance(random, 0.5):
            spec["tolerations"] = [*spec.get("tolerations", []), {"key": "dedicated", "operator": "Exists"}]
        else:
            metadata["labels"] = {"app": random.choice(inhabitants.APPS)}
        self.pods[name] = {**pod, "metadata": metadata, "spec": spec}
        return [{"update": [self.pods[name]]}]

    def groups_go(self) -> list[Step]:
        if not (self.groups and self.served):
            return []
        name = self.random.choice(sorted(self.groups))
        if "finalizers" in self.groups.pop(name)["metadata"]:
            self.protected.add(name)
        return [{"delete": [f"PodGroup/default/{name}"]}]

    def groups_come(self) -> list[Step]:
        room = len(self.groups) + len(self.protected) < MOST_GROUPS
        return [{"create": [self.group()]}] if room and self.served else []

    def restart(self) -> list[Step]:
        return [{"restart": True}]

    def claims_change(self) -> list[Step]:
        """A claim comes, or one goes; a claim that is in use lingers, so its name is not used again."""
        random = self.random
        if self.habits.templates and chance(random, 0.3):
            return self.templates_change()
        if self.claims and chance(random, 0.5):
            name = self.claims.pop(random.randrange(len(self.claims)))
            return [{"delete": [f"ResourceClaim/default/{name}"]}]
        return [{"create": [self.claim()]}]

    def templates_change(self) -> list[Step]:
        """A template comes, or one goes; what was made from it stays."""
        name = self.random.choice(devices.TEMPLATES)
        if name not in self.templates:
            return [{"create": [self.template(name)]}]
        self.templates.remove(name)
        return [{"delete": [f"ResourceClaimTemplate/default/{name}"]}]

    def devices_change(self) -> list[Step]:
        """A node has other devices, or none any more."""
        random = self.random
        node = random.choice([f"n{n}" for n in range(1, MOST_NODES + 1)])
        if node not in self.slices:
            return [{"create": [self.slice(node)]}]
        if chance(random, 0.3):
            del self.slices[node]
            return [{"delete": [f"ResourceSlice//slice-{node}"]}]
        return [{"update": [self.slice(node)]}]

    # what is made

    def devices(self) -> list[Object]:
        """Classes, slices and claims that are there in the beginning."""
        random = self.random
        nodes = [f"n{n}" for n in range(1, MOST_NODES + 1) if chance(random, 0.75)]
        claims = [self.claim() for _ in range(random.choice((1, 2, 2, 3)))]
        wanted = devices.TEMPLATES if self.habits.templates else ()
        templates = [self.template(name) for name in wanted if chance(random, 0.9)]
        return [*devices.classes(), *map(self.slice, nodes), *claims, *templates]

    def claim(self) -> Object:
        name = f"c{self.number_of_claims + 1}"
        self.number_of_claims += 1
        self.claims.append(name)
        drawn = devices.claim(self.random, name)
        if self.habits.templates and chance(self.random, 0.12):
            return devices.allocated(drawn, f"n{self.random.randrange(1, MOST_NODES + 1)}")
        return drawn

    def template(self, name: str) -> Object:
        self.templates.append(name)
        return devices.template(self.random, name)

    def slice(self, node: str) -> Object:
        self.slices[node] = devices.resource_slice(self.random, node, self.slices.get(node))
        return self.slices[node]

    def node(self) -> Object:
        name = next(f"n{n}" for n in range(1, MOST_NODES + 1) if f"n{n}" not in self.nodes)
        self.nodes[name] = inhabitants.node(self.random, self.habits, name)
        return self.nodes[name]

    def group(self) -> Object:
        """A group; one that was protected may still be there, so its name is not used again."""
        taken = {*self.groups, *self.protected}
        name = next(f"g{n}" for n in range(1, MOST_GROUPS + 1) if f"g{n}" not in taken)
        drawn = inhabitants.group(self.random, self.habits, name)
        self.shared.pop(name, None)
        if self.claims and chance(self.random, self.habits.claims):
            self.shared[name] = self.entry()
            drawn["spec"]["resourceClaims"] = [self.shared[name]]
        self.groups[name] = drawn
        return drawn

    def entry(self) -> Object:
        """The entry by which a group has its claim."""
        if self.habits.templates and chance(self.random, self.habits.templates):
            return devices.generated(self.random.choice(devices.TEMPLATES))
        return devices.uses(self.random.choice(self.claims))

    def pod(self, also: str | None = None) -> Object:
        """A pod, most often of a group, now and then on a node already, or done."""
        random = self.random
        if self.gone and chance(random, 0.15):
            name = self.gone.pop(0)
        else:
            name = f"p{len(self.made) + 1}"
        self.made[name] = self.made.get(name, 0) + 1
        groups = [*self.groups, *([also] if also else [])]
        member_of = random.choice(groups) if groups and chance(random, 0.8) else None
        uid = name if self.made[name] == 1 else f"{name}-{self.made[name]}"
        drawn = inhabitants.pod(random, self.habits, name, member_of, uid)
        if self.habits.claims:
            of_group = self.shared.get(member_of or "")
            habits = self.habits
            found = devices.uses_of_pod(random, of_group, self.claims, habits.claims / 2, habits.templates)
            if found:
                drawn["spec"]["resourceClaims"] = found
        if (
            self.nodes
            and "schedulingGates" not in drawn["spec"]
            and chance(random, self.habits.templates / 8 if drawn["spec"].get("resourceClaims") else 0.12)
        ):
            drawn["spec"]["nodeName"] = random.choice(sorted(self.nodes))
            if chance(random, 0.15):
                drawn["status"] = {"phase": random.choice(("Succeeded", "Failed"))}
        self.pods[name] = drawn
        return drawn
