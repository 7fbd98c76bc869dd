"""A CO2 air conditioner for a car, with internal heat exchanger and an accumulator whose bleed hole is controlled.

Shows: what the separation of the accumulator does to a transcritical cycle. A larger hole lets more liquid out, which the internal
exchanger evaporates: mass moves from the accumulator to the high side, whose pressure rises, and the hot gas becomes colder. The
trends are those of table 3 of the paper on a controllable accumulator in the proceedings of the Modelica conference of 2008.
"""

import acausal as ac
from acausal.library import refrigeration, thermal

SEPARATION = (0.78, 0.85, 0.96)  # quality of what leaves the accumulator
PUBLISHED = {  # at these: accumulator kg, hot gas °C, flow g/s, high pressure bar, cold kW, internal exchanger kW, COP
    "accumulator.charge": (0.163, 0.185, 0.214), "T_hot": (91.4, 94.5, 100.9), "compressor.m_flow": (37.7, 35.1, 31.6),
    "p_high": (125.8, 118.2, 110.0), "cold": (3.38, 3.34, 3.26), "inner.Q_flow": (1.4, 1.3, 1.1), "COP": (1.79, 1.89, 2.04),
}  # fmt: skip


class CarCooler(ac.Component):
    """0.5 kg of CO2 in 1.5 l, a compressor of 28 cm³ at 780 rpm, air of 40 °C on both sides, a valve of 0.35 mm²."""

    medium = ac.AnyMedium("R744")

    def __init__(self, cells=6):
        still = {"T_start": 298.15, "m_nominal": 0.035}
        alphas = {"alpha_liquid": 1500.0, "alpha_two_phase": 5000.0, "alpha_vapour": 1500.0}
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=28e-6, frequency=13.0, eta_volumetric=0.75)
        self.cooler = refrigeration.DistributedExchanger(
            cells, V=5e-4, area=0.7, UA=380.0, C=1500.0, dp_nominal=1e5, charge_start=0.1, **alphas, **still
        )
        self.inner = refrigeration.InternalExchanger(effectiveness=0.5, dp_nominal=3e4, m_nominal=0.035)
        self.valve = refrigeration.ElectronicValve(A=0.35e-6, opening=1.0, dp_small=1e4, position=ac.modify(start=1.0))
        self.evaporator = refrigeration.DistributedExchanger(
            cells, V=4e-4, area=0.7, UA=125.0, C=1500.0, dp_nominal=1e5, charge_start=0.1, **alphas, **still
        )
        self.accumulator = refrigeration.Accumulator(V=6e-4, charge_start=0.3, dp_inlet=2e4, **still)
        self.outside, self.cabin = thermal.FixedTemperature(T=313.15), thermal.FixedTemperature(T=313.15)

    def connections(self):
        yield self.compressor.b, self.cooler.a
        yield self.cooler.b, self.inner.a1
        yield self.inner.b1, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.accumulator.a
        yield self.accumulator.b, self.inner.a2
        yield self.inner.b2, self.compressor.a
        yield self.cooler.air, self.outside.port
        yield self.evaporator.air, self.cabin.port

    def equations(self):
        hot = self.medium.state(p=self.compressor.b.p, h=self.compressor.h_discharge, phase="any")
        self.T_hot = ac.named(hot.T, unit="K", doc="temperature of the hot gas")
        self.p_high = ac.named(self.compressor.b.p, unit="Pa", doc="high pressure")
        self.cold = ac.named(self.evaporator.air.Q_flow, unit="W", doc="cold")
        self.COP = ac.named(self.evaporator.air.Q_flow / (self.compressor.P + 1.0), doc="cold over work")
        parts = (self.cooler, self.evaporator, self.accumulator)
        self.charge = ac.named(sum(p.charge for p in parts), unit="kg", doc="refrigerant in all of it")


UNITS = {"T_hot": "degC", "p_high": "bar", "cold": "kW", "inner.Q_flow": "kW", "compressor.m_flow": "g/s"}


def main():
    model, runs = ac.compile(CarCooler()), {}
    for quality in SEPARATION:
        runs[quality] = model.simulate(until=600.0, set={"accumulator.hole": 1 - quality}, points=121)
    found = {}
    for name, published in PUBLISHED.items():
        unit = UNITS.get(name, "")
        values = [float((run.in_unit(name, unit) if unit else run[name])[-1]) for run in runs.values()]
        found[name] = values
        told = "  ".join(f"{v:7.3f}" for v in values)
        print(f"{name:20} {told} {unit:5} published {'  '.join(f'{v:g}' for v in published)}")
    ac.ph_diagram("R744", runs[0.85], ("compressor.a", "compressor.b", "cooler.b", "valve.a", "valve.b", "accumulator.b"),
                  file="co2_accumulator.png")  # fmt: skip
    return runs, found


if __name__ == "__main__":
    main()
