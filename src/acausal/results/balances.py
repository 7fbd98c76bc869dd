"""The accounts of charge and energy of a circuit over time: what its components hold, and what came in meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import refuse_other_than
from . import canvas
from .diagrams import File
from .parts import Part, flows, fluid_parts, heat_in, one_fluid, total, work_in
from .style import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 1e-6  # of what flows through a component: less of it is not taken to stay there


class Accounts:
    """Charge and energy of a circuit: arrays over time, for each component.

    `charge` (kg) and `energy` (J) are what components hold; `mass_in` (kg/s) is what flows in from boundaries; `power` (W) is what
    comes in as work, as heat, with another medium and with what flows in, each less what goes out. So ``sum(energy)`` grows by the
    integral of ``sum(power)``, and ``sum(charge)`` by that of ``sum(mass_in)``: `energy_gap` (J) and `charge_gap` (kg) are what is
    missing. What a component holds that does not say its energy (`StratifiedTank`) is counted by what flowed into it; `inferred`
    names these. A closed circuit has no `mass_in`, so that its charge is compared with that at first, to rounding. Integrals go in
    straight lines from point to point of the result: with more points the gap of a plant that switches is smaller. Exact to the
    run's tolerance is a meter in the plant itself, ``yield self.E_in == ac.integral(self.compressor.P + …)``.
    """

    def __init__(self, result: Any, medium: Any) -> None:
        self.result, self.time, self.medium = result, np.asarray(result.time), one_fluid(result, medium)
        self.charge: dict[str, np.ndarray] = {}
        self.energy: dict[str, np.ndarray] = {}
        self.mass_in: dict[str, np.ndarray] = {}
        self.power: dict[str, np.ndarray] = {}
        self.inferred: list[str] = []
        for part in fluid_parts(result):
            if part.passed_by(self.medium.name):
                self._enter(part)
        self.charge_gap = self._gap(self.charge, self.mass_in)
        self.energy_gap = self._gap(self.energy, self.power)

    def _enter(self, part: Part) -> None:
        own = [self._carried(path) for path in part.passed_by(self.medium.name).values()]
        if part.is_boundary:
            if any(mass.any() for mass, _ in own):  # nothing comes through a blind flange
                self.mass_in[part.path] = -sum((mass for mass, _ in own), self._zero())
                self.power[part.path] = -sum((energy for _, energy in own), self._zero())
            return
        for held, names, unit in ((self.charge, ("charge", "M"), "kg"), (self.energy, ("energy", "U"), "J")):
            name = next((n for n in names if part.has(n, unit)), None)
            if name is not None:
                held[part.path] = total(self.result, part.name(name))
        power = self._from_outside(part)
        if power.any():
            self.power[part.path] = power
        if part.path not in self.energy:
            self._infer(part, power, [energy for _, energy in own])

    def _infer(self, part: Part, power: np.ndarray, carried: list[np.ndarray]) -> None:
        """The energy of a component that does not say it: what flowed in, where that is more than rounding."""
        stays, through = sum(carried, power), sum((np.abs(v) for v in carried), np.abs(power))
        if np.abs(stays).max() > LEAST * through.max():
            self.inferred.append(part.path)
            self.energy[part.path] = self._integral(stays)

    def _from_outside(self, part: Part) -> np.ndarray:
        """Work, heat and what other media bring into a component."""
        return work_in(self.result, part) + heat_in(self.result, part, self.medium.name)

    def _carried(self, port: str) -> tuple[np.ndarray, np.ndarray]:
        """Mass and energy that flow into a component through a port or an array of them."""
        found = flows(self.result, port)
        return sum((m for _, _, m in found), self._zero()), sum((m * h for _, h, m in found), self._zero())

    def _zero(self) -> np.ndarray:
        return np.zeros(len(self.time))

    def _gap(self, held: dict[str, np.ndarray], rates: dict[str, np.ndarray]) -> np.ndarray:
        stored, rate = sum(held.values(), self._zero()), sum(rates.values(), self._zero())
        return np.asarray(stored - stored[0] - self._integral(rate))

    def _integral(self, rate: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(np.diff(self.time) * (rate[1:] + rate[:-1]) / 2)])

    @property
    def charge_error(self) -> float:
        """The largest gap of charge, over the largest charge."""
        return _share(self.charge_gap, sum(self.charge.values(), self._zero()))

    @property
    def energy_error(self) -> float:
        """The largest gap of energy, over all that came in."""
        came = sum((np.maximum(values, 0.0) for values in self.power.values()), self._zero())
        return _share(self.energy_gap, np.array([np.trapezoid(came, self.time)]))

    def __str__(self) -> str:
        wide = max([len(name) for name in (*self.charge, *self.energy, *self.power)], default=4)
        rows = [f"{'':{wide}} {'charge, kg':>12} {'stored, kJ':>12} {'came in, kJ':>12}"]
        for name in dict.fromkeys((*self.charge, *self.energy, *self.power)):
            charge = f"{self.charge[name][-1]:12.4f}" if name in self.charge else f"{'–':>12}"
            stored = self.energy.get(name, self._zero())
            came = np.trapezoid(self.power.get(name, self._zero()), self.time)
            rows.append(f"{name:{wide}} {charge} {(stored[-1] - stored[0]) / 1e3:12.2f} {came / 1e3:12.2f}")
        return "\n".join([*rows, f"charge closes to {self.charge_error:.1e}, energy to {self.energy_error:.1e} of what came in"])

    def plot(self, *, file: File = None, title: str = "") -> Figure:
        """What components hold over time: their charge, and the energy they gained."""
        import matplotlib

        path = canvas.checked_path(file)
        with matplotlib.rc_context(STYLE):
            figure = canvas.new_figure((8.0, 6.0), False)
            above, below = figure.subplots(2, sharex=True)
            colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(dict.fromkeys((*self.charge, *self.energy)))}
            for axes, held, size in ((above, self.charge, 1.0), (below, self.energy, 1e3)):
                for name, values in held.items():
                    first = 0.0 if axes is above else values[0]
                    axes.plot(self.time, (values - first) / size, color=colours[name], label=name)
                axes.margins(x=0)
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
            above.set_ylabel("Charge (kg)")
            below.set_ylabel("Energy gained (kJ)")
            below.set_xlabel(f"Time ({self.result.unit('time') or 's'})")
            above.set_title(title or self.result.title)
            canvas.saved(figure, path)
        return figure


def _share(gap: np.ndarray, of: np.ndarray) -> float:
    whole = float(np.abs(of).max(initial=0.0))
    return float(np.abs(gap).max(initial=0.0)) / whole if whole else 0.0


def accounts(result: Any, medium: Any = None) -> Accounts:
    """The accounts of charge and energy of any circuit over a run; see `Accounts`. `medium` may be left out where only one boils.

    >>> import acausal as ac
    >>> from acausal.library.refrigeration import ColdStore
    >>> kept = ac.accounts(ac.compile(ColdStore()).simulate(until="10 min", points=6001))
    >>> sorted(kept.charge), kept.charge_error < 1e-12, kept.energy_error < 1e-3
    (['condenser', 'evaporator', 'receiver'], True, True)
    """
    refuse_other_than("a result", result)
    return Accounts(result, medium)
