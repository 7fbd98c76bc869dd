"""Random equations between arrays: slices with strides, chosen elements, broadcasts, sums along axes, products, against numpy.

A cell has states with one and two axes, parameters, an input and variables that are computed from them, each stated in parts that
overlap nowhere: every other element, all in reverse, a column, a list of elements. At known times parts of the states and discrete
arrays are set from what they were. Expressions are texts that numpy evaluates, too: at every output point what is computed must be
what numpy makes of the states there, and the states must be where Runge's and Kutta's formulas of order 8 take them. The cells of
a plant have numbers of their own and drive each other; a list of them, one array, and two arrays must give the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import acausal as ac

FORMS = ("objects", "arrays", "two arrays")
UNTIL, RTOL = 1.0, 1e-8
_CELLS = 4
_BANDS = (1e-9, -1e-9, 2e-9, -2e-9)  # of the larger of two numbers: by so much a relation may let them differ before it says so
_MANY = 15_000  # evaluations of the second opinion; without jumps it takes 1 000
_SPACE: dict[str, Any] = {
    "sin": np.sin, "tanh": np.tanh, "abs": np.abs, "exp": np.exp, "larger": np.maximum, "smaller": np.minimum, "where": np.where,
    "sum": np.sum, "mean": np.mean, "largest": np.max, "least": np.min, "array": np.array, "none": None, "above": np.greater,
}  # fmt: skip
_OURS: dict[str, Any] = {
    "sin": ac.sin, "tanh": ac.tanh, "abs": ac.abs, "exp": ac.exp, "larger": ac.max, "smaller": ac.min, "where": ac.where,
    "sum": ac.sum, "mean": ac.mean, "largest": ac.max, "least": ac.min, "array": np.array, "none": None,
    "above": lambda a, b: a > b,
}  # fmt: skip


class _TooMany(Exception):
    pass


class Drawn:
    """A cell: shapes by name, and equations as texts."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 4))
        self.shapes: dict[str, tuple[int, ...]] = {
            "x": (n,),
            "z": (n, m),
            "p": (n,),
            "q": (m, n),
            "k": (),
            "u": (),
            "d": (n,),
            "t": (),
        }
        self.states, self.parameters = ("x", "z"), ("p", "q", "k")
        self.computed = [(f"y{j}", self._shape()) for j in range(int(rng.integers(1, 4)))]
        self.equations: list[tuple[str, str, str]] = []  # name, index, right-hand side
        for name, shape in self.computed:
            self.equations += [(name, index, self._expression(part, 3)) for index, part in self._parts(shape)]
            self.shapes[name] = shape
        self.rates = [(f"r{name}", name, self.shapes[name]) for name in self.states]
        self.equations = [(n, i, text if rng.random() < 0.8 else f"-({text})") for n, i, text in self.equations]
        for rate, _, shape in self.rates:
            self.equations += [(rate, index, self._expression(part, 3)) for index, part in self._parts(shape)]
        self.slopes = [(name, index) for name in self.states for index, _ in self._parts(self.shapes[name])]
        whole = self.shapes
        self.shapes = {name: whole[name] for name in ("x", "z", "p", "k", "u", "q", "t")}
        self.tied: list[tuple[str, str, str]] = []  # what is differentiated, and stated as a function of the states
        if rng.random() < 0.5:
            self.tied = [
                ("w", index, f"(sin({self._leaf(part)}) + {self._smooth(part)})") for index, part in self._parts(whole["x"])
            ]
        self.named = self._expression(whole["z"], 2)
        self.shapes = {name: whole[name] for name in ("x", "z", "d", "p", "k")}
        self.resets = [self._reset(k) for k in range(int(rng.integers(0, 3)))]
        self.shapes = whole
        self.numbers = {
            name: np.round(rng.uniform(-1.0, 1.0, (_CELLS, *self.shapes[name])), 2) for name in (*self.states, *self.parameters)
        }
        self.drive = str(
            rng.choice(["x[..., 0]", "x[..., ::-1][..., 0]", "mean(z, axis=(-2, -1))", "sum(x, axis=-1)", "z[..., -1, 0]"])
        )

    def _reset(self, number: int) -> tuple[float, list[tuple[str, str, str]]]:
        """A time, and what is set then."""
        time = 0.23 + 0.41 * number
        parts = [("d", index, part) for index, part in self._parts(self.shapes["d"])]
        name = str(self.rng.choice(self.states))
        index, part = self._parts(self.shapes[name])[0]
        return time, [(name, index, self._smooth(part))] + (
            [(n, i, self._smooth(s)) for n, i, s in parts[:1]] if not number else []
        )

    def _shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.rng.integers(2, 5, int(self.rng.integers(0, 3))))

    def _parts(self, shape: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
        """Indices that name each element once, with their shapes."""
        if not shape:
            return [("", ())]
        n, rest = shape[0], shape[1:]
        order, cut = self.rng.permutation(n).tolist(), int(self.rng.integers(1, n))
        ways = [
            [""],
            ["[:]"],
            ["[::-1]"],
            ["[::2]", "[1::2]"],
            [f"[:{cut}]", f"[{cut}:]"],
            [f"[:-{n - cut}]", f"[-{n - cut}:][::-1]"],
        ]
        ways += [
            [f"[{order}]"],
            [f"[{order[:cut]}]", f"[{sorted(order[cut:])}]"],
            [f"[{k}]" for k in range(n)],
            ["[::-2]", f"[{n - 2}::-2]"],
        ]
        if rest:
            ways += [["[:, ::-1]"], ["[:, 0]", "[:, 1:]"], ["[..., ::2]", "[..., 1::2]"], [".T"], ["[0, :]", "[1:, :]"]]
        found = [str(way) for way in ways[int(self.rng.integers(len(ways)))]]
        return [(index, eval(f"a{index}", {"a": np.zeros((n, *rest))}).shape) for index in found]

    def _index(self, shape: tuple[int, ...]) -> str:
        def axis(n: int, lists: bool) -> str:
            a, b = sorted(int(k) for k in self.rng.integers(0, n + 1, 2))
            ways = [
                ":",
                str(int(self.rng.integers(-n, n))),
                f"{a}:{b}",
                "::2",
                "::-1",
                "none, :",
                f"{-n}:",
                f"{n - 1}:0:-1",
                "-2:",
                "::3",
            ]
            return str(self.rng.choice([*ways, str(self.rng.integers(-n, n, 3).tolist())] if lists else ways))

        chosen = int(self.rng.integers(len(shape))) if shape else 0
        keys = [axis(n, k == chosen) for k, n in enumerate(shape)]
        keys = keys[: int(self.rng.integers(1, len(keys) + 1))]
        return f"[{', '.join(keys)}]"

    def _leaf(self, shape: tuple[int, ...]) -> str:
        """Something that can be broadcast to a shape."""
        for _ in range(12):
            name = str(self.rng.choice(list(self.shapes)))
            own = self.shapes[name]
            text = name if not own or self.rng.random() < 0.3 else name + self._index(own)
            text += ".T" if own and self.rng.random() < 0.15 else ""
            if self._fits(text, shape):
                return text
        if shape and self.rng.random() < 0.5:
            return f"array({np.round(self.rng.uniform(-1.0, 1.0, shape), 2).tolist()})"
        return str(self.rng.choice(["k", "u", "0.5", "t"])) if "u" in self.shapes else "k"

    def _fits(self, text: str, shape: tuple[int, ...]) -> bool:
        try:
            found = np.shape(eval(text, {**_SPACE, **{name: np.ones(own) for name, own in self.shapes.items()}}))
            return 0 not in found and np.broadcast_shapes(found, shape) == shape
        except (IndexError, ValueError):
            return False

    def _reduced(self, shape: tuple[int, ...]) -> str:
        """A sum or a product that has a shape."""
        n = int(self.rng.integers(2, 4))
        ways = [(f"sum({self._leaf((n, *shape))} + array({np.ones((n, *shape)).tolist()}) * 0.1, axis=0)", shape)]
        ways.append((f"mean(tanh({self._leaf((*shape, n))}) + array({np.ones((*shape, n)).tolist()}), axis=-1)", shape))
        if len(shape) == 1:
            ways.append(
                (f"array({np.round(self.rng.uniform(-1, 1, (shape[0], len(self.numbers_of('x')))), 2).tolist()}) @ x", shape)
            )
            ways += [("z @ array([0.3] * z.shape[1])", shape), ("q.T @ z[0]", shape), ("x @ q.T", shape), ("(z @ q) @ p", shape)]
        if len(shape) == 2:
            ways += [("z @ q", shape), ("q @ z", shape), ("(q.T @ z.T)", shape), ("x[:, none] * p[none, :]", shape)]
        if not shape:
            ways += [("x @ p", ()), ("largest(z)", ()), ("least(x[::-1])", ()), ("sum(z * q.T)", ()), ("mean(x)", ())]
        fitting = [text for text, _ in ways if self._fits(text, shape)]
        return f"({self.rng.choice(fitting)})" if fitting else self._leaf(shape)

    def numbers_of(self, name: str) -> np.ndarray:
        return np.ones(self.shapes[name])

    def _smooth(self, shape: tuple[int, ...]) -> str:
        return f"0.5 * {self._leaf(shape)} - 0.3 * {self._leaf(shape)}"

    def _expression(self, shape: tuple[int, ...], depth: int) -> str:
        if not depth or self.rng.random() < 0.15:
            return self._leaf(shape)
        one, other = self._expression(shape, depth - 1), self._expression(shape, depth - 1)
        kind = int(self.rng.integers(9))
        if kind < 4:
            return f"({one} {'+-*'[kind % 3]} {other})"
        if kind == 4:
            return f"{self.rng.choice(['sin', 'tanh'])}({one})"
        if kind == 5:
            return f"{self.rng.choice(['larger', 'smaller'])}({one}, {other})"
        if kind == 6:
            return f"where(above({one}, {other}), {self._leaf(shape)}, {self._leaf(shape)})"
        if kind == 7:
            return f"({one} / (1.5 + sin({other})))"
        return self._reduced(shape)


def _cell(drawn: Drawn) -> type[ac.Component]:
    def space(self: Any) -> dict[str, Any]:
        return {**_OURS, **{name: getattr(self, name) for name in drawn.shapes if name != "t"}, "t": ac.time}

    def equations(self: Any) -> Iterator[Any]:
        known = space(self)
        for name, index, text in drawn.equations:
            yield eval(f"a{index}", {"a": getattr(self, name)}) == eval(text, known)
        self.named = ac.named(eval(drawn.named, known))
        for name, index, text in drawn.tied:
            yield eval(f"a{index}", {"a": getattr(self, name)}) == eval(text, known)
        if drawn.tied:
            yield ac.der(self.w) == self.f
        for name, index in drawn.slopes:
            rate, state = getattr(self, f"r{name}"), getattr(self, name)
            yield ac.der(eval(f"a{index}", {"a": state})) == -0.5 * eval(f"a{index}", {"a": state}) + 0.3 * eval(
                f"a{index}", {"a": rate}
            )

    def events(self: Any) -> Iterator[Any]:
        known = space(self) | {name: ac.pre(getattr(self, name)) for name in ("x", "z", "d")}
        for time, sets in drawn.resets:
            actions = []
            for name, index, text in sets:
                set_ = ac.assign if name == "d" else ac.reinit
                actions.append(set_(eval(f"a{index}", {"a": getattr(self, name)}), eval(text, known)))
            yield ac.when(ac.time >= time, *actions)

    space_of: dict[str, Any] = {name: ac.Variable(shape=shape) for name, shape in drawn.computed}
    space_of |= {name: ac.Variable(shape=drawn.shapes[name], start=0.0, fixed=True) for name in drawn.states}
    space_of |= {rate: ac.Variable(shape=shape) for rate, _, shape in drawn.rates}
    space_of |= {name: ac.Parameter(0.0, shape=drawn.shapes[name]) for name in drawn.parameters}
    if drawn.tied:
        space_of |= {name: ac.Variable(shape=drawn.shapes["x"]) for name in ("w", "f")}
    space_of |= {"u": ac.Input(0.0), "d": ac.Discrete(0.0, shape=drawn.shapes["d"])}
    return type("Cell", (ac.Component,), {**space_of, "equations": equations, "events": events})


def _plant(drawn: Drawn, form: str) -> ac.Component:
    kind = _cell(drawn)
    numbers = drawn.numbers | {name: {"start": drawn.numbers[name]} for name in drawn.states}

    def of(k: Any) -> dict[str, Any]:
        return {
            name: ac.modify(start=drawn.numbers[name][k]) if name in drawn.states else drawn.numbers[name][k] for name in numbers
        }

    def drive(cell: Any) -> Any:
        return eval(drawn.drive, {**_OURS, "x": cell.x, "z": cell.z})

    class Plant(ac.Component):
        def __init__(self) -> None:
            if form == "objects":
                self.cell: Any = [kind(**of(k)) for k in range(_CELLS)]
            elif form == "arrays":
                self.cell = ac.array(kind, _CELLS, **of(slice(None)))
            else:
                self.even, self.odd = (ac.array(kind, 2, **of(slice(k, _CELLS, 2))) for k in range(2))

        def equations(self) -> Iterator[Any]:
            if form == "objects":
                for k in range(_CELLS):
                    yield self.cell[k].u == 0.3 * drive(self.cell[k - 1])
            elif form == "arrays":
                yield self.cell[1:].u == 0.3 * drive(self.cell[:-1])
                yield self.cell[0].u == 0.3 * drive(self.cell[-1])
            else:
                yield self.odd.u == 0.3 * drive(self.even)
                yield self.even[::-1].u == 0.3 * drive(self.odd)

    return Plant()


def _path(form: str, k: int) -> str:
    return f"{('even', 'odd')[k % 2]}[{k // 2}]" if form == "two arrays" else f"cell[{k}]"


class Second:
    """The plant in numpy: all states in one vector, cell after cell."""

    def __init__(self, drawn: Drawn, band: float = 0.0) -> None:
        self.evaluations = 0
        self.above = {"above": lambda a, b: np.greater(a, b + band * np.maximum(np.abs(a), np.abs(b)))}
        self.drawn, self.d = drawn, np.zeros((_CELLS, *drawn.shapes["d"]))
        self.codes = [(name, index, compile(text, text, "eval")) for name, index, text in (*drawn.equations, *drawn.tied)]
        self.named = compile(drawn.named, drawn.named, "eval")

    def split(self, y: np.ndarray) -> dict[str, np.ndarray]:
        n = drawn_size = int(np.prod(self.drawn.shapes["x"]))
        both = y.reshape(_CELLS, -1)
        return {"x": both[:, :n], "z": both[:, drawn_size:].reshape(_CELLS, *self.drawn.shapes["z"])}

    def inputs(self, states: dict[str, np.ndarray]) -> np.ndarray:
        return 0.3 * np.roll(eval(self.drawn.drive, {**_SPACE, **states}), 1)

    def computed(self, t: float, k: int, states: dict[str, np.ndarray], u: float, d: np.ndarray) -> dict[str, Any]:
        known: dict[str, Any] = {**_SPACE, **self.above, "t": t, "u": u, "d": d, **{name: states[name][k] for name in states}}
        known |= {name: self.drawn.numbers[name][k] for name in self.drawn.parameters}
        for name, shape in (*self.drawn.computed, *((rate, shape) for rate, _, shape in self.drawn.rates)):
            known[name] = np.zeros(shape)
        known["w"] = np.zeros(self.drawn.shapes["x"])
        for name, index, code in self.codes:
            value = eval(code, known)
            if not known[name].shape:
                known[name] = np.asarray(value, dtype=float)
            else:
                _store(known[name], index, value)
        known["named"] = np.broadcast_to(eval(self.named, known), np.shape(eval(self.named, known)))
        return known

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        if self.evaluations > _MANY:
            raise _TooMany
        states = self.split(y)
        u, out = self.inputs(states), []
        for k in range(_CELLS):
            known = self.computed(t, k, states, float(u[k]), self.d[k])
            out += [-0.5 * known[name] + 0.3 * known[f"r{name}"] for name in self.drawn.states]
        return np.concatenate([part.ravel() for part in out])

    def end(self) -> np.ndarray:
        """Where the states are at the end; nothing where steps across jumps become too small for these formulas."""
        try:
            return self._end()
        except _TooMany:
            return np.zeros(0)

    def _end(self) -> np.ndarray:
        numbers = self.drawn.numbers
        y = np.concatenate([part.ravel() for k in range(_CELLS) for part in (numbers["x"][k], numbers["z"][k])])
        now = 0.0
        for time, sets in [*self.drawn.resets, (UNTIL, [])]:
            y = solve_ivp(self.rate, (now, time), y, method="DOP853", rtol=1e-9, atol=1e-10, max_step=0.02).y[:, -1]
            y, now = self._set(y, sets), time
        return y

    def _set(self, y: np.ndarray, sets: list[tuple[str, str, str]]) -> np.ndarray:
        y = y.copy()
        before, after = self.split(y.copy()), self.split(y)
        d = self.d.copy()
        for k in range(_CELLS):
            known = {**_SPACE, "x": before["x"][k], "z": before["z"][k], "d": d[k]}
            known |= {name: self.drawn.numbers[name][k] for name in self.drawn.parameters}
            for name, index, text in sets:
                whole = self.d[k] if name == "d" else after[name][k]
                _store(whole, index, eval(text, known))
        return y


def _store(whole: np.ndarray, index: str, value: Any) -> None:
    """`whole[index] = value`, for indices after indices and transposes, too."""
    places = eval(f"a{index}", {"a": np.arange(whole.size).reshape(whole.shape)})
    whole.reshape(-1)[places] = value


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    drawn = Drawn(seed)
    second, wanted = Second(drawn), None
    for form in FORMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ac.ModelWarning)
            warnings.simplefilter("ignore", ac.RunWarning)
            result = ac.compile(_plant(drawn, form)).simulate(until=UNTIL, rtol=RTOL, points=8)
        if result.outcome.name == "CHATTERING":  # a choice that is driven back from both sides, which is told
            return "run"
        if not result.outcome.ok:
            return f"{form}: {result.outcome.name} at {result.time_reached:g}"
        wanted = second.end() if wanted is None else wanted
        said = _compare(drawn, second, form, result, wanted)
        if said:
            return f"{form}: {said}"
    return "run"


