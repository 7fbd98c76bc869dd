"""A transcritical CO2 plant, started across the critical point, and the high pressure at which it works best.

Shows: a gas cooler in cells above the critical pressure, an accumulator, a sweep of one parameter from rest to rest, diagrams.
"""

import numpy as np

import acausal as ac
from acausal.library import refrigeration, thermal

CYCLE = ("compressor.a", "compressor.b", "cooler.b", "valve.b", "evaporator.b")


class Transcritical(ac.Component):
    """Compressor, gas cooler in air of 35 °C, valve, evaporator in air of 12 °C, accumulator."""

    medium = ac.AnyMedium("R744")

    def __init__(self, cells=8):
        still = {"T_start": 293.15}
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=4e-6, eta_volumetric=0.8)
        self.cooler = refrigeration.DistributedExchanger(
            cells, V=4e-4, area=0.6, UA=350.0, C=1500.0, alpha_liquid=1500.0, alpha_two_phase=4000.0, alpha_vapour=1000.0,
            m_nominal=0.03, dp_nominal=5e4, charge_start=0.12, **still,
        )  # fmt: skip
        self.valve = refrigeration.ElectronicValve(A=8e-7, opening=0.3)
        self.evaporator = refrigeration.DistributedExchanger(
            cells, V=5e-4, area=0.8, UA=400.0, C=1500.0, alpha_liquid=1500.0, alpha_two_phase=5000.0, alpha_vapour=1000.0,
            m_nominal=0.03, dp_nominal=5e4, charge_start=0.12, **still,
        )  # fmt: skip
        self.accumulator = refrigeration.Accumulator(V=6e-4, charge_start=0.2, m_nominal=0.03, dp_inlet=2e4, **still)
        self.warm, self.cold = thermal.PrescribedTemperature(T=308.15), thermal.PrescribedTemperature(T=285.15)

    def connections(self):
        yield self.compressor.b, self.cooler.a
        yield self.cooler.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.accumulator.a
        yield self.accumulator.b, self.compressor.a
        yield self.cooler.air, self.warm.port
        yield self.evaporator.air, self.cold.port

    def equations(self):
        self.COP = ac.named(self.evaporator.air.Q_flow / (self.compressor.P + 1.0), doc="cold over work")
        parts = (self.cooler, self.evaporator, self.accumulator)
        self.charge = ac.named(sum(p.charge for p in parts), unit="kg", doc="refrigerant in all of it")


def main():
    model = ac.compile(Transcritical())
    first = model.simulate(until=900.0, points=901)
    p, charge = np.asarray(first["cooler.p"])[:, 0] / 1e5, np.asarray(first["charge"])
    print(
        f"From {p[0]:.0f} bar to {p[-1]:.0f} bar, across the critical {ac.media.fluid('R744').p_critical / 1e5:.1f} bar;", end=" "
    )
    print(f"charge kept to {np.abs(charge / charge[0] - 1).max():.0e}.")
    found = []
    for opening in (0.45, 0.36, 0.3, 0.26, 0.23, 0.2):
        run = model.simulate(until=900.0, inputs={"valve.opening": opening}, points=10)
        high, cold = run["cooler.p"][-1, 0] / 1e5, run["evaporator.air.Q_flow"][-1]
        found.append((float(run["COP"][-1]), float(high)))
        print(f"opening {opening:.2f}: {high:6.1f} bar, {cold:5.0f} W of cold, COP {run['COP'][-1]:.2f}")
    print("Best at {1:.0f} bar, with a COP of {0:.2f}.".format(*max(found)))
    ac.ph_diagram("R744", first, CYCLE, file="transcritical_co2.png")
    return first, found


if __name__ == "__main__":
    main()
