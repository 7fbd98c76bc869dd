"""Ports of different kinds are connected.

Wanted: an electrical heater that warms a body.
Means: A pin carries voltage and current, a heat port temperature and heat flow. They cannot be equal.
Do: Put a component between them that has both, such as `HeatingResistor`.
"""

import acausal as ac
from acausal.library.electrical import ConstantVoltage
from acausal.library.thermal import HeatCapacitor

THEME = "Connections"
SHOWN = "acausal check different_kinds.py"
EXPECT = ["source.p", "Pin", "body.port", "HeatPort", "different_kinds.py:22", "try"]


class Heater(ac.Component):
    def __init__(self):
        self.source, self.body = ConstantVoltage(V=230.0), HeatCapacitor()

    def connections(self):
        yield self.source.p, self.body.port  # <- volts and kelvins
