"""Random discrete programs: Integers and Booleans in `when`, `elsewhen`, equations and clocks, against an interpreter.

A state runs at a rate that an Integer decides and is set back by `reinit`; clocks tick together and apart. Conditions compare the
state, time, Integers, and `pre` of them; each variable may read what stands before it as it is now, and everything as it was
before. So an instant has one outcome, which the rules of `docs/events.md` give, round by round; all times follow by arithmetic.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import acausal as ac

UNTIL = 3.0
_APART = 1e-6  # instants that are closer are not judged
_ROUNDS = 40

# an expression is a text of Python over n[k], p[k] (pre), b[k], pb[k], y, t, tick[k]; both sides evaluate it


class Ambiguous(ValueError):
    """Instants too close, or rounds without end."""


@dataclass(frozen=True)
class Program:
    """Clauses by variable; a clause is [(condition, value), …] in the order of `elsewhen`."""

    clocks: list[tuple[float, float]]
    integers: list[list[tuple[str, str]]]
    booleans: list[str]
    resets: list[tuple[str, str]]
    rate: str
    levels: list[float] = field(default_factory=list)


def _integer(rng: np.random.Generator, k: int, count: int) -> str:
    """A value for Integer k."""
    reads = [f"p[{j}]" for j in range(count)] + [f"n[{j}]" for j in range(k)]
    one, other = rng.choice(reads, 2)
    return str(
        rng.choice(
            [f"{one} + 1", f"{one} - {other}", f"{one} + {int(rng.integers(1, 4))}", f"where({one} > {other}, 1, {other} - 2)", "0"]
        )
    )


def _condition(rng: np.random.Generator, k: int, count: int, clocks: int, booleans: int, levels: list[float]) -> str:
    def leaf() -> str:
        kind = rng.integers(6)
        if kind == 0:
            level = float(np.round(rng.uniform(0.1, 0.9), 2))
            levels.append(level)
            return f"(y > {level})" if rng.random() < 0.7 else f"(y < {level})"
        if kind == 1:
            return f"(t >= {float(np.round(rng.uniform(0.05, UNTIL), 2))})"
        if kind == 2 and k:
            return f"(n[{int(rng.integers(k))}] > {int(rng.integers(-1, 4))})"
        if kind == 3 and booleans:
            return f"b[{int(rng.integers(booleans))}]"
        if kind == 4:
            return f"(p[{int(rng.integers(count))}] < {int(rng.integers(0, 4))})"
        return f"tick[{int(rng.integers(clocks))}]"

    text = leaf()
    while rng.random() < 0.35:
        text = f"({text} {rng.choice(['&', '|'])} {leaf()})"
    return text


def draw(seed: int) -> Program:
    rng = np.random.default_rng(seed)
    clocks = [(float(np.round(rng.choice([0.0, 0.1, 0.25, 0.4]), 2)), float(rng.choice([0.2, 0.25, 0.3, 0.5]))) for _ in range(2)]
    count, levels = int(rng.integers(2, 5)), []  # type: ignore[var-annotated]
    booleans: list[str] = []
    for k in range(int(rng.integers(0, 3))):
        level = float(np.round(rng.uniform(0.1, 0.9), 2))
        levels.append(level)
        booleans.append(str(rng.choice([f"(y > {level})", f"((y > {level}) | (pb[{k}] & (y > {level} - 0.2)))", f"(p[0] > {k})"])))
    integers = []
    for k in range(count):
        branches = int(rng.integers(1, 4))
        clause = [(_condition(rng, k, count, 2, len(booleans), levels), _integer(rng, k, count)) for _ in range(branches)]
        integers.append(clause)
    resets = [(_condition(rng, count, count, 2, len(booleans), levels), "0.0537"), ("(y > 1.0)", "0.0")]
    levels.append(1.0)
    rate = str(rng.choice(["1.01371", "where(n[0] > 1, 0.50713, 1.01371)", "where(n[1] > n[0], 1.5311, 0.75373)"]))
    if rng.random() < 0.3:
        resets = resets[1:]
    return Program(clocks, integers, booleans, resets, rate, levels)


# --- the program as a component ---------------------------------------------------------------------------------------------------


def component(program: Program) -> ac.Component:
    count = len(program.integers)

    def names(self: Any) -> dict[str, Any]:
        n, b = [getattr(self, f"n{k}") for k in range(count)], [getattr(self, f"b{k}") for k in range(len(program.booleans))]
        return {
            "n": n, "p": [ac.pre(v) for v in n], "b": b, "pb": [ac.pre(v) for v in b], "y": self.y, "t": ac.time,
            "tick": [ac.sample(first, period) for first, period in program.clocks], "where": ac.where,
        }  # fmt: skip

    def equations(self: Any) -> Any:
        here = names(self)
        yield ac.der(self.y) == eval(program.rate, here) + 0.0 * self.y
        for k, text in enumerate(program.booleans):
            yield getattr(self, f"b{k}") == eval(text, names(self))

    def events(self: Any) -> Any:
        for k, clause in enumerate(program.integers):
            here = names(self)
            made: Any = None
            for condition, value in clause:
                does = ac.assign(getattr(self, f"n{k}"), eval(value, here))
                test = eval(condition, here)
                made = ac.when(test, does) if made is None else made.elsewhen(test, does)
            yield made
        made = None
        for condition, value in program.resets:
            test, does = eval(condition, names(self)), ac.reinit(self.y, float(value))
            made = ac.when(test, does) if made is None else made.elsewhen(test, does)
        yield made

    space: dict[str, Any] = {"y": ac.Variable(start=0.0, fixed=True), "equations": equations, "events": events}
    space |= {f"n{k}": ac.Integer(0) for k in range(count)} | {f"b{k}": ac.Boolean(False) for k in range(len(program.booleans))}
    return type("Drawn", (ac.Component,), space)()


# --- the same by the rules --------------------------------------------------------------------------------------------------------


class Interpreter:
    """The rules of `docs/events.md`, for programs whose variables read backwards only."""

    def __init__(self, program: Program) -> None:
        self.program, self.t, self.y = program, 0.0, 0.0
        self.n, self.b = [0] * len(program.integers), [False] * len(program.booleans)
        self.held: dict[Any, bool] = {}  # conditions as they were
        self.told: list[tuple[float, list[int], list[bool], float]] = []

    def names(self, pre: tuple[list[int], list[bool]], tick: list[bool], y: float, n: list[int], b: list[bool]) -> dict[str, Any]:
        return {
            "n": n, "p": pre[0], "b": b, "pb": pre[1], "y": y, "t": self.t, "tick": tick,
            "where": lambda c, one, other: one if c else other,
        }  # fmt: skip

    def conditions(self, here: dict[str, Any]) -> dict[Any, bool]:
        """Of all clauses, at present."""
        clauses = [((k, i), c) for k, clause in enumerate(self.program.integers) for i, (c, _) in enumerate(clause)]
        clauses += [(("y", i), c) for i, (c, _) in enumerate(self.program.resets)]
        return {key: bool(eval(condition, here)) for key, condition in clauses}

    def settle(self, tick: list[bool]) -> None:
        """Rounds until one changes nothing."""
        for rounds in range(_ROUNDS):
            before = (list(self.n), list(self.b), self.y, dict(self.held))
            n, b, held, y = list(self.n), list(self.b), dict[Any, bool](), self.y
            here = self.names((list(self.n), list(self.b)), tick, self.y, n, b)
            for k, text in enumerate(self.program.booleans):
                b[k] = bool(eval(text, here))

            def chosen(name: Any, clause: list[tuple[str, str]], here: dict[str, Any] = here, held: dict[Any, bool] = held) -> str:
                for i, (condition, _) in enumerate(clause):
                    held[name, i] = bool(eval(condition, here))
                taken = [value for i, (_, value) in enumerate(clause) if held[name, i] and not self.held[name, i]]
                return taken[0] if taken else ""

            for k, clause in enumerate(self.program.integers):
                if value := chosen(k, clause):
                    n[k] = int(eval(value, here))
            if value := chosen("y", self.program.resets):
                y = float(value)
            self.n, self.b, self.y, self.held = n, b, y, held
            tick = [False] * len(tick)
            if (self.n, self.b, self.y, self.held) == before and rounds:
                return
        raise Ambiguous("rounds without end")

    def run(self) -> None:
        program = self.program
        tick = [first == 0.0 for first, _ in program.clocks]
        still = [False] * len(tick)  # what is true from the start has not become true
        self.held = self.conditions(self.names((self.n, self.b), still, self.y, self.n, self.b))
        self.settle(tick)
        self.told.append((0.0, list(self.n), list(self.b), self.y))
        times = sorted({float(p) for p in self._texts_of_time()})
        while self.t < UNTIL:
            rate = float(eval(program.rate, self.names((self.n, self.b), [], self.y, self.n, self.b)))
            ticks = [[round(first + j * period, 9) for j in range(200)] for first, period in program.clocks]
            due = [min(x for x in row if x > self.t + 1e-9) for row in ticks]
            crossing = [self.t + (v - self.y) / rate for v in self._levels() if v > self.y + 1e-9]
            later = [x for x in [*due, *crossing, *(x for x in times if x > self.t + 1e-9), UNTIL] if x > self.t]
            at = min(later)
            if any(at + 1e-9 < x < at + _APART for x in later):
                raise Ambiguous("instants too close")
            close = [x for x in crossing if abs(x - at) < 1e-9]
            if close and any(abs(x - at) < 1e-9 for x in [*due, *times, UNTIL]):
                raise Ambiguous("a crossing at a tick")
            self.y += rate * (at - self.t)
            self.t = at
            if close:
                level = min(self._levels(), key=lambda v: abs(v - self.y))
                self.y = float(np.nextafter(level, 9.0)) + 1e-12
            if at >= UNTIL:
                break
            self.settle([any(abs(x - at) < 1e-9 for x in row) for row in ticks])
            if len(self.told) > 400:
                raise Ambiguous("too many events")
            self.told.append((self.t, list(self.n), list(self.b), self.y))

    def _levels(self) -> set[float]:
        return {v for level in self.program.levels for v in (level, level - 0.2)}

    def _texts_of_time(self) -> list[str]:
        texts = [c for clause in self.program.integers for c, _ in clause] + [c for c, _ in self.program.resets]
        return [part.split(")")[0] for text in texts for part in text.split("t >= ")[1:]]


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    program = draw(seed)
    wanted = Interpreter(program)
    try:
        wanted.run()
    except Ambiguous:
        return "run"
    times = np.array([t for t, *_ in wanted.told])
    middle = np.append(times[:-1] + 0.5 * np.diff(times), 0.5 * (times[-1] + UNTIL))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.ModelWarning)
        result = ac.compile(component(program)).simulate(until=UNTIL, at=middle, rtol=1e-9)
    if not result.outcome.ok:
        return f"{result.outcome.name} at {result.time_reached:g}: {program}"
    rows = np.searchsorted(result.time, middle + 1e-12) - 1
    for k, (t, n, b, _) in enumerate(wanted.told):
        found = [int(result[f"n{j}"][rows[k]]) for j in range(len(n))], [bool(result[f"b{j}"][rows[k]]) for j in range(len(b))]
        if found != (n, b):
            return f"{found} after {t:g}, wanted {(n, b)}: {program}"
    return "run"
