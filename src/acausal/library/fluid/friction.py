"""Friction in pipes: laws that a pipe may choose from, each with its source and range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
from types import SimpleNamespace
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from .correlations import LAMINAR, TURBULENT, X_LAST, mueller_steinhagen_heck, quiet, within


def friction_factor(reynolds: Any, roughness: Any) -> Any:
    """Darcy's friction factor over Reynolds number and relative roughness, for all kinds of flow (Churchill 1977).

    ``f = 8·((8/Re)^12 + (A + B)^-1.5)^(1/12)``, ``A = (2.457·ln(1/((7/Re)^0.9 + 0.27·roughness)))^16``, ``B = (37530/Re)^16``.
    It is 64/Re where flow is laminar and within 2 % of Colebrook's where it is turbulent.

    >>> round(float(friction_factor(100.0, 0.0)), 4), round(float(friction_factor(1e5, 0.0)), 4)
    (0.64, 0.0179)
    """
    turbulent = (-2.457 * ac.log((7 / reynolds) ** 0.9 + 0.27 * roughness)) ** 16 + (37530 / reynolds) ** 16
    return 8 * ((8 / reynolds) ** 12 + turbulent**-1.5) ** (1 / 12)


def blasius_factor(reynolds: Any, roughness: Any = 0.0) -> Any:
    """Darcy's friction factor of smooth pipes: 64/Re where flow is laminar, ``0.3164/Re^0.25`` where it is turbulent (Blasius 1913;
    up to Re of 100 000), changing smoothly between Re of 2 300 and 4 000. The roughness does not count.

    >>> round(float(blasius_factor(1000.0)), 4), round(float(blasius_factor(1e4)), 5)
    (0.064, 0.03164)
    """
    share = ac.smooth_step(reynolds, (LAMINAR + TURBULENT) / 2, TURBULENT - LAMINAR)
    return 64 / reynolds + share * (0.3164 / reynolds**0.25 - 64 / reynolds)


def laminar_factor(reynolds: Any, roughness: Any = 0.0) -> Any:
    """64/Re, whatever the flow: loss in proportion to it (Hagen 1839, Poiseuille 1840; up to Re of 2 300).

    >>> float(laminar_factor(1000.0))
    0.064
    """
    return 64 / reynolds


Law = Callable[[Any, Any], Any]
LAWS: dict[str, Law] = {"churchill": friction_factor, "blasius": blasius_factor, "laminar": laminar_factor}
HIGHEST = {"blasius": 1e5, "laminar": LAMINAR}  # Reynolds numbers up to which laws are known to hold


def checked_law(name: str) -> str:
    """The name of a law of friction."""
    if not isinstance(name, str) or name not in LAWS:
        raise UsageError(f"The friction of a pipe is one of {', '.join(LAWS)}, not {name!r}.")
    return name


def pressure_loss(m_flow: Any, rho: Any, viscosity: Any, length: Any, diameter: Any, roughness: Any, law: str = "churchill") -> Any:
    """What friction takes of the pressure in a pipe, with the sign of the flow.

    ``f(Re)·length/diameter·m·|m|/(2·rho·A²)``, f by a `law`: "churchill", "blasius" or "laminar". At zero flow |m| is what Re = 1
    belongs to: the laminar law, which is linear, is kept.

    >>> [round(float(pressure_loss(0.1, 998.0, 1e-3, 10.0, 0.02, 0.0, law))) for law in LAWS]
    [895, 899, 255]
    """
    area = pi / 4 * diameter**2
    slow = viscosity * area / diameter
    size = ac.sqrt(m_flow * m_flow + slow * slow)
    return LAWS[law](size / slow, roughness / diameter) * length / diameter * m_flow * size / (2 * rho * area**2)


def friction_range(law: str, m_flow: Any, viscosity: Any, diameter: Any) -> Iterator[Any]:
    """A warning, given once, where a law is used beyond its range; to be yielded by `events`."""
    if law in HIGHEST:
        reynolds = 4 * ac.no_event(ac.abs(m_flow)) / (pi * diameter * viscosity)
        yield within(reynolds, 0.0, HIGHEST[law], "The Reynolds number", f"the friction law {law!r}")


MULTIPLIERS = ("mueller-steinhagen-heck", "lockhart-martinelli", "homogeneous")  # how the losses of two phases are put together


H_LEAST = 1e3  # J/kg of evaporation: below it, and above the critical pressure, "quality" goes from 0 to 1 within this


def both_phases(x: Any, state: Any, ends: Any, names: tuple[str, ...] = ("rho", "viscosity")) -> tuple[Any, Any]:
    """Liquid and vapour of a state of quality x, with what friction or heat transfer needs: where there is one phase only, its own
    properties, else those of saturation. Above the critical pressure both are its own."""
    found, alike = [], quiet(1 - ac.min(ends.h_evaporation / H_LEAST, 1.0))
    for single, end in ((x <= 0, ends.liquid), (x >= 1, ends.vapour)):
        of_end = {n: (getattr(end, n), getattr(state, n)) for n in names}
        found.append(SimpleNamespace(**{n: quiet(ac.where(single, own, e + alike * (own - e))) for n, (e, own) in of_end.items()}))
    return found[0], found[1]


def two_phase_loss(
    multiplier: str, m: Any, quality: Any, liquid: Any, vapour: Any, length: Any, diameter: Any, roughness: Any
) -> Any:
    """What friction takes of a flow of any quality, with the sign of the flow; Churchill's in one phase.

    "mueller-steinhagen-heck" is between all liquid and all vapour; "lockhart-martinelli" is that of the liquid part alone with
    Chisholm's C = 20; "homogeneous" takes one fluid of the mixture's density, and a viscosity by McAdams: ``1/mu = x/mu_v + (1 -
    x)/mu_l``.

    >>> wet, dry = SimpleNamespace(rho=1200.0, viscosity=2e-4), SimpleNamespace(rho=20.0, viscosity=1.2e-5)
    >>> [round(two_phase_loss(name, 0.01, 0.5, wet, dry, 1.0, 0.01, 0.0)) for name in MULTIPLIERS]
    [657, 993, 417]
    """

    def loss(flow: Any, rho: Any, viscosity: Any) -> Any:
        return pressure_loss(flow, rho, viscosity, length, diameter, roughness)

    x = quiet(ac.min(ac.max(quality, 0.0), 1.0))
    of_liquid, of_vapour = (liquid.rho, liquid.viscosity), (vapour.rho, vapour.viscosity)
    if multiplier == "mueller-steinhagen-heck":
        return mueller_steinhagen_heck(loss(m, *of_liquid), loss(m, *of_vapour), x)
    if multiplier == "homogeneous":
        v, fluidity = (x / b + (1 - x) / a for a, b in zip(of_liquid, of_vapour, strict=True))
        return loss(m, 1 / v, 1 / fluidity)
    wet, dry = loss(m * (1 - x), *of_liquid), loss(m * x, *of_vapour)
    both = wet * dry  # phi² = 1 + 20/X + 1/X² times wet, with X² = wet/dry
    last = (1 - x) / ((1 - x) ** 4 + X_LAST**4) ** 0.25
    return wet + 20.0 * quiet(ac.where(m > 0, 1.0, -1.0)) * last * both / ac.sqrt(both + 1e-6) + dry
