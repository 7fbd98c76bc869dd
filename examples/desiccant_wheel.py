"""A desiccant wheel: silica gel turns between damp air, which it dries, and hot air, which dries it, in cells along and around it.

Shows: arrays of two dimensions, a wheel that turns without events (the gel flows round through fixed cells), how the answer
depends on the number of cells around it (Joos, Schmitz and Casas 2008), balances of water and energy.
"""

import time

import acausal as ac
from acausal.media.moist_air import saturation_pressure

P, CP, CP_VAPOUR, H_VAPOUR = 101325.0, 1006.0, 1860.0, 2.5009e6  # Pa, J/(kg K), J/kg
DRY, TO_LIQUID = 921.0, 4190.0  # heat capacities of the gel and of the water in it, J/(kg K)


def humidity_above(T, W):
    """Humidity ratio of air in equilibrium with silica gel of loading W at T (Pesaran and Mills 1987, W up to 0.4)."""
    phi = 0.0078 - 0.05759 * W + 24.16554 * W**2 - 124.478 * W**3 + 204.226 * W**4
    vapour = phi * saturation_pressure(T)
    return 0.62198 * vapour / (P - vapour)


def enthalpy(T, w):
    """Of moist air, J per kg of dry air."""
    return CP * (T - 273.15) + w * (H_VAPOUR + CP_VAPOUR * (T - 273.15))


class DesiccantWheel(ac.Component):
    """Cells [i, k]: i along the wheel, k around it; process air passes the first half of k, hot air the second, the other way.

    Water ``dW/dt = turning + m_v`` and enthalpy ``H = M·((c + W·c_w)·t - W·q)``, ``dH/dt = turning + heat + m_v·h_v``; q is the
    heat of sorption beyond that of condensation. Air stores nothing: it comes from the cell before, and gives the share
    ``1 - exp(-NTU/n)`` of its difference to equilibrium.
    """

    turn = ac.Input(450.0, unit="s", doc="time of a turn")
    M = ac.Parameter(40.0, unit="kg", doc="gel")
    m_air = ac.Parameter(1.0, unit="kg/s", doc="dry air of each side")
    NTU = ac.Parameter(8.0, doc="number of transfer units of heat of each side, and of mass (a Lewis number of one)")
    q = ac.Parameter(3e5, unit="J/kg", doc="heat of sorption beyond that of condensation")
    T_in = ac.Input(305.15, unit="K", doc="process air")
    w_in = ac.Input(0.014, doc="process air")
    T_hot = ac.Input(353.15, unit="K", doc="regeneration air")
    w_hot = ac.Input(0.014, doc="regeneration air")

    def __init__(self, around=8, along=8):
        self.n, self.m = along, around
        grid = (along, 2 * around)
        self.W = ac.Variable(shape=grid, start=0.15, fixed=True, nominal=0.1, doc="water in the gel, kg/kg")
        self.T = ac.Variable(shape=grid, start=320.0, fixed=True, nominal=300.0, unit="K", doc="temperature of the gel")
        self.w = ac.Variable(shape=grid, start=0.012, nominal=0.01, doc="humidity ratio of the air that leaves a cell")
        self.Ta = ac.Variable(shape=grid, start=320.0, nominal=300.0, unit="K", doc="temperature of the air that leaves a cell")

    def equations(self):
        n, m, cells = self.n, self.m, self.n * 2 * self.m
        air, gel = self.m_air / m, self.M / cells
        transfer = 1 - ac.exp(-self.NTU / n)  # what an exchanger at one temperature takes of the difference
        for side in (slice(0, m), slice(m, 2 * m)):
            forward = side.start == 0
            T_first, w_first = (self.T_in, self.w_in) if forward else (self.T_hot, self.w_hot)
            for i in range(n):
                row, before = (i, i - 1) if forward else (n - 1 - i, n - i)
                T_before, w_before = (self.Ta[before, side], self.w[before, side]) if i else (T_first, w_first)
                W, T = self.W[row, side], self.T[row, side]
                yield self.w[row, side] == w_before - transfer * (w_before - humidity_above(T, W))
                yield self.Ta[row, side] == T_before - transfer * (T_before - T)
                taken = air * (w_before - self.w[row, side])
                heat = air * (CP + w_before * CP_VAPOUR) * (T_before - self.Ta[row, side])
                last = self._cell_before(row, side)
                speed = 2 * m / self.turn
                yield gel * ac.der(W) == gel * speed * (self.W[row, last] - W) + taken
                vapour = H_VAPOUR + CP_VAPOUR * (self.Ta[row, side] - 273.15)
                released = taken * (vapour + self.q - TO_LIQUID * (T - 273.15))
                carried = gel * speed * (DRY + self.W[row, last] * TO_LIQUID) * (self.T[row, last] - T)
                yield gel * (DRY + W * TO_LIQUID) * ac.der(T) == carried + heat + released
        self.T_dry = ac.named(ac.mean(self.Ta[n - 1, :m]), unit="K", doc="process air that leaves")
        self.w_dry = ac.named(ac.mean(self.w[n - 1, :m]), doc="process air that leaves")
        self.T_damp = ac.named(ac.mean(self.Ta[0, m:]), unit="K", doc="regeneration air that leaves")
        self.w_damp = ac.named(ac.mean(self.w[0, m:]), doc="regeneration air that leaves")

    def _cell_before(self, row, side):
        """Numbers of the cells from which the gel of this side comes."""
        return [(k - 1) % (2 * self.m) for k in range(side.start, side.stop)]


def main():
    found = {}
    for around in (1, 2, 5, 8, 20):
        model = ac.compile(DesiccantWheel(around), units=False)
        begun = time.perf_counter()
        result = model.simulate(until=5000.0, points=101)
        spent = time.perf_counter() - begun
        found[around] = result
        leaves = f"{result['T_dry'][-1] - 273.15:.2f} °C, {1e3 * result['w_dry'][-1]:.3f} g/kg"
        print(f"{around:2} cells around: {2 * 4 * 8 * around:5} equations, {leaves}, {1e3 * spent:.0f} ms")
    result = found[8]
    ac.psychrometric_diagram(result, [("T_in", "w_in"), ("T_dry", "w_dry")], file="desiccant_wheel.png", T=(283.15, 363.15))
    return found


if __name__ == "__main__":
    main()
