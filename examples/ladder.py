"""An RC ladder with thousands of sections, from its component classes to a plot.

Shows: connectors, inheritance, arrays of components, connections of slices. The translation does not grow with the ladder.
"""

import acausal as ac


class Pin(ac.Connector):
    v = ac.Potential(unit="V")
    i = ac.Flow(unit="A")  # positive into the component


class TwoPin(ac.Component):
    p, n = Pin(), Pin()
    v = ac.Variable(unit="V")

    def equations(self):
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0  # carried through unchanged: costs no unknown and no equation


class Resistor(TwoPin):
    """Ideal resistor."""

    R = ac.Parameter(1.0, unit="ohm", min=0, doc="resistance")

    def equations(self):
        yield from super().equations()
        yield self.v == self.R * self.p.i


class Capacitor(TwoPin):
    """Ideal capacitor."""

    C = ac.Parameter(1e-6, unit="F", min=0, doc="capacitance")

    def equations(self):
        yield from super().equations()
        yield self.C * ac.der(self.v) == self.p.i


class SineVoltage(TwoPin):
    """A sinusoidal voltage source."""

    V = ac.Parameter(1.0, unit="V", doc="amplitude")
    f = ac.Parameter(50.0, unit="Hz", doc="frequency")

    def equations(self):
        yield from super().equations()
        yield self.v == self.V * ac.sin(2 * ac.pi * self.f * ac.time)


class Ground(ac.Component):
    p = Pin()

    def equations(self):
        yield self.p.v == 0


class Ladder(ac.Component):
    def __init__(self, n=1000):
        self.source, self.ground = SineVoltage(V=1.0, f=0.05), Ground()
        self.R = ac.array(Resistor, n, R=1.0)  # one object, n elements
        self.C = ac.array(Capacitor, n, C=1.0)

    def connections(self):
        yield self.source.p, self.R[0].p
        yield self.R[:-1].n, self.R[1:].p  # slices connect element by element
        yield self.R.n, self.C.p
        yield self.C.n, self.ground.p  # and broadcast to one node
        yield self.source.n, self.ground.p


def main():
    model = ac.compile(Ladder(9000))
    result = model.simulate(until=10.0)
    print(result)
    print(f"The first capacitor ends at {result['C[0].v'][-1]:.6f} V (exact: 0.277661 V).")
    result.plot("C[0].v", "C[1].v", "C[4].v", file="ladder.png")
    return result


if __name__ == "__main__":
    main()
