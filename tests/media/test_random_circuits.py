"""Circuits drawn at random: volumes at states around the dome, joined by whatever fluid passes, conserve what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.streams import SMALL
from acausal.library import fluid

pytest.importorskip("CoolProp")
pytestmark = pytest.mark.filterwarnings("ignore::acausal.ModelWarning")

UNTIL = 20.0


def start_of(medium: Any, rng: np.random.Generator) -> dict[str, float]:
    """Liquid, wet, dry or above the critical point; of a gas, somewhere near to room temperature."""
    if not medium.evaporates:
        return {"p_start": float(np.exp(rng.uniform(np.log(5e4), np.log(1e6)))), "T_start": float(rng.uniform(280, 350))}
    low, high = max(1.05 * medium.p_min, 2e4), min(0.5 * medium.p_max, 1.4 * medium.p_critical)
    p = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    if p < 0.99 * medium.p_critical and rng.random() < 0.5:
        return {"p_start": p, "x_start": float(rng.choice([0.0, 1.0, rng.random()]))}
    T = medium.saturation(p=min(p, 0.99 * medium.p_critical)).T + rng.uniform(-40, 80)
    return {"p_start": p, "T_start": float(np.clip(T, medium.T_min + 2, medium.T_max - 60))}


def passage_of(medium: Any, rng: np.random.Generator) -> Any:
    A = float(10 ** rng.uniform(-7, -5))
    kinds = [
        lambda: fluid.Orifice(A=A),
        lambda: fluid.Valve(A=A, opening=float(rng.choice([0.0, 0.3, 1.0]))),
        lambda: fluid.CheckValve(A=A),
        lambda: fluid.Pipe(length=float(rng.uniform(1, 20)), diameter=float(rng.uniform(2e-3, 8e-3))),
    ]
    return kinds[rng.integers(4)]()


class Circuit(ac.Component):
    """`volumes` of them in a row, a few more passages anywhere between two, and perhaps a node at which three passages meet."""

    def __init__(self, medium: Any, seed: int, star: bool) -> None:
        rng = np.random.default_rng(seed)
        self.count = int(rng.integers(3, 5))
        pairs = [(k, k + 1) for k in range(self.count - 1)]
        pairs += [tuple(rng.choice(self.count, 2, replace=False)) for _ in range(rng.integers(0, 3))]
        self.ends: list[list[Any]] = [[] for _ in range(self.count)]
        for k, (one, other) in enumerate(pairs):
            piece = self._piece(f"piece{k}", medium, rng)
            self.ends[one].append(piece.a)
            self.ends[other].append(piece.b)
        self.node = []
        for k in range(3 if star else 0):
            piece = self._piece(f"arm{k}", medium, rng)
            self.ends[k].append(piece.a)
            self.node.append(piece.b)
        for k, ends in enumerate(self.ends):
            shares = rng.dirichlet(np.ones(len(medium.substances))).tolist() if len(medium.substances) > 1 else None
            volume = fluid.Volume(len(ends), shares, V=float(10 ** rng.uniform(-4, -2)), **start_of(medium, rng))
            setattr(self, f"volume{k}", volume)
        self.volume0.medium = medium

    def _piece(self, name: str, medium: Any, rng: np.random.Generator) -> Any:
        setattr(self, name, passage_of(medium, rng))
        return getattr(self, name)

    def connections(self) -> Any:
        for k, ends in enumerate(self.ends):
            for place, end in enumerate(ends):
                yield getattr(self, f"volume{k}").ports[place], end
        yield from zip(self.node, self.node[1:], strict=False)


MEDIA = {
    "R134a": lambda: ac.media.fluid("R134a"),
    "CO2": lambda: ac.media.fluid("R744"),
    "water": lambda: ac.media.fluid("water"),
    "mixture": lambda: ac.media.ideal_gas(["N2", "O2"]),
    "moist air": ac.media.moist_air,
}


@pytest.mark.parametrize("star", [False, True], ids=["row", "star"])
@pytest.mark.parametrize("name", MEDIA)
def test_nothing_is_lost(name: str, star: bool) -> None:
    """To rounding; at a node of three whose flows are all but zero, up to the flow below which nothing can be said to flow."""
    plant = Circuit(MEDIA[name](), seed=len(name) + 10 * star, star=star)
    result = ac.compile(plant).simulate(until=UNTIL)
    assert result.outcome
    volumes = [f"volume{k}" for k in range(plant.count)]
    M, U, h = (np.stack([result[f"{v}.{what}"] for v in volumes]) for what in ("M", "U", "h"))
    assert np.ptp(M.sum(axis=0)) < 1e-12 * M.sum(axis=0)[0]
    unsaid = 3 * SMALL * 0.1 * np.ptp(h) * UNTIL if star else 0.0
    assert np.ptp(U.sum(axis=0)) < 1e-12 * np.abs(U).sum(axis=0).max() + unsaid
