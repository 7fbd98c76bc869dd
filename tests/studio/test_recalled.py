"""What was told of a model is shown before anybody has loaded it again, and never longer than it is true."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from acausal.studio import recalled
from acausal.studio.machine import stamp
from acausal.studio.opening import opened
from acausal.studio.protocol import unpacked
from acausal.studio.studio import Studio

PATIENCE = 60.0
DECAY = '''
import acausal as ac

class Decay(ac.Component):
    """Something that becomes less."""
    k = ac.Parameter(0.5, unit="1/s")
    x = ac.Variable(start=1.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == -self.k * self.x

__studio__ = {"until": 5}
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "decay.py"
    found.write_text(DECAY)
    return found


@pytest.fixture
def kept(file: Path, tmp_path: Path) -> Path:
    """The folder of a studio that had this file open."""
    page = asdict(opened(str(file), {}, 1).page)
    recalled.write(tmp_path / "kept", str(file), page, {str(file): stamp(str(file))})
    return tmp_path / "kept"


async def heard(client: Any, fits: Any) -> dict[str, Any]:
    while not fits(head := unpacked(await asyncio.wait_for(client.queue.get(), PATIENCE))[0]):
        pass
    return head


def opened_in(folder: Path, file: Path, story: Any, **options: Any) -> Any:
    async def whole() -> Any:
        studio = Studio(str(file), folder, **options)
        try:
            await studio.start()
            return await story(studio, studio.enter())
        finally:
            await studio.stop()

    return asyncio.run(whole())


def test_a_page_has_the_model_at_once_and_its_questions_wait_for_the_worker(file: Path, kept: Path):
    async def story(studio: Studio, client: Any) -> None:
        hello = await heard(client, lambda head: head.get("notice") == "hello")
        assert hello["data"]["model"]["title"] == "Decay" and not studio.workers
        assert hello["data"]["status"]["phase"] == "loading"
        await studio.asked(client, {"id": "1-1", "ask": "diagram", "path": ""})
        await studio.asked(client, {"id": "1-2", "ask": "run", "case": {"name": ""}, "names": ["x"], "instead": ""})
        seen: list[dict[str, Any]] = []
        await heard(client, lambda head: seen.append(head) or _is_over(head))
        assert not [head for head in seen if head.get("notice") == "model"]  # it is the same: nothing is drawn twice
        answered = {head["id"]: head for head in seen if head.get("id")}
        assert answered["1-1"]["answer"]["title"] == "Decay" and answered["1-2"]["answer"]["case"]["name"] == ""

    opened_in(kept, file, story)


def _is_over(head: dict[str, Any]) -> bool:
    return head.get("notice") == "run" and head["data"]["state"] == "finished"


def test_a_file_that_changed_is_not_shown_as_it_was(file: Path, kept: Path):
    file.write_text(DECAY.replace("Decay(", "Growth("))

    async def story(studio: Studio, client: Any) -> str:
        hello = await heard(client, lambda head: head.get("notice") == "hello")
        assert hello["data"]["model"] is None
        return (await heard(client, lambda head: head.get("notice") == "model"))["data"]["title"]

    assert opened_in(kept, file, story) == "Growth"
    found = recalled.read(kept, str(file))
    assert found is not None and found[0]["title"] == "Growth" and found[1] == {str(file): stamp(str(file))}


def test_what_cannot_be_loaded_any_more_is_not_shown_any_longer(file: Path, kept: Path):
    """Nothing in the file changed, but a package that it needs is gone."""
    page, _ = recalled.read(kept, str(file)) or ({}, {})
    file.write_text("import no_such_package\n" + DECAY)
    recalled.write(kept, str(file), page, {str(file): stamp(str(file))})

    async def story(studio: Studio, client: Any) -> tuple[Any, str]:
        assert studio.model is not None
        told = await heard(client, lambda head: head.get("notice") == "model")
        status = await heard(client, lambda head: head.get("notice") == "status" and head["data"]["phase"] == "failed")
        return told["data"], status["data"]["problems"][0]["what"]

    model, what = opened_in(kept, file, story)
    assert model is None and "no_such_package" in what


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"by": 1}', '{"stamps": {"a": 1}, "model": {}, "by": "", "target": ""}'])
def test_what_cannot_be_read_is_as_if_there_were_nothing(kept: Path, file: Path, text: str):
    (kept / "model.json").write_text(text)
    assert recalled.read(kept, str(file)) is None


def test_another_version_or_target_begins_anew(kept: Path, file: Path):
    assert recalled.read(kept, "other.py") is None
    told = json.loads((kept / "model.json").read_text())
    (kept / "model.json").write_text(json.dumps(told | {"by": "0.0.0"}))
    assert recalled.read(kept, str(file)) is None


def test_another_version_of_any_package_begins_anew(kept: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    site = tmp_path / "site-packages"
    (site / "gears-1.0.dist-info").mkdir(parents=True)
    assert recalled.read(kept, str(file)) is not None
    monkeypatch.syspath_prepend(str(site))
    assert recalled.read(kept, str(file)) is None
    recalled.write(kept, str(file), asdict(opened(str(file), {}, 1).page), {str(file): stamp(str(file))})
    assert recalled.read(kept, str(file)) is not None
    (site / "gears-1.0.dist-info").rename(site / "gears-1.1.dist-info")
    assert recalled.read(kept, str(file)) is None


def test_an_end_that_is_yet_to_be_guessed_is_no_difference(kept: Path, file: Path):
    page, _ = recalled.read(kept, str(file)) or ({}, {})
    assert recalled.same(page, {**page, "until": 0.0, "seconds": 9.0, "version": 7})
    assert not recalled.same(page, {**page, "unknowns": 2}) and not recalled.same(None, page)
