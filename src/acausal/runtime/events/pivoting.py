"""Which switches to turn, so that a configuration agrees with itself: complementary pivoting on sets of integers.

*Problem.* Each switch is on or off. For a set S of switches that differ from how they were, the equations say which switches
*disagree* with S, because what is solved for with S belongs to their other side; or they have no solution. Find an S with which
none disagrees. Of ideal diodes and contacts this is a linear complementarity problem, and there are 2^n sets.

*Method.* Turn all that disagree, as long as their number falls, and a few times more; then only the last of them, until their
number is lower than it ever was (Júdice and Pires, Computers & Operations Research 21, 1994; Kostreva 1978). Where each switch
answers to itself whatever the others do (a P matrix), turning one at a time by a fixed order comes to an end (Murty 1974). In
general it does not: which set comes next then follows from the present one alone, so that a set which comes back shows that
nothing will come of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

_ALL_AT_ONCE = 3  # times that all are turned without getting fewer
_PATIENCE = 4096  # sets in a row with which no fewer disagree than ever before: the worst case would be all of them

Disagreeing = Callable[[frozenset[int]], Set[int] | None]


def agreeing(disagreeing: Disagreeing) -> frozenset[int] | None:
    """A set with which none disagrees; None where the search returns to where it was, gets no nearer, or finds no
    solution to go on from.

    >>> agreeing(lambda chosen: {3, 7} ^ chosen)
    frozenset({3, 7})
    >>> agreeing(lambda chosen: {1})  # it wants to be what it is not
    """
    chosen = frozenset[int]()
    wrong, fewest, together, seen = disagreeing(chosen), float("inf"), _ALL_AT_ONCE, set[frozenset[int]]()
    while wrong:
        if len(wrong) < fewest:
            fewest, together, seen = len(wrong), _ALL_AT_ONCE, set()
        elif together:
            together -= 1
        if not together and (chosen in seen or len(seen) >= _PATIENCE):
            return None
        seen |= set() if together else {chosen}
        chosen, wrong = next(_solvable(chosen, wrong, bool(together), disagreeing), (chosen, None))
    return None if wrong is None else chosen


def _solvable(
    chosen: frozenset[int], wrong: Set[int], together: bool, disagreeing: Disagreeing
) -> Iterator[tuple[frozenset[int], Set[int]]]:
    """Sets to go on with, in the order of preference."""
    for turned in (*([wrong] if together else []), *({k} for k in sorted(wrong, reverse=True))):
        found = disagreeing(chosen ^ turned)
        if found is not None:
            yield chosen ^ turned, found
