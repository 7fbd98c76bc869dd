"""Which input state is set when several sources drive it (WinDali 6.2, tables 6.1 and 6.2).

Given input states X, each with a rule, and sources, each of which is in one state at a time. X is *set* if

- its rule is "all" and every source is in X (WinDali's AND);
- its rule is "any" and at least one source is in X (WinDali's OR);
- its rule is "otherwise" and no state with another rule is set.

The component is in a definite state if exactly one input state is set. Wanted: that state for given sources, and, before anything
runs, the combinations of states for which there is none. What counts of a combination is only which states occur in it: a rule
"all" is met if a single state occurs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

RULES = ("all", "any", "otherwise")


def resolve(rules: Mapping[str, str], present: Mapping[str, int], sources: int) -> str | None:
    """The input state that is set when `present[X]` of the sources are in state X; None if it is none, or more than one.

    >>> resolve({"on": "all", "off": "any"}, {"on": 1, "off": 1}, 2)
    'off'
    """
    _check(rules, sources)
    if sum(present.values()) != sources or min(present.values()) < 0:
        raise ValueError(f"{sources} sources cannot be in the states {dict(present)}")
    return _definite(rules, frozenset(state for state, count in present.items() if count))


def ambiguous(rules: Mapping[str, str], sources: int, states: Iterable[str] | None = None) -> list[frozenset[str]]:
    """The sets of states that occur together among the sources and leave the input undecided; smaller sets first.

    `states` are those a source can be in; those of the rules if they are not given.

    >>> [sorted(s) for s in ambiguous({"on": "any", "off": "any"}, 2)]
    [['off', 'on']]
    >>> ambiguous({"on": "all", "off": "any"}, 2)
    []
    """
    _check(rules, sources)
    possible = list(dict.fromkeys(rules if states is None else states))
    together = (frozenset(c) for size in range(1, min(sources, len(possible)) + 1) for c in combinations(possible, size))
    return [occurring for occurring in together if _definite(rules, occurring) is None]


def _definite(rules: Mapping[str, str], occurring: frozenset[str]) -> str | None:
    present = [state for state in rules if state in occurring]
    met = [state for state in present if rules[state] == "any" or (rules[state] == "all" and len(occurring) == 1)]
    met = met or [state for state, rule in rules.items() if rule == "otherwise"]
    return met[0] if len(met) == 1 else None


def _check(rules: Mapping[str, str], sources: int) -> None:
    for state, rule in rules.items():
        if rule not in RULES:
            raise ValueError(f"the rule of input state {state!r} is {rule!r}; it is one of {', '.join(RULES)}")
    if sources < 1:
        raise ValueError("an input state without a source has no value")
