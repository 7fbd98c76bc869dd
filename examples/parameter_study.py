"""One model, many runs: how much damping does a suspension want?

Shows: runs with other parameters (nothing is compiled again), threads that really run side by side, only some variables stored.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import acausal as ac
from acausal.library.mechanics.translational import Damper, Mass, Position, Spring
from acausal.library.signal import Ramp


class QuarterCar(ac.Component):
    """A wheel and a quarter of a car's body; the road rises by 5 cm within a tenth of a second."""

    def __init__(self):
        self.body, self.wheel = Mass(m=300.0), Mass(m=40.0)
        self.spring, self.damper, self.tyre = Spring(c=2e4), Damper(d=1500.0), Spring(c=2e5)
        self.road, self.bump = Position(), Ramp(height=0.05, duration=0.1, start_time=0.1)

    def connections(self):
        yield self.bump.y, self.road.s
        yield self.road.flange, self.tyre.a
        yield self.tyre.b, self.wheel.a
        yield self.wheel.b, self.spring.a, self.damper.a
        yield self.spring.b, self.damper.b, self.body.a


def overshoot(model, damping):
    result = model.simulate(until=5.0, set={"damper.d": damping}, store=["body.s"], points=1001)
    return result["body.s"].max() / 0.05 - 1


def main(runs=40):
    model = ac.compile(QuarterCar())
    dampings = np.linspace(200.0, 6000.0, runs)
    begin = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        found = np.array(list(pool.map(lambda d: overshoot(model, d), dampings)))
    seconds = time.perf_counter() - begin
    print(f"{runs} runs in {seconds:.2f} s, {1e3 * seconds / runs:.1f} ms each.")
    for damping, value in list(zip(dampings, found, strict=True))[:: max(1, runs // 8)]:
        print(f"  d = {damping:6.0f} N·s/m: the body overshoots by {100 * value:5.1f} %")
    return dampings, found


if __name__ == "__main__":
    main()
