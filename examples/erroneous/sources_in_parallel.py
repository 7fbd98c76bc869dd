"""Two ideal voltage sources in parallel.

Wanted: a battery beside a generator.
Means: Both prescribe the voltage between the same two nodes. Even if the values were equal, the currents would not be determined.
Do: Put the inner resistance of one of them into the circuit.
"""

import acausal as ac
from acausal.library.electrical import ConstantVoltage, Ground, Resistor

THEME = "Too few and too many equations"
SHOWN = "acausal check sources_in_parallel.py"
EXPECT = ["battery", "generator", "try"]


class Circuit(ac.Component):
    def __init__(self):
        self.battery, self.generator = ConstantVoltage(V=12.0), ConstantVoltage(V=14.0)
        self.load, self.ground = Resistor(R=10.0), Ground()

    def connections(self):
        yield self.battery.p, self.generator.p, self.load.p  # <- both are ideal
        yield self.battery.n, self.generator.n, self.load.n, self.ground.p
