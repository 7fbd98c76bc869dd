"""A port is not connected.

Wanted: a capacitor that is charged by a constant current.
Means: Nothing flows through a port that is not connected; but the source says that 2 mA flow there.
Do: Connect the port, here `source.p` with the ground.
"""

import acausal as ac
from acausal.library.electrical import Capacitor, ConstantCurrent, Ground

THEME = "Too few and too many equations"
SHOWN = "acausal check unconnected_port.py"
EXPECT = ["source.p", "not connected", "source.I", "try"]


class Charger(ac.Component):
    def __init__(self):
        self.source, self.C, self.ground = ConstantCurrent(I=2e-3), Capacitor(C=1e-3), Ground()

    def connections(self):
        yield self.source.n, self.C.p
        yield self.C.n, self.ground.p  # <- and `source.p`?
