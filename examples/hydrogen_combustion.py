"""Hydrogen burns with oxygen in a vessel: eight reactions of seven substances, ignited by a pulse of heat, within milliseconds.

Shows: chemistry as arrays (rates, a stoichiometric matrix), enthalpies with those of formation, time scales from nanoseconds on,
conservation of atoms. Reactions and rates are those of Tummescheit's thesis (2002, table 5.2 and listing 5.4).
"""

import numpy as np

import acausal as ac

R, BAR = 8.31446261815324, 1e5
SPECIES = ("O2", "H2", "H2O", "O", "H", "OH", "Ar")
ATOMS = {"H": [0, 2, 2, 0, 1, 1, 0], "O": [2, 0, 1, 1, 0, 1, 0], "Ar": [0, 0, 0, 0, 0, 0, 1]}
# what reacts (numbers of SPECIES), what becomes of it, A in m³/mol/s (the last two m⁶/mol²/s), b, E in kJ/mol: k = A T^b exp(-E/RT)
REACTIONS = [
    ((4, 0), [-1, 0, 0, 1, -1, 1, 0], 1.2e11, -1.0, 69.0),  # H + O2 → OH + O
    ((5, 3), [1, 0, 0, -1, 1, -1, 0], 1.8e7, 0.0, 0.0),  # OH + O → H + O2
    ((3, 1), [0, -1, 0, -1, 1, 1, 0], 15.0, 2.0, 32.0),  # O + H2 → OH + H
    ((2, 4), [0, 1, -1, 0, -1, 1, 0], 460.0, 1.6, 78.0),  # H2O + H → H2 + OH
    ((1, 5), [0, -1, 1, 0, 1, -1, 0], 100.0, 1.6, 14.0),  # H2 + OH → H2O + H
    ((2, 3), [0, 0, -1, -1, 0, 2, 0], 1.5e4, 1.0, 72.0),  # H2O + O → 2 OH
    ((4, 4, 6), [0, 1, 0, 0, -2, 0, 0], 6.4e5, -1.0, 0.0),  # 2 H + Ar → H2 + Ar
    ((3, 3, 6), [1, 0, 0, -2, 0, 0, 0], 1.0e5, -1.0, 0.0),  # 2 O + Ar → O2 + Ar
]
FEED = np.array([0.4, 0.3, 0.0, 0.0, 1e-7, 0.0, 0.3])  # shares of mole: plenty of oxygen, argon, a trace of H atoms to begin with


def enthalpies(T):
    """Molar enthalpies with those of formation, J/mol."""
    found = []
    for name in SPECIES:
        gas = ac.media.ideal_gas(name)
        found.append(gas.molar_masses[0] * gas.state(p=BAR, T=T).h)
    return found


class Vessel(ac.Component):
    """``dN/dt = feed - outflow + V·sum(nu·r)``, ``dU/dt = H_feed - H_out + Q``; the outflow is proportional to the overpressure."""

    V = ac.Parameter(1e-4, unit="m^3", doc="volume")
    feed = ac.Parameter(1.0, unit="mol/s", doc="gas that comes in, at 300 K")
    outlet = ac.Parameter(1e-4, unit="mol/(s*Pa)", doc="what leaves, over the overpressure")
    Q = ac.Input(0.0, unit="W", doc="heat of the igniter")
    N = ac.Variable(
        shape=7, unit="mol", nominal=1e-3, start=FEED * BAR * 1e-4 / (R * 300.0), fixed=True, doc="substances", min=-1e-9
    )
    T = ac.Variable(unit="K", start=300.0, fixed=True, nominal=1000.0, min=200.0, max=3500.0, doc="temperature")
    U = ac.Variable(unit="J", nominal=10.0, state="always", doc="energy")
    p = ac.Variable(unit="Pa", start=BAR, nominal=BAR, doc="pressure")
    atoms_in = ac.Variable(
        shape=3, unit="mol", nominal=1e-3, start=0.0, fixed=True, doc="atoms H, O, Ar that came in less those that left"
    )

    def equations(self):
        h, total = enthalpies(self.T), ac.sum(self.N)
        rates = []
        for who, _, A, b, E in REACTIONS:
            rate = A * self.T**b * ac.exp(-1000.0 * E / (R * self.T))
            for k in who:
                rate = rate * self.N[k] / self.V
            rates.append(rate)
        leaving = self.outlet * (self.p - BAR)
        net = [self.feed * FEED[k] - leaving * self.N[k] / total for k in range(7)]
        yield self.p == total * R * self.T / self.V
        yield self.U == sum(self.N[k] * (h[k] - R * self.T) for k in range(7))
        for k in range(7):
            made = sum(nu[k] * rate for (_, nu, *_), rate in zip(REACTIONS, rates, strict=True) if nu[k])
            yield ac.der(self.N[k]) == net[k] + self.V * made if k != 6 else ac.der(self.N[6]) == net[6]
        for row, counts in enumerate(ATOMS.values()):
            yield ac.der(self.atoms_in[row]) == sum(c * net[k] for k, c in enumerate(counts) if c)
        cold = [float(v) for v in enthalpies(300.0)]
        yield ac.der(self.U) == self.feed * float(FEED @ cold) - leaving * sum(self.N[k] * h[k] for k in range(7)) / total + self.Q
        self.x = ac.named(self.N / total, doc="shares of mole, of O2, H2, H2O, O, H, OH and Ar")


IGNITION = ac.data([0.0, 2e-3, 2.001e-3, 6e-3, 6.001e-3], [0.0, 0.0, 2e4, 2e4, 0.0], ends="hold")  # W


def simulate(until=0.1, points=1001, **options):
    model = ac.compile(Vessel(feed=0.1), units=False)  # the dimensions of A differ from reaction to reaction
    return model.simulate(until=until, inputs={"Q": IGNITION}, points=points, **options)


def main():
    result = simulate()
    T, hydrogen = np.asarray(result["T"]), np.asarray(result["x[1]"])
    lit = int(np.argmax(hydrogen < 0.5 * hydrogen[0]))
    print(f"Half of the hydrogen is burnt after {1e3 * result.time[lit]:.2f} ms, at {T[lit]:.0f} K.")
    shares = ", ".join(f"{x:.1%} {name}" for name, x in zip(SPECIES, np.asarray(result["x"])[-1], strict=True))
    print(f"At the end {T[-1]:.0f} K, and {shares}.")
    held = np.asarray(result["N"]) @ np.array(list(ATOMS.values())).T
    lost = np.abs(held - held[0] - np.asarray(result["atoms_in"])).max() / held[0].max()
    print(f"Atoms are kept to {lost:.0e}; {result.statistics['steps']} steps.")
    result.plot("T", "x[0]", "x[1]", "x[2]", "x[5]", file="hydrogen_combustion.png")
    return result


if __name__ == "__main__":
    main()
