"""A transition from an input state.

Wanted: a compressor that stops by itself when it gets hot.
Means: An input state is decided by whoever is connected to it; only the component that owns a state can leave it.
Do: Give the compressor a state of its own (`ac.States`), or let the component that owns this one look at the temperature.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check transition_from_an_input_state.py:Cabinet"
EXPECT = ["Compressor", "run", "input state", "transition_from_an_input_state.py:23", "try"]


class Compressor(ac.Component):
    run = ac.InputStates(on="all", off="any")
    T = ac.Variable(start=300.0, fixed=True)

    def equations(self):
        yield ac.der(self.T) == ac.match(self.run, on=1.0, off=-1.0)

    def transitions(self):
        yield self.run.on.to("off", when=self.T > 350)  # <- not its own


class Thermostat(ac.Component):
    cooling = ac.OutputStates("on", "off", initial="on")


class Cabinet(ac.Component):
    def __init__(self):
        self.thermostat, self.compressor = Thermostat(), Compressor()

    def connections(self):
        yield self.thermostat.cooling, self.compressor.run
