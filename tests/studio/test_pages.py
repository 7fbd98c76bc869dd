"""Several pages on one studio: each knows what the others know, and none ends what another one began."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the studio's server is an extra: pip install acausal[studio]")

from acausal.studio.client import Client
from acausal.studio.protocol import Fit, unpacked
from acausal.studio.runs import KEPT, Runs
from acausal.studio.studio import _GRACE as GRACE
from acausal.studio.studio import Studio

from .conftest import Page, Server, opened, ready
from .plant import PLANT
from .test_recalled import heard, opened_in
from .test_runs import made

LONG = {"name": "", "until": "1000000 day", "points": 2}


@pytest.fixture
def other(server: Server) -> Any:
    with opened(server) as found:
        yield found


def over(page: Page, run: str) -> dict[str, Any]:
    return dict(page.wait("run", lambda r: r["id"] == run and r["state"] not in ("queued", "running")))


def test_what_waits_for_its_turn_is_cancelled_at_once_and_what_goes_on_stays(tmp_path: Path) -> None:
    """With one worker, which is busy: whoever insists must not end the process of somebody else's run."""

    async def story(studio: Studio, client: Client) -> None:
        await heard(client, lambda head: head.get("notice") == "model")

        async def asked(number: int, ask: str, **given: Any) -> Any:
            await studio.asked(client, {"id": f"1-{number}", "ask": ask, **given})
            return (await heard(client, lambda head: head.get("id") == f"1-{number}"))["answer"]

        def state_of(notice: str, number: str, *states: str) -> Any:
            fits = lambda h: h.get("notice") == notice and h["data"]["id"] == number and h["data"]["state"] in states  # noqa: E731
            return heard(client, fits)

        long = (await asked(1, "run", case=LONG, names=[], instead=""))["id"]
        await state_of("run", long, "running")
        run = (await asked(2, "run", case={"name": ""}, names=[], instead=""))["id"]
        study = (await asked(3, "study", case={"name": ""}, over={"G": [1.0]}, outputs=["room.T"], draws=0))["id"]
        await studio.asked(client, {"id": "1-4", "ask": "cancel", "run": run})
        stopped = (await state_of("run", run, "cancelled", "finished", "failed"))["data"]
        assert (stopped["state"], stopped["message"]) == ("cancelled", "It was cancelled before its turn came.")
        await studio.asked(client, {"id": "1-5", "ask": "cancel_study", "study": study})
        assert not (await state_of("study", study, "cancelled"))["data"]["rows"]
        await asyncio.sleep(1.5 * GRACE)
        assert studio.runs.by_id[long].state == "running"
        await studio.asked(client, {"id": "1-6", "ask": "cancel", "run": long})
        assert "did not react" not in (await state_of("run", long, "cancelled", "failed"))["data"]["message"]

    file = tmp_path / "house.py"
    file.write_text(PLANT)
    opened_in(tmp_path / "kept", file, story, workers=1)


def test_a_run_after_which_another_page_began_one_stays_as_it_is(server: Server, page: Page, other: Page) -> None:
    """A worker can continue its last run only; one that cannot be continued is finished all the same."""
    ready(page)
    run = page.run(until="1 h")
    other.run(until="1 h")
    refused = page.ask("continue", run=run["id"], until="2 h")["refused"]
    assert refused[0]["what"] == "Only the last run can be continued, when it is over."
    with opened(server) as third:
        assert [r["state"] for r in third.hello["runs"] if r["id"] == run["id"]] == ["finished"]


def test_all_pages_hear_that_a_run_goes_on_and_that_it_cannot(page: Page, other: Page) -> None:
    """This one failed before its first step, so that there is nothing to go on from."""
    ready(page)
    run = page.run(set={"G": -1.0})
    for each in (page, other):
        over(each, run["id"])
        each.notices.clear()
    assert page.ask("continue", run=run["id"], until="2 h")["answer"]["state"] == "running"
    for each in (page, other):
        each.wait("run", lambda r: r["id"] == run["id"] and r["state"] == "running")
        assert over(each, run["id"])["state"] == "failed"


def test_a_file_that_is_saved_just_before_a_case_is_loaded(new_studio: Any) -> None:
    server = new_studio()
    with opened(server) as page:
        ready(page)
        page.notices.clear()
        server.file.write_text(PLANT.replace("G = ac.Parameter(20.0", "G = ac.Parameter(30.0"))
        page.ask("save_case", case={"name": "at once"}, before="")
        assert page.wait("model")["parts"][0]["quantities"][0]["value"] == 30.0


# --- without a process -------------------------------------------------------------------------------------------------------


class _Worker:
    """Takes every order and never answers."""

    alive = True

    def __init__(self) -> None:
        self.runs: set[str] = set()

    def begins(self, run: str) -> None:
        self.runs.add(run)

    def send(self, head: dict[str, Any]) -> None: ...


def told(client: Client, notice: str) -> list[Any]:
    """What waits for a page, of one kind."""
    heads = [unpacked(client.queue.get_nowait() or b"")[0] for _ in range(client.queue.qsize())]
    return [head["data"] for head in heads if head.get("notice") == notice]


def test_pages_hear_which_runs_went_when_there_are_too_many(tmp_path: Path) -> None:
    async def story() -> tuple[list[str], list[Any]]:
        studio = Studio("plant.py", tmp_path)
        studio.workers = [_Worker()]  # type: ignore[list-item]
        first = [made(studio.runs).id for _ in range(KEPT)]
        client = studio.enter()
        await studio.asked(client, {"id": "1-1", "ask": "run", "case": {"name": ""}, "names": [], "instead": ""})
        return first, told(client, "runs")

    first, lists = asyncio.run(story())
    assert [[r["id"] for r in runs][:-1] for runs in lists] == [first[1:]]


def test_pages_hear_of_runs_that_another_studio_left(tmp_path: Path) -> None:
    async def story() -> None:
        studio, elsewhere = Studio("plant.py", tmp_path), Runs(tmp_path)
        studio.workers = [_Worker()]  # type: ignore[list-item]
        one = studio.enter()
        made(elsewhere, "a")
        other = studio.enter()
        assert [[r["case"]["name"] for r in runs] for runs in told(one, "runs")] == [["a"]]
        assert [r["case"]["name"] for r in told(other, "hello")[0]["runs"]] == ["a"]
        made(elsewhere, "b")
        await studio.asked(one, {"id": "1-1", "ask": "run", "case": {"name": "c"}, "names": [], "instead": ""})
        for client in (one, other):
            assert [[r["case"]["name"] for r in runs] for runs in told(client, "runs")] == [["a", "b", "c"]]

    asyncio.run(story())


def test_a_page_that_comes_back_hears_how_the_last_fit_ended(tmp_path: Path) -> None:
    async def story() -> list[Any]:
        studio = Studio("plant.py", tmp_path)
        studio.fits = {name: Fit(name, "", "data.csv", "finished") for name in ("a", "b")}
        return told(studio.enter(), "fit")

    assert [(fit["id"], fit["state"]) for fit in asyncio.run(story())] == [("b", "finished")]
