"""Converters: a motor runs up, a coil is braked by its own current; no power is lost on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical as el
from acausal.library import electromechanics as em
from acausal.library.mechanics import rotational as ro
from acausal.library.mechanics import translational as tr


def test_a_motor_without_inductance_runs_up_exponentially(wired: Any, run: Any, agrees: Any) -> None:
    R, k, J, V = 2.0, 0.5, 0.05, 12.0
    plant = wired(
        "source.p R.p", "R.n motor.p", "motor.n source.n ground.p", "motor.flange body.a",
        source=el.ConstantVoltage(V=V), R=el.Resistor(R=R), motor=em.RotationalEMF(k=k), ground=el.Ground(), body=ro.Inertia(J=J),
    )  # fmt: skip
    result = run(plant, 2.0)
    agrees(result["body.w"], V / k * (1 - np.exp(-(k**2) / (R * J) * result.time)))
    agrees(result["motor.P"], -result["motor.flange.tau"] * result["body.w"], reached=1e-5)


def test_a_coil_is_braked_by_its_short_circuit(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "coil.p R.p", "R.n coil.n ground.p", "coil.flange mass.a",
        R=el.Resistor(R=4.0), coil=em.TranslationalEMF(k=2.0), ground=el.Ground(), mass=tr.Mass(m=0.5, v=ac.start(3.0)),
    )  # fmt: skip
    result = run(plant, 2.0)
    agrees(result["mass.v"], 3.0 * np.exp(-2.0 * result.time))
