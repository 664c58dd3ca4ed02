"""The same mistake in a scheduler: for members that have a place nobody asks whether they are enough."""

from gangproof.impl.rules import Change


def any_number_will_do(quorum):
    """The step `quorum`, which gate and verdict read, without its question to the verdict."""

    def careless(sets, group, at):
        return at == "placed" or quorum(sets, group, at)

    return careless


change = Change(
    "any-number-will-do", "The verdict does not ask for the minimum.", {"quorum": any_number_will_do}
)
