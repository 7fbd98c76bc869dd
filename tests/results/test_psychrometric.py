"""The psychrometric diagram: lines are those of moist air, states stand where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError

AIR = ac.media.moist_air()


class Supply(ac.Component):
    port = ac.FluidPort()
    T, w = ac.Input(300.0, unit="K"), ac.Parameter(0.01, unit="kg/kg")

    def equations(self) -> Any:
        state = self.medium.state(p=self.port.p, T=self.T, w=self.w)
        yield self.port.m_flow == -0.1
        yield self.port.h.outflow == state.h
        yield self.port.X.outflow[0] == state.x_water


class Exhaust(ac.Component):
    port = ac.FluidPort()

    def equations(self) -> Any:
        yield self.port.p == 101325.0
        yield self.port.h.outflow == self.port.h.inflow
        yield self.port.X.outflow[0] == self.port.X.inflow[0]


class Duct(ac.Component):
    def __init__(self) -> None:
        self.supply, self.exhaust = Supply(medium=AIR), Exhaust()

    def connections(self) -> Any:
        yield self.supply.port, self.exhaust.port


@pytest.fixture(scope="module")
def result() -> Any:
    return ac.compile(Duct()).simulate(until=10.0, inputs={"supply.T": ([0.0, 10.0], [300.0, 310.0])}, points=11)


def lines(figure: Any, colour: str, width: float) -> list[Any]:
    found = figure.axes[0].lines
    return [line for line in found if line.get_color() == colour and line.get_linewidth() == pytest.approx(width)]


def test_the_lines_are_those_of_moist_air() -> None:
    figure = ac.psychrometric_diagram()
    (border,) = lines(figure, "#222222", 1.5)
    t, w = border.get_data()
    np.testing.assert_allclose(w, 1e3 * AIR.state(p=101325.0, T=np.asarray(t) + 273.15, phi=1.0).w, rtol=1e-9)
    for line in lines(figure, "#999999", 0.6):
        t, w = (np.asarray(v)[1:6] for v in line.get_data())
        wet = float(line.get_xdata()[0])
        if wet >= 0:
            state = AIR.state(p=101325.0, T=t + 273.15, w=1e-3 * w)
            np.testing.assert_allclose(np.asarray(state.T_wet) - 273.15, wet, atol=1e-6)


def test_states_of_ports_and_of_pairs_are_the_same(result: Any, tmp_path: Path) -> None:
    file = tmp_path / "air.png"
    figure = ac.psychrometric_diagram(result, ["exhaust.port", ("supply.T", "supply.w")], at=[0.0, 10.0], file=file)
    assert file.stat().st_size > 20_000
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    for line, T in zip(marks, (26.85, 36.85), strict=True):
        np.testing.assert_allclose(line.get_xdata(), T, atol=1e-6)
        np.testing.assert_allclose(line.get_ydata(), 10.0, rtol=1e-9)


@pytest.mark.parametrize("T", [(273.15, 393.15), ("-80 degC", "-20 degC"), ("-5 degC", "60 degC")])
@pytest.mark.parametrize("p", [101325.0, "0.2 bar", 1e6])
def test_lines_are_drawn_as_far_as_air_is_known(T: Any, p: Any) -> None:
    """Where water boils no air is saturated, which ended all pictures beyond 100 °C; in the coldest air hardly any water fits."""
    figure = ac.psychrometric_diagram(T=T, p=p)
    pressure = {"0.2 bar": 2e4}.get(p, p)
    for line in lines(figure, "#999999", 0.6):
        assert np.all(np.diff(line.get_ydata()) < 0)  # warmer air takes up water from less
        wet = float(line.get_xdata()[0])
        fits = 1e3 * AIR.state(p=pressure, T=wet + 273.15, phi=1.0).w
        assert float(line.get_ydata()[0]) == pytest.approx(float(fits), rel=1e-6)
    shares = [note.get_text() for note in figure.axes[0].texts if note.get_text().endswith("%")]
    assert "10 %" in shares
    assert "-0 °C" not in [note.get_text() for note in figure.axes[0].texts]


def test_a_trace_is_the_whole_run(result: Any) -> None:
    figure = ac.psychrometric_diagram(result, ["exhaust.port"], trace=True)
    drawn = [line for line in figure.axes[0].lines if line.get_label() == "exhaust.port"]
    assert len(drawn) == 1 and len(drawn[0].get_xdata()) == 11


def test_what_cannot_be_drawn_is_said(result: Any) -> None:
    with pytest.raises(UsageError, match="No states of moist air are given"):
        ac.psychrometric_diagram(result)
    with pytest.raises(UsageError, match="from low to high, not from 300 to 290 K"):
        ac.psychrometric_diagram(T=(300.0, 290.0))
    with pytest.raises(UsageError, match=r'no diagram goes from 0 to 40 K(.|\n)*"40 degC"'):
        ac.psychrometric_diagram(T=(0, 40))
    with pytest.raises(UsageError, match="lowest and the highest temperature of a diagram in K, got 300"):
        ac.psychrometric_diagram(T=300.0)  # type: ignore[arg-type]
    for p in (1.013, -1e5, "1 m"):  # of the first an error spoke of a mass fraction of water
        with pytest.raises(ac.ModelError, match=r"pressure|`m`"):
            ac.psychrometric_diagram(p=p)
    for state in ("supply.T", "supply", "nothing"):
        with pytest.raises(UsageError, match=f"`{state}` is no port of moist air"):
            ac.psychrometric_diagram(result, [state])
    with pytest.raises(UsageError, match="No states of moist air are given"):
        ac.psychrometric_diagram(result, "supply.port")
    with pytest.raises(UsageError, match="a pair of a temperature and a humidity ratio"):
        ac.psychrometric_diagram(result, [("supply.T",)])
