"""The studio in a browser: from the command to the page, from a slider to new curves, frames while zooming and panning, memory.

Each record has what was measured as `value`, what is asked for as `bar`, and `ok`; of several rounds the best counts: whatever else
the machine does only adds. Needs Chromium and the extras `studio` and `test`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Record = dict[str, Any]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
IMPORT = 0.15  # seconds that an import of numpy takes on a machine on which two seconds are asked for
TOKEN, PATIENCE, ROUNDS = "figures", 120.0, 3
DEMO = "acausal.library.demo:HeatedHouse"

WAVES = """
import acausal as ac

class Wave(ac.Component):
    w = ac.Parameter(1.0)
    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.w**2 * self.x

class Waves(ac.Component):
    def __init__(self):
        self.a, self.b, self.c, self.d = Wave(), Wave(w=1.3), Wave(w=1.7), Wave(w=2.1)

__model__ = "Waves"
__studio__ = {"until": 1000, "plots": [["a.x", "b.x", "c.x", "d.x"]]}
"""
CHAIN = """
import acausal as ac
from acausal.library.thermal import HeatCapacitor, PrescribedTemperature, ThermalConductor

class Chain(ac.Component):
    def __init__(self, n: int = 468):
        self.masses = [HeatCapacitor(C=1000.0) for k in range(n)]
        self.links = [ThermalConductor(G=1.0) for k in range(n)]
        self.end = PrescribedTemperature(T=350.0)
    def connections(self):
        for k in range(len(self.masses)):
            yield self.masses[k].port, self.links[k].a
            yield self.links[k].b, self.masses[k + 1].port if k + 1 < len(self.masses) else self.end.port

