"""The plants of `acausal demo`: what is simulated, what is drawn, what is told of it, and what to try next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from . import keep

if TYPE_CHECKING:
    from ..results.result import Result

JOULE_PER_KWH = 3.6e6
DAY = 86400.0


class Demonstration(ABC):
    """One plant, and how it is shown."""

    name: ClassVar[str]
    path: ClassVar[str]
    text: ClassVar[str]
    title: ClassVar[str]
    days: ClassVar[int]
    points_a_day: ClassVar[int]
    drawn: ClassVar[tuple[str, ...]]
    units: ClassVar[Mapping[str, str]]

    @abstractmethod
    def component(self) -> Any:
        """The plant."""

    @abstractmethod
    def found(self, result: Result) -> str:
        """What a reader should know of the result, in a sentence or two."""

    @abstractmethod
    def next(self) -> tuple[tuple[str, str], ...]:
        """Commands to try, and why."""

    def more_pictures(self, result: Result, file: str, kept: keep.Kept) -> None:  # noqa: B027, most have none
        """Diagrams besides the curves."""


class HeatedHouseShown(Demonstration):
    name = "house"
    path = "acausal.library.demo:HeatedHouse"
    text = (
        "A house in winter. An air-source heat pump charges a stratified hot-water tank, which heats the floor and gives hot "
        "water; sun, people and the weather do the rest. Two controllers keep the room and the tank at their temperatures."
    )
    title = "A heated house in winter"
    days, points_a_day = 3, 288
    drawn = ("room.T", "weather.T", "tank.T_top", "heat_pump.P", "heat_pump.Q_flow", "Q_sun")
    units: ClassVar = {"K": "degC", "W": "kW"}

    def component(self) -> Any:
        from ..library.demo import HeatedHouse

        return HeatedHouse()

    def found(self, result: Result) -> str:
        room, outside = result.in_unit("room.T", "degC"), result.in_unit("weather.T", "degC")
        electric, heat = result["E_electric"][-1] / JOULE_PER_KWH, result["E_heat"][-1] / JOULE_PER_KWH
        return (
            f"outdoors {outside.min():.0f} … {outside.max():.0f} °C, indoors {room.min():.1f} … {room.max():.1f} °C; "
            f"the heat pump made {heat:.0f} kWh of heat from {electric:.0f} kWh of electricity, {heat / electric:.1f} for 1"
        )

    def next(self) -> tuple[tuple[str, str], ...]:
        return (
            (f"acausal run {self.path} -u 3day -s people=900 -p room.T", "a party: does the room get too warm?"),
            (f"acausal run {self.path} -u 1day -p tank.T -o demo.csv", "the tank layer by layer, and everything in a table"),
            (f'acausal info "{self.path}(layers=200)"', "twenty times the layers: longer tables, not more machine code"),
        )


class ColdStoreShown(Demonstration):
    name = "cold-store"
    path = "acausal.library.demo:ColdStore"
    text = (
        "A cold store for meat. A refrigeration plant with R134a keeps it at -1 °C: evaporator and condenser with moving "
        "boundaries, a thermostatic valve, a receiver. A door lets warm and moist air in, frost "
        "grows on the coil, a clock defrosts it."
    )
    title = "A cold store over a day"
    days, points_a_day = 1, 8640  # a start draws the pressure down for some ten seconds: all of them are to be seen
    drawn = ("room.T", "room.T_goods", "evaporator.T_saturation", "compressor.P", "superheat.y", "coil.frost")
    units: ClassVar = {
        "room.T": "degC", "room.T_goods": "degC", "evaporator.T_saturation": "degC", "compressor.P": "kW",
    }  # fmt: skip

    def component(self) -> Any:
        from ..library.refrigeration import ColdStore

        return ColdStore()

    def found(self, result: Result) -> str:
        from ..library.refrigeration.cold_store import accounts

        room = result.in_unit("room.T", "degC")
        starts = sum(s.state == "on" for s in result.states("compressor.run"))
        electric, cold = result["W"][-1] / JOULE_PER_KWH, result["Q_cold"][-1] / JOULE_PER_KWH
        drift, gap = accounts(result)
        return (
            f"{starts} compressor starts, the room {room.min():.1f} … {room.max():.1f} °C; {cold:.1f} kWh of cold from "
            f"{electric:.1f} kWh of electricity; charge kept to {drift:.0e}, energy accounted for to {gap:.0e}"
        )

    def more_pictures(self, result: Result, file: str, kept: keep.Kept) -> None:
        from ..errors import ModelError
        from ..library.refrigeration.cold_store import CYCLE, at_work
        from ..results.diagrams import ph_diagram

        path = Path(file)
        place = str(path.with_name(f"{path.stem}-ph{path.suffix or '.png'}"))
        try:
            ph_diagram("R134a", result, CYCLE, at=at_work(result), file=place, title="The cycle of the cold store")
            kept.pictures.append(place)
        except ModelError as error:
            kept.problems += error.diagnostics

    def next(self) -> tuple[tuple[str, str], ...]:
        return (
            (f"acausal run {self.path} -u 4h -s hall.T=308 -p condenser.p", "a hot summer: how high does the pressure go?"),
            (f"acausal run {self.path} -u 6h -p evaporator.L -o demo.csv", "the boundary moves; everything in a table"),
            (f"acausal run {self.path} -u 2h -s receiver.charge_start=0.05", "a leak: what is left of the cold?"),
        )


PLANTS: dict[str, type[Demonstration]] = {p.name: p for p in (ColdStoreShown, HeatedHouseShown)}
