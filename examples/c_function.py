"""A function written in C inside an equation: the mathematical library's erf, called by its address.

Shows: `ac.external` with an exact derivative, and a Python function that is traced. No Python runs during the simulation.
"""

import ctypes
import ctypes.util
import math

import numpy as np

import acausal as ac

libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.erf.restype, libm.erf.argtypes = ctypes.c_double, [ctypes.c_double]


@ac.function
def bell(x):
    """The derivative of erf, traced: it becomes part of the machine code."""
    return 2 / math.sqrt(math.pi) * ac.exp(-(x**2))


erf = ac.external(libm.erf, derivative=bell)


class Diffusion(ac.Component):
    """Something that relaxes towards erf(t): ``tau·dx/dt = erf(t) - x``; and erf found again by integrating its derivative."""

    tau = ac.Parameter(0.5, unit="s", min=0, doc="time constant")
    x = ac.Variable(start=0.0, doc="relaxed")
    y = ac.Variable(start=0.0, doc="integral of the bell")

    def equations(self):
        yield self.tau * ac.der(self.x) == erf(ac.time) - self.x
        yield ac.der(self.y) == bell(ac.time)


def main():
    result = ac.compile(Diffusion()).simulate(until=3.0)
    error = max(abs(y - math.erf(t)) for t, y in zip(result.time, result["y"], strict=True))
    print(result)
    print(f"The integral of erf's derivative is erf, to {error:.1e}.")
    assert np.isfinite(result["x"]).all()
    result.plot("x", "y", file="c_function.png")
    return result


if __name__ == "__main__":
    main()
