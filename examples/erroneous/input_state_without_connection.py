"""An input state with nothing connected.

Wanted: a compressor that a thermostat switches.
Means: Nobody says whether the compressor runs.
Do: Connect it in the component around: `yield self.thermostat.cooling, self.compressor.run`.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check input_state_without_connection.py:Cabinet"
EXPECT = ["compressor.run", "connected", "try"]


class Compressor(ac.Component):
    run = ac.InputStates(on="all", off="any")  # <- who decides?
    Q = ac.Variable()

    def equations(self):
        yield self.Q == ac.match(self.run, on=100.0, off=0.0)


class Cabinet(ac.Component):
    T = ac.Variable(start=280.0, fixed=True)

    def __init__(self):
        self.compressor = Compressor()

    def equations(self):
        yield ac.der(self.T) == 0.001 * (50.0 - self.compressor.Q)