def _compare(drawn: Drawn, second: Second, form: str, result: ac.Result, wanted: np.ndarray) -> str:
    names = [*drawn.states, *(name for name, _ in drawn.computed), *(rate for rate, _, _ in drawn.rates), "u", "d"]
    names[2:2] = ["named", *(["w"] if drawn.tied else [])]
    told = {name: np.stack([np.asarray(result[f"{_path(form, k)}.{name}"]) for k in range(_CELLS)]) for name in names}
    for row, t in enumerate(result.time):
        states = {name: told[name][:, row] for name in drawn.states}
        if np.abs(second.inputs(states) - told["u"][:, row]).max() > 1e-9:
            return f"u is {told['u'][:, row]} at {t:g}, numpy gives {second.inputs(states)}: {drawn.drive}"
        if t < 1e-9 or (len(result.events) and np.abs(result.events.times - t).min() < 1e-9):
            continue  # `t > 0` has become true at the start; and which side of an event it is, nobody can tell from the numbers
        for k in range(_CELLS):
            known = second.computed(float(t), k, states, float(told["u"][k, row]), told["d"][k, row])
            for name in names[2:-2]:
                if np.abs(told[name][k, row] - known[name]).max() > 1e-7:
                    texts = [f"{n}{i} == {e}" for n, i, e in drawn.equations if n == name]
                    return f"{name} of {k} is {told[name][k, row]} at {t:g}, numpy gives {known[name]}: {'; '.join(texts)}"
    here = np.concatenate([told[name][k, -1].ravel() for k in range(_CELLS) for name in drawn.states])
    error = np.abs(here - wanted).max() if len(wanted) else 0.0
    if error > 1e-4:  # u > tanh(u) near u = 0 is within the band of a relation for a while
        others = [Second(drawn, band).end() for band in _BANDS]
        error = min([error, *(np.abs(here - other).max() if len(other) else 0.0 for other in others)])
    return f"the states end {error:.2g} off: {drawn.equations}, {drawn.slopes}, {drawn.resets}" if error > 1e-4 else ""
