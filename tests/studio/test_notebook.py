"""Widgets: what a cell carries is whole, and a browser draws it without a server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.library.demo import HeatedHouse
from acausal.studio import notebook

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOST = """<!doctype html><html><body><div id="cell"></div><script type="module">
import widget from "./notebook.js"
const head = await (await fetch("./head.json")).text(), numbers = new DataView(await (await fetch("./numbers.bin")).arrayBuffer())
const given = { head, numbers, title: "acausal: test", height: 500 }
widget.render({ model: { get: (name) => given[name] }, el: document.getElementById("cell") })
</script></body></html>"""


@pytest.fixture(scope="module")
def result() -> Any:
    return ac.compile(HeatedHouse()).simulate(until=3600.0, points=61)


def test_a_cell_carries_diagrams_columns_and_frames(result: Any) -> None:
    text, numbers = notebook._still(notebook.described(result._system, result.title, result._stored.known), result, [])
    head = json.loads(text)
    found = np.frombuffer(numbers)
    assert sum(length for _, length in head["blocks"].values()) == len(found)
    first, length = head["blocks"]["column 0"]
    assert np.array_equal(found[first : first + length], np.asarray(result[head["columns"][0]["name"]]))
    whole = head["diagrams"][""]
    assert whole["connections"] == len(whole["wires"]) > 10 and set(head["diagrams"]) >= {
        p["path"] for p in whole["parts"] if p["composite"]
    }
    assert len(head["frames"]) > 10 and head["run"]["time"] == 3600.0
    model = json.loads(notebook._still(ac.compile(HeatedHouse()).catalogue(), None, [])[0])
    assert model["views"] == ["diagram"] and model["diagrams"][""] == whole


def test_what_is_missing_is_told(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((ModelError, KeyError), match="no_such"):
        result.widget("no_such")
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(UsageError, match=r"needs `anywidget`, which is not installed"):
        result.widget()


def test_a_widget_is_one_of_the_notebook_s(result: Any) -> None:
    pytest.importorskip("anywidget", reason="an extra: pip install acausal[notebook]")
    made = result.widget([result_name(result)], height=300)
    assert made.height == 300 and "export default" in str(made._esm) and made.numbers
    assert "application/vnd.jupyter.widget-view+json" in made._repr_mimebundle_()[0]
    assert ac.compile(HeatedHouse()).diagram().title == "acausal: HeatedHouse"


def result_name(result: Any) -> str:
    return next(q.path for p in notebook.describe.parts_of(notebook.described(result._system, "", result._stored.known))
                for q in p.quantities if q.state and "*" not in q.path)  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: `make setup` installs it where it may")
def test_a_browser_draws_the_cell_without_a_server_to_ask(result: Any, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    text, numbers = notebook._still(notebook.described(result._system, result.title, result._stored.known), result, [])
    files = {"/": HOST.encode(), "/head.json": text.encode(), "/numbers.bin": numbers, "/notebook.js": notebook.ESM.read_bytes()}
    kinds = {".js": "text/javascript", "/": "text/html"}
    said: list[str] = []
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1000, "height": 560})
        tab.set_default_timeout(60_000)
        tab.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda e: said.append(str(e)))

        def serve(route: Any) -> None:
            path = "/" + route.request.url.split("/", 3)[3]
            if path not in files:
                said.append(f"asked for {path}")
                route.abort()
                return
            route.fulfill(body=files[path], content_type=kinds.get(Path(path).suffix or path, "application/octet-stream"))

        tab.route("http://notebook.invalid/**", serve)
        tab.goto("http://notebook.invalid/")
        cell = tab.frame_locator("iframe")
        cell.get_by_role("application", name="Diagram of HeatedHouse").wait_for()
        cell.get_by_role("img", name="Curves of").first.wait_for()
        playwright.expect(cell.get_by_label("Time shown")).to_have_text("60 min")
        playwright.expect(cell.locator(".part-value output").first).not_to_have_text("–")
        (tmp_path / "cell.png").write_bytes(tab.screenshot())
        browser.close()
    assert not said
