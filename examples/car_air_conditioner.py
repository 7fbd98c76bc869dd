"""A car's CO2 air conditioner with a two-stage orifice: a limit cycle when it is hot, and two stable points when it is not.

Shows: a component of one's own with states (a second stage that a spring holds: it lifts at 73 bar and seats again below), a limit
cycle that plant and valve make together, and a plant that rests at one of two points, depending on what happened before. After
Karim and Tummescheit (Modelica conference 2008), who found both with such a valve; its curve is not published.
"""

import numpy as np

import acausal as ac
from acausal.library import fluid, refrigeration, thermal

COOL, MILD, HOT = 293.15, 310.15, 320.15  # K, outside


class TwoStageOrifice(fluid.Throttle):
    """An orifice and a second one beside it, which opens when the pressure lifts its spring; friction keeps it open for a while."""

    A_small = ac.Parameter(0.30e-6, unit="m^2", min=0, doc="effective area of the orifice")
    A_large = ac.Parameter(0.9e-6, unit="m^2", min=0, doc="with the second stage")
    dp_open, dp_close = ac.Parameter(73e5, unit="Pa", doc="lifts above"), ac.Parameter(60e5, unit="Pa", doc="seats below")
    tau = ac.Parameter(0.5, unit="s", min=1e-3, doc="time constant of the lift")
    stage = ac.States("seated", "lifted", initial="seated", doc="the second stage")
    lift = ac.Variable(start=0.0, fixed=True, doc="of the second stage")

    def effective_area(self):
        return self.A_small + (self.A_large - self.A_small) * self.lift

    def equations(self):
        yield from super().equations()
        yield self.tau * ac.der(self.lift) == ac.match(self.stage, seated=0.0, lifted=1.0) - self.lift

    def transitions(self):
        dp = self.a.p - self.b.p
        yield self.stage.seated.to("lifted", when=dp > self.dp_open)
        yield self.stage.lifted.to("seated", when=dp < self.dp_close)


class CarAirConditioner(ac.Component):
    """Compressor, gas cooler, internal exchanger, two-stage orifice, evaporator, accumulator; 0.5 kg of CO2."""

    medium = ac.AnyMedium("R744")

    def __init__(self, cells=6):
        still = {"T_start": 298.15, "m_nominal": 0.035}
        alphas = {"alpha_liquid": 1500.0, "alpha_two_phase": 5000.0, "alpha_vapour": 1500.0}
        sides = {"V": 4e-4, "area": 0.7, "C": 1500.0, "dp_nominal": 1e5, "charge_start": 0.1}
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=28e-6, frequency=13.0, eta_volumetric=0.75)
        self.cooler = refrigeration.DistributedExchanger(cells, UA=380.0, **sides, **alphas, **still)
        self.inner = refrigeration.InternalExchanger(effectiveness=0.5, dp_nominal=3e4, m_nominal=0.035)
        self.valve = TwoStageOrifice(dp_small=1e4)
        self.evaporator = refrigeration.DistributedExchanger(cells, UA=125.0, **sides, **alphas, **still)
        self.accumulator = refrigeration.Accumulator(V=6e-4, charge_start=0.3, dp_inlet=2e4, hole=0.1, **still)
        self.outside, self.cabin = thermal.PrescribedTemperature(T=MILD), thermal.FixedTemperature(T=313.15)

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
        self.dp = ac.named(self.valve.a.p - self.valve.b.p, unit="Pa", doc="across the valve")
        self.COP = ac.named(self.evaporator.air.Q_flow / (self.compressor.P + 1.0), doc="cold over work")
        parts = (self.cooler, self.evaporator, self.accumulator)
        self.charge = ac.named(sum(p.charge for p in parts), unit="kg", doc="refrigerant in all of it")


def main():
    model = ac.compile(CarAirConditioner())
    mild, hot = (model.simulate(until=300.0, inputs={"outside.T": T}, points=601) for T in (MILD, HOT))
    for name, run in (("37 °C", mild), ("47 °C", hot)):
        dp = run.in_unit("dp", "bar")[run.time > 200.0]
        lifts = sum(stay.state == "lifted" and stay.start > 200.0 for stay in run.states("valve.stage"))
        print(
            f"Outside {name}: {dp.min():.1f} … {dp.max():.1f} bar across the valve, the second stage lifts {lifts} times in 100 s."
        )
    times = [0.0, 150.0, 160.0, 200.0, 210.0, 350.0, 360.0, 420.0, 430.0]
    spells = ac.data(times, [MILD, MILD, HOT, HOT, MILD, MILD, COOL, COOL, MILD], ends="hold")
    small = {"valve.A_large": 0.33e-6}  # a second stage that opens little
    twice = model.simulate(until=600.0, inputs={"outside.T": spells}, set=small, points=601)
    for when, at in (("a hot spell", 345.0), ("a cool spell", 595.0)):
        k, stage = int(np.searchsorted(twice.time, at)), twice.state_at("valve.stage", at)
        print(f"37 °C after {when}: {twice['dp'][k] / 1e5:.1f} bar, COP {twice['COP'][k]:.2f}, {stage}")
    hot.plot("dp", "valve.lift", "compressor.P", unit={"dp": "bar"}, file="car_air_conditioner.png")
    return mild, hot, twice


if __name__ == "__main__":
    main()