__model__ = "Chain"
__studio__ = {"until": 1000, "plots": [["end.port.Q_flow"]]}
"""
COUNT = """() => { const f = window.__f = []; f.on = true
  requestAnimationFrame(function t(x) { f.push(x); if (f.on) requestAnimationFrame(t) }) }"""
DRAWN = """() => { const at = (n) => performance.getEntriesByName('acausal:' + n).map((e) => e.startTime), s = acausal.getState()
  return at('drawn').some((d) => d > at('changed')[0]) && !s.runs.some((r) => r.state === 'running' || r.state === 'queued') }"""
BESIDE = """() => { const at = (n) => performance.getEntriesByName('acausal:' + n).map((e) => e.startTime), s = acausal.getState()
  return at('drawn').at(-1) - at('changed')[0] - 1000 * s.runs.find((r) => r.id === s.current).seconds }"""
EMPTY = """() => { const b = document.querySelector('.react-flow__pane').getBoundingClientRect()
  for (let y = b.top + 50; y < b.bottom; y += 7) for (let x = b.left + 200; x < b.right - 300; x += 7)
    if (document.elementFromPoint(x, y).classList.contains('react-flow__pane')) return [x, y] }"""
VIEW = "document.querySelector('.react-flow__viewport').style.transform"
COUNTED = """() => { __f.on = false; const d = __f.slice(1).map((x, i) => x - __f[i]).sort((a, b) => a - b)
  return [1000 * d.length / (__f[__f.length - 1] - __f[0]), d[Math.floor(0.95 * d.length)]] }"""


def run() -> Iterator[Record]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player, tempfile.TemporaryDirectory() as folder:
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield from _start(browser, Path(folder))
        yield from _slider(browser, Path(folder))
        yield from _zoom(browser, Path(folder))
        yield from _diagram(browser, Path(folder))
        yield from _memory(Path(folder))
        browser.close()


def record(case: str, n: int, value: float, bar: float, unit: str, more: bool = False) -> Record:
    """`more`: the figure shall be at least the bar."""
    fine = value >= bar if more else value <= bar
    return {"suite": "studio", "case": case, "n": n, "value": value, "unit": unit, "bar": bar, "ok": fine}


@contextmanager
def studio(target: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A studio that runs; its address."""
    command = [sys.executable, "-m", "acausal.cli", "studio", target, "--no-browser", "--token", TOKEN]
    # modules are compiled once, as those of an installed package are, also where the environment forbids it
    here = {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | here
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield next(line.strip() for line in process.stdout if "http://" in line), process
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def tab(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(1000 * PATIENCE)
    found = context.new_page()
    found.goto(address)
    found.locator(".part").first.wait_for()
    yield found
    context.close()


def _start(browser: Any, folder: Path) -> Iterator[Record]:
    """Beside the seconds, how many imports of numpy would have gone into them: a busy machine is slow at both."""
    seconds, imports = [], []
    for _ in range(ROUNDS + 1):  # the first one compiles
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy"], check=True)
        imports.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        with studio(DEMO, folder) as (address, _), tab(browser, address) as page:
            page.get_by_role("button", name="Run", exact=True).wait_for()
            seconds.append(time.perf_counter() - begin)
    yield record("command to page", 1, min(seconds), 2.0, "s")
    yield record("command to page, in imports of numpy", 1, min(seconds[1:]) / min(imports[1:]), 2.0 / IMPORT, "")


def _slider(browser: Any, folder: Path) -> Iterator[Record]:
    with studio(DEMO, folder) as (address, _), tab(browser, address) as page:
        _ran(page)
        page.get_by_label("set_point value", exact=True).focus()
        page.get_by_role("slider", name="set_point slider").focus()
        extra = []
        for _ in range(12):
            page.evaluate("performance.clearMarks()")
            page.keyboard.press("ArrowRight")
            page.wait_for_function(DRAWN)
            extra.append(page.evaluate(BESIDE))
        yield record("slider to curves, beside the run", 1, min(extra), 150.0, "ms")


def _ran(page: Any) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(
        "() => { const s = acausal.getState(); return s.runs.find((r) => r.id === s.current)?.state === 'finished' }"
    )
    page.locator(".canvas canvas").first.wait_for()


def _zoom(browser: Any, folder: Path) -> Iterator[Record]:
    (folder / "waves.py").write_text(WAVES)
    with studio("waves.py", folder) as (address, _), tab(browser, address) as page:
        page.evaluate("acausal.setState((s) => ({ draft: { ...s.draft, points: 1000001 }, view: 'plots' }))")
        _ran(page)
        page.wait_for_timeout(1000)
        box = page.locator(".canvas").first.bounding_box()
        page.mouse.move(box["x"] + 400, box["y"] + 150)
        for what, gesture in (("zoom", _wheel), ("pan", _shift_drag)):
            rates = [_frames(page, gesture, box) for _ in range(ROUNDS)]
            yield record(f"{what}, four curves", 1_000_001, max(r[0] for r in rates), 30.0, "frames/s", more=True)
            yield record(f"{what}, slow frames (95 %)", 1_000_001, min(r[1] for r in rates), 40.0, "ms")


def _frames(page: Any, gesture: Any, box: Any) -> tuple[float, float]:
    """Frames in a second while somebody moves the mouse, and how long all but the slowest 5 % of them took, in ms."""
    page.evaluate(COUNT)
    gesture(page, box)
    rate, slow = page.evaluate(COUNTED)
    return rate, slow


def _wheel(page: Any, box: Any) -> None:
    for k in range(40):
        page.mouse.wheel(0, -100 if k < 20 else 100)
        page.wait_for_timeout(16)


def _shift_drag(page: Any, box: Any) -> None:
    """A thirtieth of the run is in view, and moves to and fro below the mouse."""
    for _ in range(15):
        page.mouse.wheel(0, -100)
        page.wait_for_timeout(20)
    page.keyboard.down("Shift")
    page.mouse.down()
    for k in range(40):
        page.mouse.move(box["x"] + 400 + 10 * (k if k < 20 else 40 - k), box["y"] + 150)
        page.wait_for_timeout(16)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.mouse.dblclick(box["x"] + 400, box["y"] + 150)


def _diagram(browser: Any, folder: Path) -> Iterator[Record]:
    (folder / "chain.py").write_text(CHAIN)
    with studio("chain.py", folder) as (address, _), tab(browser, address) as page:
        page.evaluate("acausal.setState({ view: 'diagram' })")
        _ran_quietly(page)
        page.get_by_role("combobox", name="Colour the parts by").click()
        page.get_by_role("option", name="temperature").click()
        count = page.evaluate("acausal.getState().model.parts.length - 1")
        paints = [
            page.evaluate(
                # with what the browser makes of it: the place of each text
                "(t) => { const b = performance.now(); acausal.setState({ time: t }); "
                "document.querySelector('.part').getBoundingClientRect(); return performance.now() - b }",
                10.0 * k,
            )
            for k in range(1, 20)
        ]
        yield record("values on the diagram", count, sorted(paints)[len(paints) // 2], 10.0, "ms")
        rates = []
        for _ in range(ROUNDS):
            x, y = page.evaluate(EMPTY)
            before = page.evaluate(VIEW)
            page.mouse.move(x, y)
            page.mouse.down()
            page.evaluate(COUNT)
            for k in range(60):
                page.mouse.move(x + 4 * (k if k < 30 else 60 - k), y + k % 7)
            rates.append(page.evaluate(COUNTED))
            page.mouse.up()
            assert page.evaluate(VIEW) != before, "nothing was panned"
        yield record("pan of the diagram", count, max(r[0] for r in rates), 40.0, "frames/s", more=True)


def _ran_quietly(page: Any) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(
        "() => { const s = acausal.getState(); return s.runs.find((r) => r.id === s.current)?.state === 'finished' }"
    )


def _memory(folder: Path, runs: int = 100) -> Iterator[Record]:
    """How much the server has grown after a hundred runs; their numbers are on disk."""
    from websockets.sync.client import connect

    from acausal.studio.protocol import unpacked

    with studio("waves.py", folder) as (address, process):
        url = address.split("/?")[0]
        cookie = f"acausal-studio-{url.rpartition(':')[2]}={TOKEN}"
        with connect(
            f"{url.replace('http', 'ws')}/socket", origin=url, additional_headers={"Cookie": cookie}, max_size=None
        ) as socket:
            client, before = 0, 0.0
            for k in range(-5, runs):
                while True:
                    head, _ = unpacked(socket.recv(timeout=PATIENCE))
                    client = head["data"]["client"] if head.get("notice") == "hello" else client
                    there = head.get("notice") == "model" or (head.get("notice") == "hello" and head["data"]["model"])
                    if there or (head.get("notice") == "run" and head["data"]["state"] == "finished"):
                        break
                before = _megabytes(process.pid) if k == 0 else before
                case = {"name": "", "until": "100", "points": 5000}
                socket.send(json.dumps({"id": f"{client}-{k}", "ask": "run", "case": case, "names": ["a.x"], "instead": ""}))
            yield record("growth of the server, 100 runs kept", runs, _megabytes(process.pid) - before, 20.0, "MB")


def _megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
