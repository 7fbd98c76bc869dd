"""What notebooks show, and the tutorials run from beginning to end."""

from __future__ import annotations

import json
import sys
import types
from html.parser import HTMLParser
from pathlib import Path

import pytest

import acausal as ac
from acausal.runtime import progress

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


class Ball(ac.Component):
    h = ac.Variable(start=1.0, unit="m", doc="height <over> ground")
    v = ac.Variable(start=0.0, unit="m/s")
    g = ac.Parameter(9.81, unit="m/s^2")

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -self.g

    def events(self):
        yield ac.when(self.h < 0.0, ac.reinit(self.v, -0.8 * ac.pre(self.v)))


class Balanced(HTMLParser):
    """Refuses what is opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def run():
    model = ac.compile(Ball())
    return model, model.simulate(until=1.5)


def test_everything_a_user_looks_at_has_html(run):
    model, result = run
    shown = [model, result, result.events, result.diagnose(), model.diagnose(), model.explain("v"), model.catalogue()]
    for thing in [*shown, result[["h"]], result.resample(0.1), ac.compare(result, result)]:
        parser = Balanced()
        text = thing._repr_html_()
        parser.feed(text)
        assert not parser.open and len(text) > 30, thing
    assert "&lt;over&gt;" in model.catalogue()._repr_html_()
    assert "9.81" in model._repr_html_() and "m/s^2" in model._repr_html_()
    assert "height" not in result._repr_html_() or "<over>" not in result._repr_html_()
    assert json.loads(json.dumps(model.catalogue())) == model.catalogue()


def test_progress_in_a_notebook(monkeypatch):
    drawn: list[str] = []

    class Handle:
        def update(self, html):
            drawn.append(html)

    def display(html, display_id):
        drawn.append(html)
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    shown = types.ModuleType("IPython.display")
    shown.HTML, shown.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(progress._InNotebook, "_EVERY", -1.0)
    with progress.reported(True, 0.0, 10.0, "a <plant>") as report:
        assert report is not None and report(2.5) is True
        report(5.0)
    assert "a &lt;plant&gt;" in drawn[0] and "25 %" in drawn[0] and "50 %" in drawn[1] and drawn[-1] == ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_code_of_each_notebook_runs(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    held: dict[str, object] = {"__name__": "__main__"}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(c for c in cells if c["cell_type"] == "code"):
        import linecache

        source, file = "".join(cell["source"]), f"<{path.stem} {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # equations are shown by their line
        exec(compile(source, file, "exec"), held)
    assert len(cells) > 6


def test_there_are_five_tutorials():
    assert len(NOTEBOOKS) >= 5


@pytest.mark.slow
def test_a_notebook_runs_in_jupyter(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(NOTEBOOKS[0], as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = {kind for cell in book.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds


def test_widgets_and_plots_come_from_a_kernel(tmp_path):
    """Cells are executed by a kernel of their own, as Jupyter and VS Code do; what a widget carries is in its state."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("anywidget", reason="an extra: pip install acausal[notebook]")
    cells = [
        "import acausal as ac\nfrom acausal.library.demo import HeatedHouse\nmodel = ac.compile(HeatedHouse())",
        "result = model.simulate(until=600.0, progress=True)\nresult",
        "result.widget()",
        "model.diagram(height=300)",
        'result.plot("outdoor.T")',
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [{kind for output in cell.get("outputs", ()) for kind in output.get("data", {})} for cell in book.cells]
    assert "text/html" in shown[1] and "image/png" in shown[4]
    view = "application/vnd.jupyter.widget-view+json"
    assert view in shown[2] and view in shown[3]
    states = [state for state in client.widget_state.values() if "head" in state]
    assert len(states) == 2 and all("wires" in state["head"] for state in states)
    assert sorted(state["height"] for state in states) == [300, 460]


def test_pictures_of_analyses_are_shown_without_a_magic_and_what_was_found_is_readable():
    """A figure that pyplot does not know is a text, `<Figure …>`, unless it shows itself; a dump of arrays tells nobody much."""
    import numpy as np

    class Room(ac.Component):
        G, P = ac.Parameter(50.0, unit="W/K", min=0), ac.Parameter(1000.0, unit="W")
        T = ac.Variable(start=283.15, fixed=True, unit="K")

        def equations(self):
            yield 1e5 * ac.der(self.T) == self.P - self.G * (self.T - 273.15)

    model, t = ac.compile(Room(), units=False), np.linspace(0.0, 7200.0, 9)
    fit = model.fit({"time": t, "T": model.simulate(7200.0, at=t)["T"]}, {"G": (10.0, 200.0)})
    linear, branch = model.linearise(inputs=["P"], outputs=["T"]), model.continuation("P", between=("0.5 kW", 2000.0))
    for figure in (fit.plot(), linear.bode(), linear.nyquist(), branch.plot("T"), branch.root_locus()):
        assert figure._repr_png_()[:4] == b"\x89PNG"
    assert branch.values[0] == pytest.approx(500.0)
    assert repr(fit).splitlines()[1].split() == ["G", "50", fit_width(fit), "W/K"]
    assert repr(linear.modes()[0]) == "<Mode -0.0005+0j: time constant 2000 s; T 100 %>"
    best = model.optimise("P", {"P": (0.0, 5000.0)}, subject_to={"T": (293.15, None)}, steady=True)
    assert repr(best).splitlines()[0] == "P = 1000"
    assert repr(ac.worst_case(model, "T", {"G": (45.0, 55.0)}, steady=True)).startswith("T: 291.332 … 295.372")


def fit_width(fit) -> str:
    low, high = fit.confidence()["G"]
    return f"{(high - low) / 2:.3g}"
