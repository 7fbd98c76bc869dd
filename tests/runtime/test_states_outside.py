"""Parameters that ask for a state that does not exist are refused before anything is solved for."""

from __future__ import annotations

import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.library import refrigeration


class Vessel(ac.Component):
    def __init__(self) -> None:
        self.vessel = refrigeration.Receiver(medium="R134a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vessel.charge_start": 3.0}, "rho = 3000, T = 293.15 is outside the table of R134a"),
        ({"vessel.charge_start": 0.0}, "rho = 0, T = 293.15 is outside"),
        ({"vessel.T_start": 100.0}, "T = 100 K is below the lowest temperature of the table of R134a"),
    ],
)
def test_it_names_component_parameters_and_limit(given: dict[str, float], said: str) -> None:
    model = ac.compile(Vessel())
    with pytest.raises(ModelError, match=said) as caught:
        model.simulate(until=1.0, set=given)
    text = str(caught.value)
    assert "component: vessel (Receiver)" in text
    assert f"{next(iter(given))} = {next(iter(given.values())):g}" in text
    assert model.simulate(until=1.0).outcome
