"""A model that is integrated over years, or over a height: the page speaks in that unit, and a run goes on in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acausal.studio.opening import opened
from acausal.studio.studio import Studio

from .test_recalled import heard, opened_in

FOREST = '''
import acausal as ac

class Forest(ac.Component):
    """Trees over years."""
    t = ac.Independent("year")
    r = ac.Parameter(0.05, unit="1/year")
    x = ac.Variable(start=1.0, fixed=True, unit="kg")
    def equations(self):
        yield ac.der(self.x) == -self.r * self.x
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "forest.py"
    found.write_text(FOREST)
    return found


def test_the_page_knows_the_unit_and_a_first_end_is_round_in_it(file: Path):
    from acausal.studio.opening import likely_end

    found = opened(str(file), {}, 1)
    assert found.page.time == ["t", "year"]
    assert likely_end(found.model) == 100.0  # five times twenty years


def test_a_run_goes_on_in_the_unit_of_the_model(file: Path, tmp_path: Path):
    async def story(studio: Studio, client: Any) -> None:
        await heard(client, lambda head: head.get("notice") == "model")

        async def asked(number: int, ask: str, **given: Any) -> dict[str, Any]:
            await studio.asked(client, {"id": f"1-{number}", "ask": ask, **given})
            return await heard(client, lambda head: head.get("id") == f"1-{number}")

        async def over() -> dict[str, Any]:
            return (await heard(client, lambda h: h.get("notice") == "run" and h["data"]["state"] == "finished"))["data"]

        run = (await asked(1, "run", case={"name": "", "until": "20 year"}, names=[], instead=""))["answer"]
        assert (await over())["time"] == 20.0
        refused = await asked(2, "continue", run=run["id"], until="5", names=[])
        assert refused["refused"][0]["what"] == "The run is at 20 year already."
        assert (await asked(3, "continue", run=run["id"], until="480 month", names=[]))["answer"]["until"] == pytest.approx(40.0)
        assert (await over())["time"] == pytest.approx(40.0)

    opened_in(tmp_path / "kept", file, story)
