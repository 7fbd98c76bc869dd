"""A value for an input that is none.

Wanted: measured weather for the outside temperature.
Means: `T_out` is declared as a parameter; it keeps one value for the whole run.
Do: Declare it with `ac.Input`, or give a constant with `set`.
"""

import acausal as ac

THEME = "Running"
SHOWN = "python input_that_is_none.py"
EXPECT = ["T_out", "not an input", "ac.Input", "try"]


class Room(ac.Component):
    T = ac.Variable(start=293.15, fixed=True, unit="K")
    T_out = ac.Parameter(273.15, unit="K")  # <- a parameter

    def equations(self):
        yield ac.der(self.T) == -1e-4 * (self.T - self.T_out)


if __name__ == "__main__":
    ac.compile(Room()).simulate(until=100.0, inputs={"T_out": lambda t: 273.15 + 0.01 * t})
