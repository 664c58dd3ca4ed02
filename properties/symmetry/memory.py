"""What is said of pods and nodes by what is stored, by the scheduler's memory, and by the ghost."""

from __future__ import annotations

from gangproof.properties.symmetry.claim_shapes import ClaimShapes
from gangproof.properties.symmetry.reading import Reading
from gangproof.properties.symmetry.shapes import (
    disrupted,
    shape_of_node,
    shape_of_pod,
)


def read_truth(reading: Reading) -> None:
    for name, node in reading.world.nodes.items():
        shape = shape_of_node(node)
        reading.at[name], reading.nodes[name] = [], [shape.value]
        if shape.names:
            reading.kept |= shape.names
    reading.kept |= disrupted(reading.world.budgets)
    for key, pod in reading.world.pods.items():
        shape = shape_of_pod(pod)
        reading.pods[key], reading.uids[key] = [shape.value], pod.uid
        if shape.names:
            reading.kept |= shape.names
        if pod.node_name is None:
            reading.aged.add(key)
        if pod.owners:
            reading.owned(pod)
        reading.references(pod, "stored")


def read_reserved(reading: Reading, claims: ClaimShapes) -> None:
    """The pods for which claims are reserved."""
    for pod, claim in claims.reserved():
        reading.say(pod, ("reserved", claim))


def read_cache(reading: Reading) -> None:
    for name, info in reading.world.cache.items():
        reading.links(name)
        reading.info(name, info, "cached")


def read_memory(reading: Reading) -> None:
    world = reading.world
    for group, sets in world.members.items():
        reading.members(group, sets, "member")
        reading.aged.update(sets.unsched, sets.assumed)
    for key, node in world.assumed.items():
        reading.rank(key, "promised")
        reading.link(key, node, "promised")
    for number, entry in enumerate(world.queue):
        reading.rank(entry.pod, (number, entry.place, entry.plugins, entry.cooling, entry.tried))
    for key, uid in world.in_flight.items():
        reading.say(key, ("in flight", uid == reading.uids.get(key)))
    for key, node in world.nominations.items():
        reading.link(key, node, "nomination")
    for key, binding in world.bindings.items():
        reading.rank(key, binding.call)
        reading.link(key, binding.node, "binding")
        if binding.holds and reading.claims is not None:
            reading.say(key, reading.claims.holds(key, binding.holds))
    if world.rounds:
        read_rounds(reading)


def read_rounds(reading: Reading) -> None:
    """The rounds that run: a group's by its key, a plain pod's by that pod's age."""
    rounds = reading.world.rounds
    for number, entity in enumerate(reading.by_age([entity.removeprefix("=") for entity in rounds])):
        running = rounds.get(entity) or rounds[f"={entity}"]
        plain = entity not in rounds
        whole = ("" in running.unbegun, "" in running.failed, running.group)
        reading.whole.append((number, plain or entity, whole))
        if plain:
            reading.rank(entity, ("preempts", number))
        askers = {key: place for place, key in enumerate(reading.by_age(running.askers))}
        for key, place in askers.items():
            reading.rank(key, ("asks", number, place, key in running.unbegun, key in running.failed))
        for key, uid in running.victims:
            reading.say(key, ("victim", number, uid == reading.uids.get(key)))
        for place, (key, asker) in enumerate(running.calls):
            reading.say(key, ("called", number, place, askers.get(asker, asker)))


def read_admitted(reading: Reading) -> None:
    """In which order pods were let in first, as far as they still wait for a node."""
    waiting = {pod.uid: key for key, pod in reading.world.pods.items() if pod.node_name is None}
    batches = ([waiting[uid] for uid in batch if uid in waiting] for batch in reading.world.admitted)
    for number, batch in enumerate(filter(None, batches)):
        for key in batch:
            reading.say(key, ("admitted", number))


def read_ghost(reading: Reading) -> None:
    ghost = reading.world.ghost
    for group, counted in ghost.counted.items():
        for key in counted:
            reading.say(key, ("counted", group))
    for what in ("owed", "placed", "evicted", "sent_back"):
        pods: tuple[str, ...] = getattr(ghost, what)
        for key in pods:
            reading.say(key, what)
