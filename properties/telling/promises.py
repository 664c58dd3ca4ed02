"""What a broken property promised, and which objects a violation is about, for whoever tells it to people."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.impl.world import World
from gangproof.properties.scenarios.document import Attempt
from gangproof.properties.scenarios.expectations import ConditionIs, Exists, InState, OnNode, Together
from gangproof.properties.scenarios.judge import short
from gangproof.properties.search.system import Violation
from gangproof.spec import INVARIANTS
from gangproof.spec.judging import Broken, Refusal


@frozen
class Promise:
    """A property in words: its name, its claim in one sentence, and the rules on which it rests."""

    name: str
    claim: str
    rules: tuple[str, ...]


def promise(property_id: str) -> Promise | None:
    """The contract's invariant of that id, None if the contract has no such invariant."""
    for invariant in INVARIANTS:
        if invariant.id == property_id:
            return Promise(invariant.name, invariant.claim, tuple(invariant.rules))
    return None


def clause(violation: Violation) -> str:
    """What is not so, in words, and of whom; the name of the property is told elsewhere."""
    match violation.evidence:
        case Broken(clause=words, binding=binding):
            whom = ", ".join(f"{variable} = {short(value)}" for variable, value in binding)
            return f"not so for {whom}: {words}" if whom else f"not so: {words}"
        case _:
            return violation.message


def involved(violation: Violation, world: World) -> tuple[str, ...]:
    """The keys of the objects of the world that the violation is about, as far as its evidence tells."""
    known = {*world.pods, *world.groups, *world.nodes, *world.claims}
    return tuple(dict.fromkeys(name for name in _named(violation.evidence) if name in known))


def _named(evidence: object) -> Iterator[str]:
    match evidence:
        case InState(pods=pods):
            yield from pods.of
        case OnNode(pod=pod, node=node):
            yield from (pod, node)
        case Together(pods=pods):
            yield from pods
        case ConditionIs(group=group):
            yield group
        case Exists(ref=ref):
            yield ref.key
        case Attempt(entity=entity):
            yield entity.key
        case Broken(binding=binding) | Refusal(binding=binding):
            yield from (value for _, value in binding)
        case _:
            pass
