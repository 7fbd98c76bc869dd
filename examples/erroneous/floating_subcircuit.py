"""A part of the circuit floats.

Wanted: a transformer with a load; the primary side is grounded.
Means: The two sides of a transformer are separate; nothing says at what voltage the secondary side is against ground.
Do: Ground one pin of the secondary side as well.
"""

import acausal as ac
from acausal.library.electrical import Ground, IdealTransformer, Resistor, SineVoltage

THEME = "Too few and too many equations"
SHOWN = "acausal check floating_subcircuit.py"
EXPECT = ["transformer", "load", "level", "ground", "try"]


class Circuit(ac.Component):
    def __init__(self):
        self.source, self.inner, self.ground = SineVoltage(V=325.0), Resistor(R=1.0), Ground()
        self.transformer, self.load = IdealTransformer(ratio=20.0), Resistor(R=8.0)

    def connections(self):
        yield self.source.p, self.inner.p
        yield self.inner.n, self.transformer.p1
        yield self.source.n, self.transformer.n1, self.ground.p
        yield self.transformer.p2, self.load.p
        yield self.load.n, self.transformer.n2  # <- nothing grounds this side
