"""A function of the user's own raises an exception.

Wanted: a heat capacity from a table, as a Python function.
Means: The function was called with a temperature that its table does not have. Exceptions cannot pass through compiled code; the run
ends there and tells which function, with which argument, and its line.
Do: Make the function answer for all values that an iteration may try, or use `ac.Table`.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run exception_in_a_function.py --until 100 --quiet"
EXPECT = ["heat_capacity", "IndexError", "exception_in_a_function.py:21", "Body", "try"]

VALUES = [450.0, 480.0, 500.0, 510.0]


@ac.function(opaque=True)
def heat_capacity(T):
    k = int((T - 300.0) / 10.0)
    return VALUES[k] + (VALUES[k + 1] - VALUES[k]) * ((T - 300.0) / 10.0 - k)  # <- above 330 K there is no value


class Body(ac.Component):
    T = ac.Variable(start=300.0, fixed=True, unit="K")

    def equations(self):
        yield heat_capacity(self.T) * ac.der(self.T) == 500.0
