"""Properties that nobody knows are told, and water freezes below zero."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError


def test_fog_freezes_below_zero_and_not_above() -> None:
    """Fog froze between -0.25 and 0.75 °C, as the place of the step was taken for its width, and 10 % of it was water at 0 °C."""
    t = np.array([-0.6, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0])
    air = ac.media.moist_air().state(p=101325.0, T=273.15 + t, X=[0.02])
    np.testing.assert_allclose(air.x_ice / air.x_condensate, [1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    warm = ac.media.moist_air().state(p=101325.0, T=273.65, X=[0.02])
    dry, vapour = 0.98, warm.x_vapour
    expected = dry * 1006.0 * 0.5 + vapour * (2500.9e3 + 1860.0 * 0.5) + (0.02 - vapour) * 4190.0 * 0.5
    assert warm.h == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("name", "share", "what"), [("lithium bromide", 0.5, "viscosity"), ("Acetone", None, "conductivity")])
def test_what_coolprop_has_no_coefficients_for_is_not_known(name: str, share: float | None, what: str) -> None:
    """Lithium bromide had a viscosity of 1 Pa·s and no conductivity: what CoolProp gives where it knows nothing."""
    liquid = ac.media.liquid(name, share)
    state = liquid.state(p=1e5, T=0.5 * (liquid.T_min + liquid.T_max))
    with pytest.raises(UsageError, match=f"The {what} of {name}.* is not known"):
        getattr(state, what)


def test_ethanol_by_itself() -> None:
    """The pure liquid could not be had: its name was that of its solution in water, which wants a share."""
    import CoolProp.CoolProp as CP

    assert ac.media.liquid("Ethanol").state(p=1e5, T=300.0).rho == pytest.approx(
        CP.PropsSI("D", "P", 1e5, "T", 300.0, "INCOMP::Ethanol")
    )
    assert ac.media.liquid("ethanol", 0.3).state(p=1e5, T=300.0).rho == pytest.approx(
        CP.PropsSI("D", "P", 1e5, "T", 300.0, "INCOMP::MEA[0.3]")
    )


def test_liquids_that_coolprop_has_in_another_way() -> None:
    """A solution known by shares of volume, and a metal that boils above 100 bar, ended in a ValueError of CoolProp."""
    with pytest.raises(UsageError, match="by the share of volume"):
        ac.media.liquid("AEG", 0.3)
    assert ac.media.liquid("LiqNa").state(p=1e5, T=500.0).rho == pytest.approx(897.0, rel=0.01)
