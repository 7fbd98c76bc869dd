"""A grid of nodes with a capacitor each and resistors between neighbours, driven at a corner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical


class Grid(ac.Component):
    def __init__(self, side: int) -> None:
        self.side = side
        self.C = ac.array(electrical.Capacitor, side * side, C=1e-3, v=ac.start(0.0, fixed=True))
        self.right, self.down = (ac.array(electrical.Resistor, side * (side - 1), R=1.0) for _ in range(2))
        self.source, self.lead = electrical.SineVoltage(V=1.0, f=5.0), electrical.Resistor(R=0.1)
        self.ground = electrical.Ground()

    def connections(self) -> Iterator[Any]:
        k = np.arange(self.side * self.side).reshape(self.side, self.side)
        yield self.right.p, self.C[k[:, :-1].ravel()].p
        yield self.right.n, self.C[k[:, 1:].ravel()].p
        yield self.down.p, self.C[k[:-1].ravel()].p
        yield self.down.n, self.C[k[1:].ravel()].p
        yield self.source.p, self.lead.p
        yield self.lead.n, self.C[0].p
        yield self.source.n, self.ground.p
        yield self.C.n, self.ground.p
