"""The words in which gangproof answers, and how many answers make one.

Every engine ends in a `Verdict`, and every command in the verdict of its parts. The words are few, so that a
reader, a shell script and a continuous-integration system understand the same thing: an unfinished search is
never called success, and neither is a search that never met the case it was made for.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """An answer, from the worst to the one that says least; the value is the word that people read.

    `violated`: some allowed run breaks a property. `inconclusive`: a bound, the time or an interruption came
    before an answer. `vacuous`: nothing broke, but the interesting case was never reached. `holds`: all was
    looked at and nothing broke. `not supported`: the question lies outside what is modelled. `nothing
    checked`: there was no question.
    """

    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    VACUOUS = "vacuous"
    HOLDS = "holds"
    NOT_SUPPORTED = "not supported"
    NOTHING_CHECKED = "nothing checked"

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends in this verdict."""
        return _EXIT_CODES[self]

    def __str__(self) -> str:
        return self.value


_EXIT_CODES = {
    Verdict.HOLDS: 0,
    Verdict.VIOLATED: 1,
    Verdict.INCONCLUSIVE: 3,
    Verdict.VACUOUS: 4,
    Verdict.NOT_SUPPORTED: 5,
    Verdict.NOTHING_CHECKED: 5,
}

_WORST_FIRST = tuple(Verdict)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: the worst of its parts, and `nothing checked` if there are none.

    The last two verdicts are no judgement: a part without one neither spoils nor makes the whole's. The order
    and the grouping of the parts never matter.
    """
    return min(verdicts, key=_WORST_FIRST.index, default=Verdict.NOTHING_CHECKED)
