"""The server: hostile requests are refused, and whatever a model does stops a run and nothing else."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio's server is an extra: pip install acausal[studio]")
websockets = pytest.importorskip("websockets", reason="the studio's server is an extra: pip install acausal[studio]")

from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from .conftest import PATIENCE, TOKEN, Page, Server, opened, ready  # noqa: E402
from .plant import PLANT  # noqa: E402

# --- hostile requests --------------------------------------------------------------------------------------------------------


def test_only_who_has_the_token_comes_in(server: Server, page: Page) -> None:
    assert server.get("/")[0] == 403
    assert server.get("/?token=wrong")[0] == 403
    assert server.get("/assets/index.js")[0] == 403
    assert server.get(f"/?token={TOKEN}")[0] == 303
    assert server.get("/", cookie=server.cookie)[0] == 200
    assert server.get("/", cookie=f"acausal-studio-{server.port}=wrong")[0] == 403
    assert server.get("/", cookie="\x01;;=;=\xff")[0] == 403


@pytest.mark.parametrize("other", ['a={"x":1}', "x y=1", "novalue", "n=\xe9", "acausal-studio-1=other"])
def test_cookies_that_other_programs_of_this_machine_left_shut_nobody_out(server: Server, page: Page, other: str) -> None:
    assert server.get("/", cookie=f"{other}; {server.cookie}")[0] == 200
    assert server.get("/", cookie=other)[0] == 403


def test_a_foreign_name_or_page_is_refused_although_it_has_the_token(server: Server, page: Page) -> None:
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", ""):
        assert server.get(f"/?token={TOKEN}", host=host)[0] in (400, 403)
        assert server.get("/", host=host, cookie=server.cookie)[0] in (400, 403)
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}", f"http://localhost.evil:{server.port}"):
        assert server.get("/", origin=origin, cookie=server.cookie)[0] == 403


@pytest.mark.parametrize(
    "path",
    ["/../server.py", "/%2e%2e/server.py", "/files/..%2fruns.json", "/files/.hidden", "/assets/../../guard.py", "/files/%00"],
)
def test_paths_lead_nowhere_else(server: Server, page: Page, path: str) -> None:
    status, text = server.get(path, cookie=server.cookie)
    assert status in (400, 403, 404) and "import" not in text


@pytest.mark.parametrize(
    "what",
    [
        {"origin": "http://evil.example"},
        {"origin": None},
        {"cookie": ""},
        {"cookie": "acausal-studio-1=x"},
        {"host": "evil.example"},
    ],
)
def test_a_socket_wants_cookie_host_and_origin(server: Server, page: Page, what: dict[str, Any]) -> None:
    headers = {"Cookie": what.get("cookie", server.cookie)}
    if "host" in what:
        headers["Host"] = what["host"]
    where, origin = f"ws://127.0.0.1:{server.port}/socket", what.get("origin", server.url)
    with pytest.raises(InvalidStatus), connect(where, origin=origin, additional_headers=headers):
        pass


def test_answers_carry_a_strict_policy(server: Server, page: Page) -> None:
    import urllib.request

    for path, headers in (("/", {"Cookie": server.cookie}),):
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}{path}", headers=headers)) as answer:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff" and "server" not in answer.headers


def test_nonsense_on_the_socket_is_answered_or_ignored(page: Page) -> None:
    ready(page)
    page.socket.send("{")
    page.socket.send("[1, 2]")
    page.socket.send('"text"')
    refused = [
        page.ask("no_such_thing"),
        page.ask("__init__"),
        page.ask("run", case={"nme": 1}, names=[]),
        page.ask("columns", run="../x", names=[]),
    ]
    refused += [page.ask("explain", path="a\x00b"), page.ask("cancel"), page.ask("diagram", path="no.such.part")]
    assert all(r["refused"][0]["what"] for r in refused)
    page.socket.send('{"id": "999-1", "ask": "reload"}')  # the number of another page
    head, _ = page.hear()
    assert "number of its page" in head["refused"][0]["what"]


def test_a_frame_that_is_too_large_ends_that_page_only(server: Server, page: Page) -> None:
    with opened(server) as other, pytest.raises(ConnectionClosed):
        other.socket.send("x" * (3 << 20))
        while True:
            other.hear()
    assert page.run()["state"] == "finished"


def test_pages_beyond_the_limit_are_refused_and_the_server_lives(server: Server, page: Page) -> None:
    with ExitStack() as held, pytest.raises((InvalidStatus, ConnectionClosed, OSError)):
        for _ in range(300):
            held.enter_context(opened(server))
    assert page.run()["state"] == "finished"


def test_who_connects_and_says_nothing_keeps_nobody_out(server: Server, page: Page) -> None:
    with ExitStack() as held:
        for _ in range(400):
            held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        deadline = time.monotonic() + PATIENCE
        while (status := server.get("/", cookie=server.cookie)[0]) != 200 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert status == 200
    assert page.run()["state"] == "finished"


def test_a_page_that_goes_in_the_middle_of_a_run_finds_it_when_it_comes_back(server: Server) -> None:
    with opened(server) as page:
        ready(page)
        number = page.ask("run", case={"name": "left alone", "until": "20 day"}, names=["room.T"], instead="")["answer"]["id"]
        page.socket.socket.close()  # no farewell: the browser was killed, or the machine sleeps
    with opened(server) as page:
        known = [r for r in page.hello["runs"] if r["id"] == number]
        assert known and known[0]["case"]["name"] == "left alone"
        if known[0]["state"] in ("queued", "running"):
            page.wait("run", lambda r: r["id"] == number and r["state"] not in ("queued", "running"))
        assert page.ask("columns", run=number, names=["room.T"])["columns"]


# --- runs --------------------------------------------------------------------------------------------------------------------


def test_a_run_gives_the_columns_that_were_asked_for(page: Page) -> None:
    model = ready(page)
    assert (model["title"], model["until"], model["plots"]) == ("House", 21600.0, [["room.T"], ["wall.Q_flow"]])
    run = page.run()
    assert run["state"] == "finished" and run["events"] > 0 and run["fraction"] == 1.0
    head, numbers = _columns(page, run["id"], ["room.T", "no.such", "thermostat.heating"])
    assert [c["name"] for c in head["columns"]] == ["room.T", "thermostat.heating"] and head["columns"][1]["states"] == [
        "on",
        "off",
    ]
    assert len(numbers) == 3 and numbers[0][0] == 0.0 and numbers[0][-1] == 21600.0
    assert 291.0 < min(numbers[1]) and max(numbers[1]) < 295.0


def _columns(page: Page, run: str, names: list[str]) -> tuple[dict[str, Any], list[list[float]]]:
    """The head of the first frame, and the numbers of all of them."""
    page.count += 1
    number = f"{page.client}-{page.count}"
    page.socket.send(json.dumps({"id": number, "ask": "columns", "run": run, "names": names}))
    heads, found = list[dict[str, Any]](), list[list[float]]()
    while True:
        head, numbers = page.hear()
        if head.get("id") == number:
            heads.append(head)
            found.append(np.frombuffer(numbers, dtype="<f8").tolist())
            if head["last"]:
                return heads[0], found


def test_parameters_start_values_and_inputs_of_a_case_are_those_of_the_run(page: Page) -> None:
    ready(page)
    run = page.run(until="1 h", set={"G": "0.05 kW/K", "room.T": "10 degC", "thermostat.power": 0.0})
    assert run["state"] == "finished", run
    _, numbers = _columns(page, run["id"], ["room.T"])
    # closed form: T = T_out + (T0 - T_out) exp(-G t / C)
    assert numbers[1][0] == pytest.approx(283.15) and numbers[1][-1] == pytest.approx(
        273.15 + 10 * math.exp(-50 * 3600 / 5e5), abs=1e-3
    )


def test_a_wrong_value_is_refused_with_its_reason(page: Page) -> None:
    ready(page)
    run = page.run(set={"G": -1.0})
    assert run["state"] == "failed" and "G" in run["problems"][0]["what"]
    run = page.run(set={"no.such": 1.0})
    assert run["state"] == "failed" and "no.such" in run["problems"][0]["what"]
    run = page.run(until="-3")
    assert run["state"] == "failed" and "not after its start" in run["problems"][0]["what"]


def test_a_run_can_be_continued(page: Page) -> None:
    ready(page)
    run = page.run(until="1 h")
    page.notices.clear()
    assert "answer" in page.ask("continue", run=run["id"], until="2 h")
    longer = page.wait("run", lambda r: r["id"] == run["id"] and r["state"] == "finished" and r["time"] == 7200.0)
    assert longer["points"] > run["points"]


def test_looking_things_up(page: Page) -> None:
    ready(page)
    run = page.run()
    diagram = page.ask("diagram", path="")["answer"]
    assert len(diagram["wires"]) == diagram["connections"] == 3
    events = page.ask("events", run=run["id"])["answer"]
    assert events["count"] > 0 and events["states"][0]["path"] == "thermostat.heating"
    explained = page.ask("explain", path="room.T")["answer"]
    assert any(f["label"] == "determined by" for f in explained["facts"])
    frames = page.ask("frames", run=run["id"], names=["room.T", "wall.Q_flow"], count=50)
    assert frames["frames"] <= 50 and len(frames["columns"]) == 2
    assert "steps" in page.ask("report", run=run["id"])["answer"]


def test_cases_are_saved_beside_the_model_and_read_when_somebody_edits_them(server: Server, page: Page) -> None:
    ready(page)
    saved = page.ask("save_case", case={"name": "thin wall", "set": {"G": 50.0}}, before="")["answer"]
    assert [c["name"] for c in saved] == ["thin wall"]
    file = server.file.with_suffix(".cases.toml")
    assert '"G" = 50.0' in file.read_text()
    file.write_text(file.read_text() + '\n[[case]]\nname = "by hand"\n')
    assert page.wait("cases", lambda cases: len(cases) == 2)[1]["name"] == "by hand"
    assert page.ask("save_case", case={"name": " "}, before="")["refused"]
    assert page.ask("delete_case", name="by hand")["answer"] == saved


# --- whatever a model does ---------------------------------------------------------------------------------------------------


def test_crashes_endless_loops_and_greed_stop_a_run_and_nothing_else(server: Server, page: Page) -> None:
    ready(page)
    good = page.run()
    page.notices.clear()
    crashed = page.run(set={"thermostat.trouble": 1.0})
    assert crashed["state"] == "failed" and "SIGABRT" in crashed["message"]
    assert "answer" in page.ask("explain", path="room.T"), "what is asked meanwhile waits for the model, which is loaded again"
    greedy = page.run(set={"thermostat.trouble": 3.0})
    assert greedy["state"] == "failed" and "MemoryError" in str(greedy["problems"])
    head = page.ask("run", case={"name": "", "set": {"thermostat.trouble": 2.0}}, names=[], instead="")
    time.sleep(0.5)
    page.ask("cancel", run=head["answer"]["id"])
    stopped = page.wait("run", lambda r: r["id"] == head["answer"]["id"] and r["state"] not in ("queued", "running"))
    assert stopped["state"] == "cancelled" and "did not react" in stopped["message"]
    head = page.ask("columns", run=good["id"], names=["room.T"])
    assert "columns" in head, "an earlier run is still there"


def test_a_run_with_few_points_tells_how_far_it_is(page: Page) -> None:
    """Between two output points a run may take minutes: it is heard of all the same."""
    ready(page)
    head = page.ask("run", case={"name": "", "until": "1000000 day", "points": 2}, names=[], instead="")
    number = head["answer"]["id"]
    on = page.wait("run", lambda r: r["id"] == number and 0 < r["fraction"] < 1)
    assert on["state"] == "running" and 0 < on["time"] < on["until"] and on["seconds"] > 0
    page.ask("cancel", run=number)
    over = page.wait("run", lambda r: r["id"] == number and r["state"] not in ("queued", "running"))
    assert over["state"] == "cancelled"


def test_a_broken_file_is_told_and_the_last_good_model_stays(new_studio: Any) -> None:
    server = new_studio()
    with opened(server) as page:
        ready(page)
        good = page.run()
        server.file.write_text(PLANT.replace("class House(ac.Component):", "class House(ac.Component)"))
        status = page.wait("status", lambda s: s["phase"] == "failed")
        assert (
            "not valid Python" in status["problems"][0]["what"]
            and status["problems"][0]["line"] == PLANT[: PLANT.index("class House")].count("\n") + 1
        )
        assert "last good version stays" in status["text"]
        assert page.run()["state"] == "finished"
        page.notices.clear()
        server.file.write_text("print('hello from the model')\nimport no_such_package\n" + PLANT)
        status = page.wait("status", lambda s: s["phase"] == "failed")
        assert "no_such_package" in status["problems"][0]["what"] and "install" in status["problems"][0]["remedy"]
        assert "hello from the model" in status["printed"]
        page.notices.clear()
        server.file.write_text("import os\nos.abort()\n")
        status = page.wait("status", lambda s: s["phase"] == "failed")
        assert "reads the model's file was ended by SIGABRT" in status["problems"][0]["what"]  # it is no run that ended
        page.notices.clear()
        server.file.write_text(PLANT.replace("G = ac.Parameter(20.0", "G = ac.Parameter(30.0"))
        model = page.wait("model")
        assert model["version"] == 2 and model["parts"][0]["quantities"][0]["value"] == 30.0
        assert page.ask("columns", run=good["id"], names=["room.T"])["columns"], "a run of the earlier version is still there"


def test_a_file_that_hangs_is_given_up_and_one_that_is_wrong_from_the_start_is_told(new_studio: Any) -> None:
    server = new_studio("import sys\nsys.exit('no')\n")
    with opened(server) as page:
        status = (
            page.hello["status"]
            if page.hello["status"]["phase"] == "failed"
            else page.wait("status", lambda s: s["phase"] == "failed")
        )
        assert "SystemExit" in status["problems"][0]["what"]
        refused = page.ask("run", case={"name": ""}, names=[], instead="")["refused"]
        assert "no model" in refused[0]["what"]


def test_killing_the_server_loses_nothing_that_was_saved(new_studio: Any) -> None:
    server = new_studio()
    with opened(server) as page:
        ready(page)
        run = page.run()
        page.ask("save_case", case={"name": "kept"}, before="")
        deadline = time.monotonic() + 30
        while not _saved(run["id"]) and time.monotonic() < deadline:
            time.sleep(0.1)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    again = new_studio()
    with opened(again) as page:
        assert [c["name"] for c in page.hello["cases"]] == ["kept"]
        assert [r["id"] for r in page.hello["runs"]] == [run["id"]]
        ready(page)
        assert page.ask("columns", run=run["id"], names=["room.T"])["columns"]


def _saved(run: str) -> bool:
    from pathlib import Path

    found = list(Path(os.environ["ACAUSAL_CACHE"]).rglob(f"{run}.acausal"))
    lists = list(Path(os.environ["ACAUSAL_CACHE"]).rglob("runs.json"))
    return bool(found) and any(run in f.read_text() for f in lists)


def test_a_file_with_several_models_asks_which_one_and_opens_it(new_studio: Any) -> None:
    server = new_studio(PLANT.replace('__model__ = "House"', "class Shed(House):\n    pass\n\n\nclass Barn(House):\n    pass\n"))
    with opened(server) as page:
        failed = (
            page.hello["status"]
            if page.hello["status"]["phase"] == "failed"
            else page.wait("status", lambda s: s["phase"] == "failed")
        )
        assert "which one is meant" in failed["problems"][0]["what"] and "house.py:Barn" in str(failed["problems"][0]["details"])
        assert page.ask("open", target="other.py:Barn")["refused"] and page.ask("open", target="house.py:Barn(1)")["refused"]
        assert page.ask("open", target="house.py:Barn")["answer"] is None
        assert page.wait("model")["title"] == "Barn"


def test_a_question_that_makes_no_sense_leaves_no_run_behind(server: Server, page: Page) -> None:
    ready(page)
    assert "refused" in page.ask("run", case={"name": "nobody ends it"})
    assert "refused" in page.ask("study", case={"name": "nobody ends it"}, over={"G": [1.0]})
    with opened(server) as other:
        assert "nobody ends it" not in [r["case"]["name"] for r in other.hello["runs"]]
        assert not other.hello["studies"] or all(s["name"] != "nobody ends it" for s in other.hello["studies"])
