"""Media with constant properties, for teaching and for liquids that hardly change: rho, cp, viscosity, conductivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..language.functions import log
from ..language.medium import Medium


@dataclass(frozen=True)
class ConstantMedium(Medium):
    """An incompressible medium: h = cp (T - T_reference) + (p - p_reference) / rho.

    >>> oil = ConstantMedium("oil", rho=850.0, cp=2000.0, viscosity=0.02, conductivity=0.13)
    >>> oil.state(p=1e5, T=313.15).h
    79998.44117647059
    """

    said_by_temperature = True
    compressible = False

    name: str
    rho: float
    cp: float
    viscosity: float = float("nan")
    conductivity: float = float("nan")
    T_reference: float = 273.15
    p_reference: float = 101325.0

    def __post_init__(self) -> None:
        for what in ("rho", "cp"):
            if not getattr(self, what) > 0:
                raise UsageError(f"`{what}` of {self.name} must be positive, got {getattr(self, what)!r}.")

    def particulars(self) -> str:
        return f"rho {self.rho:.6g}, cp {self.cp:.6g}"

    def state(self, *, p: Any, T: Any = None, h: Any = None) -> ConstantState:
        """The state at (p, T) or (p, h), for numbers and in equations."""
        if (T is None) == (h is None):
            raise UsageError(f"A state of {self.name} is found from (p, T) or (p, h).")
        flow = (p - self.p_reference) / self.rho
        if T is None:
            T = self.T_reference + (h - flow) / self.cp
        else:
            h = self.cp * (T - self.T_reference) + flow
        return ConstantState(self, p, T, h)


@dataclass(frozen=True)
class ConstantState:
    """Properties at one state."""

    medium: ConstantMedium
    p: Any
    T: Any
    h: Any

    @property
    def rho(self) -> float:
        return self.medium.rho

    @property
    def cp(self) -> float:
        return self.medium.cp

    @property
    def cv(self) -> float:
        return self.medium.cp

    @property
    def viscosity(self) -> float:
        return self.medium.viscosity

    @property
    def conductivity(self) -> float:
        return self.medium.conductivity

    @property
    def prandtl(self) -> float:
        return self.cp * self.viscosity / self.conductivity

    @property
    def u(self) -> Any:
        return self.medium.cp * (self.T - self.medium.T_reference) - self.medium.p_reference / self.medium.rho

    @property
    def s(self) -> Any:
        return self.medium.cp * log(self.T / self.medium.T_reference)
