"""The page in a browser, found by role and label: what a user sees and does. The console stays clean."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the studio's server is an extra: pip install acausal[studio]")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")

from .conftest import PATIENCE, Server  # noqa: E402
from .plant import PLANT  # noqa: E402
from .test_fitting import COOLING, data  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: `make setup` installs it where it may")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


playwright.expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as player:
        found = player.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def tab(browser: Any, server: Server) -> Iterator[Any]:
    yield from tabs(browser, server)


def tabs(browser: Any, server: Server, first: str = "", **options: Any) -> Iterator[Any]:
    """A fresh tab that has loaded the model; it must end with a clean console and no request elsewhere. `first`: a script that runs
    before those of the page."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True, **options)
    context.add_init_script(first)
    context.set_default_timeout(1000 * PATIENCE)
    tab, said, outside = context.new_page(), [], []
    tab.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda e: said.append(str(e)))
    ours = (server.url, server.url.replace("http", "ws"), "data:", "blob:")
    tab.on("request", lambda r: None if r.url.startswith(ours) else outside.append(r.url))
    tab.goto(server.address)
    tab.get_by_role("button", name="Run", exact=True).wait_for()
    yield tab
    context.close()
    assert not said and not outside


def run(tab: Any) -> None:
    """Press the button, and wait for the curves of that run: the page may show those of an earlier one."""
    before = tab.get_by_role("button", name="Runs").inner_text()
    tab.get_by_role("button", name="Run", exact=True).click()
    playwright.expect(tab.get_by_role("button", name="Runs")).not_to_have_text(before)
    tab.get_by_role("img", name="Curves of room.T").wait_for()


def value_of(tab: Any, label: str) -> str:
    return tab.get_by_label(label, exact=True).input_value()


def test_from_the_address_to_curves(tab: Any, server: Server) -> None:
    assert "token" not in tab.url and tab.title() == "House – acausal studio"
    diagram = tab.get_by_role("application", name="Diagram of House: 4 parts, 3 wires")
    diagram.wait_for()
    assert tab.locator(".react-flow__edge").count() == 3
    run(tab)
    room = tab.get_by_label("room, HeatCapacitor")
    playwright.expect(room).to_contain_text("°C")
    before = room.inner_text()
    tab.get_by_role("slider", name="Time").focus()
    tab.keyboard.press("Home")
    playwright.expect(room).to_contain_text("20.00 °C")
    tab.get_by_text("Table", exact=True).click()
    values = tab.get_by_role("table", name="Values over time")
    playwright.expect(values.get_by_role("columnheader").nth(1)).to_contain_text("room.T")
    playwright.expect(values.locator("[aria-current]")).to_contain_text("020")  # at time 0, 20 °C
    tab.get_by_role("slider", name="Time").focus()
    tab.keyboard.press("End")
    playwright.expect(values.locator("[aria-current]")).not_to_contain_text("020")
    tab.get_by_text("Diagram + plots", exact=True).click()
    tab.get_by_role("slider", name="Time").focus()
    tab.keyboard.press("Home")
    playwright.expect(room).to_contain_text("20.00 °C")
    assert room.inner_text() != before and tab.get_by_label("Time shown").inner_text().startswith("0")


def test_parameters_have_units_bounds_and_sliders_and_run_again(tab: Any) -> None:
    run(tab)
    tab.get_by_label("Search quantities").fill("power heater")
    field = tab.get_by_label("thermostat.power value")
    assert field.input_value() == "800"
    field.fill("9000")
    field.press("Enter")
    playwright.expect(tab.get_by_role("alert").first).to_contain_text("from 0 W to 5000 W")
    tab.get_by_role("button", name="Unit W", exact=True).click()
    tab.get_by_role("menuitem", name="kW").click()
    assert value_of(tab, "thermostat.power value") == "9"
    field.fill("1.5")
    field.press("Enter")
    playwright.expect(tab.get_by_role("button", name="Runs")).not_to_be_empty()
    field.focus()
    tab.get_by_role("slider", name="thermostat.power slider").focus()
    tab.keyboard.press("ArrowRight")
    playwright.expect(tab.get_by_label("thermostat.power value")).not_to_have_value("1.5")
    tab.get_by_role("button", name="Reset thermostat.power").click()
    assert value_of(tab, "thermostat.power value") == "0.8"


def test_signals_are_plotted_explained_and_compared(tab: Any) -> None:
    run(tab)
    tab.get_by_text("Signals", exact=True).click()
    tab.get_by_label("Search quantities").fill("wall.a.T")
    tab.get_by_label("Plot wall.a.T", exact=True).check()
    tab.get_by_role("img", name="Curves of room.T, wall.a.T").wait_for()
    explain = tab.get_by_role("button", name="Explain wall.a.T").first
    explain.evaluate("e => { window.__there = e }")
    explain.hover()
    playwright.expect(tab.get_by_role("tooltip")).to_contain_text("wall.a.T")
    assert explain.evaluate("e => e === window.__there")  # one made anew under the mouse would lose the click
    explain.click()
    details = tab.get_by_role("complementary", name="Details")
    playwright.expect(details).to_contain_text("equal to room.T")
    tab.get_by_role("button", name="Close details").click()
    tab.get_by_label("Search quantities").fill("heating")
    tab.get_by_label("Plot thermostat.heating").drag_to(tab.get_by_role("region", name="Plot of wall.Q_flow"))
    tab.get_by_role("img", name="Curves of wall.Q_flow, thermostat.heating").wait_for()
    tab.get_by_role("button", name="Run", exact=True).click()
    tab.get_by_role("button", name="Runs").click()
    boxes = tab.get_by_role("listitem").get_by_role("checkbox")
    playwright.expect(boxes.nth(1)).to_be_enabled()
    boxes.nth(1).check()
    tab.get_by_role("img", name="Curves of room.T #").wait_for()


def test_cases_are_saved_and_chosen(tab: Any, server: Server) -> None:
    run(tab)
    field = tab.get_by_label("G value", exact=True)
    field.fill("40")
    field.press("Enter")
    tab.get_by_role("button", name="Save or delete the case").click()
    tab.get_by_role("menuitem", name="Save as a new case").click()
    tab.get_by_label("Name").fill("thin wall")
    tab.get_by_role("button", name="Save the case").click()
    case = tab.get_by_role("combobox", name="Case", exact=True)
    playwright.expect(case).to_have_value("thin wall")
    assert '"G" = 40' in server.file.with_suffix(".cases.toml").read_text()
    case.click()
    tab.get_by_role("option", name="As declared").click()
    playwright.expect(field).to_have_value("20")
    tab.get_by_text("Studies", exact=True).click()
    tab.get_by_text("Cases", exact=True).click()
    beside = tab.get_by_role("region", name="Cases side by side")
    playwright.expect(beside.get_by_role("row").filter(has_text="G")).to_contain_text("G2040")
    tab.get_by_role("button", name="Run all and compare").click()
    tab.get_by_role("img", name=re.compile("Curves of room.T #.*room.T #")).wait_for()


FORMS = [
    ("CSV, what is drawn", "csv", b"room.T"),
    ("CSV, everything", "csv", b"thermostat.heating"),
    ("Parquet", "parquet", b"PAR1"),
    ("Dymola .mat", "mat", b"Aclass"),
    ("Plots as SVG", "svg", b"<svg"),
    ("Plots as PNG", "png", b"PNG"),
    ("Report", "html", b"At the end"),
    ("Diagram as SVG", "svg", b"HeatCapacitor"),
]


def test_states_events_studies_and_exports(tab: Any, tmp_path: Path) -> None:
    run(tab)
    tab.get_by_text("States & events").click()
    playwright.expect(tab.get_by_role("region", name="States over time")).to_contain_text("thermostat.heating")
    tab.get_by_text("Studies", exact=True).click()
    tab.get_by_role("combobox", name="Add a parameter to the study").fill("G")
    tab.get_by_role("option", name="G", exact=True).click()
    tab.get_by_role("combobox", name="Add a result to the study").fill("room.T")
    tab.get_by_role("option", name="room.T", exact=True).click()
    tab.get_by_role("button", name="Run 5 cases").click()
    playwright.expect(tab.get_by_role("region", name="Results of the study")).to_contain_text("5 cases.")
    assert tab.get_by_role("region", name="Results of the study").get_by_role("row").count() == 6
    tab.get_by_text("Diagram + plots", exact=True).click()
    tab.get_by_label("room, HeatCapacitor").wait_for()
    for what, ending, within in FORMS:
        tab.get_by_role("button", name="Export the run").click()
        with tab.expect_download() as download:
            tab.get_by_role("menuitem", name=what).click()
        assert download.value.suggested_filename.endswith(ending)
        assert within in Path(download.value.path()).read_bytes()


def test_a_browser_that_does_not_say_when_it_is_idle(browser: Any, server: Server) -> None:
    """Safari has no `requestIdleCallback`: the diagram is drawn, and nothing is told."""
    for tab in tabs(browser, server, first="delete window.requestIdleCallback"):
        run(tab)
        assert tab.evaluate("'requestIdleCallback' in window") is False
        assert tab.get_by_role("alert").count() == 0


def test_what_goes_wrong_is_shown_where_it_is(browser: Any, new_studio: Any) -> None:
    server = new_studio()
    for tab in tabs(browser, server, color_scheme="dark"):
        run(tab)
        tab.get_by_label("Search quantities").fill("trouble")
        field = tab.get_by_label("thermostat.trouble value")
        field.fill("1")
        field.press("Enter")
        playwright.expect(tab.get_by_role("alert").filter(has_text="SIGABRT").first).to_be_visible()
        server.file.write_text(PLANT.replace("yield self.port.Q_flow ==", "yield self.prt.Q_flow =="))
        told = tab.get_by_role("alert").filter(has_text="the last good version stays")  # beside what could not be done meanwhile
        playwright.expect(told).to_contain_text("house.py:")
        server.file.write_text(PLANT)
        tab.get_by_role("status").filter(has_text="house.py").wait_for()


def test_a_plant_is_drawn_from_an_empty_canvas_to_a_first_run(browser: Any, new_studio: Any) -> None:
    server = new_studio("import acausal as ac\n\n\nclass Plant(ac.Component):\n    pass  # nothing yet\n", name="plant.py")
    for tab in tabs(browser, server):
        tab.get_by_role("button", name="Done").wait_for()  # an empty plant is there to be drawn
        for k, name in enumerate(("HeatCapacitor", "ThermalConductor"), 1):
            piece = tab.get_by_role("button", name=f"Add {name}", exact=True)
            piece.drag_to(tab.locator(".react-flow__pane"), target_position={"x": 120 + 180 * k, "y": 90 * k})
            tab.get_by_role("application", name=f"Diagram of Plant: {k} part").wait_for()
        a, b = (
            tab.locator(f'[data-id="{p}"] [data-handleid="{q}"]')
            for p, q in (("heat_capacitor", "port"), ("thermal_conductor", "a"))
        )
        a.drag_to(b)
        tab.get_by_role("application", name="1 wires").wait_for()
        text = server.file.read_text()
        assert "yield self.heat_capacitor.port, self.thermal_conductor.a\n" in text
        assert "import HeatCapacitor, ThermalConductor\n" in text
        tab.get_by_label("heat_capacitor, HeatCapacitor").click()
        field = tab.get_by_label("heat_capacitor.C in the file")
        field.fill("5000")
        field.press("Enter")
        playwright.expect(tab.get_by_label("heat_capacitor.C value")).to_have_value("5000")
        assert "HeatCapacitor(C=5000)" in server.file.read_text()
        tab.get_by_role("button", name="Undo").click()
        playwright.expect(tab.get_by_label("heat_capacitor.C value")).to_have_value("1000")
        assert server.file.read_text() == text
        tab.get_by_role("button", name="Turn what is chosen").click()
        playwright.expect(tab.locator('[data-id="heat_capacitor"] .react-flow__handle-top')).to_have_count(1)
        tab.get_by_label("thermal_conductor, ThermalConductor").click(modifiers=["Control"])
        tab.get_by_role("button", name="Copy what is chosen").click()
        tab.get_by_role("application", name="Diagram of Plant: 4 parts, 2 wires").wait_for()
        assert "yield self.heat_capacitor2.port, self.thermal_conductor2.a\n" in server.file.read_text()
        tab.get_by_role("button", name="Delete what is chosen").click()
        tab.get_by_role("application", name="Diagram of Plant: 2 parts, 1 wires").wait_for()
        assert server.file.read_text() == text
        tab.get_by_label("thermal_conductor, ThermalConductor").click()
        many = tab.get_by_label("How many thermal_conductor")
        many.fill("3")
        many.press("Enter")
        playwright.expect(tab.get_by_label("thermal_conductor, ThermalConductor")).to_contain_text("× 3")
        assert "ac.array(ThermalConductor, 3)" in server.file.read_text()
        tab.get_by_role("button", name="Undo").click()
        playwright.expect(tab.get_by_label("thermal_conductor, ThermalConductor")).not_to_contain_text("× 3")
        tab.get_by_role("button", name="Run", exact=True).click()
        tab.get_by_role("status").filter(has_text="ms").or_(tab.get_by_role("status").filter(has_text=" s")).first.wait_for()


REFRIGERANT = """
import acausal as ac
from acausal.library import fluid

class Line(ac.Component):
    def __init__(self):
        self.source, self.hole = fluid.PressureBoundary(p=8e5, h=2.4e5), fluid.Orifice(medium="R134a")
        self.sink = fluid.PressureBoundary(p=2e5)
        self.v = V()
    def connections(self):
        yield self.source.port, self.hole.a
        yield self.hole.b, self.sink.port

class V(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == -self.x

__model__ = "Line"
"""


def test_the_chart_of_a_medium_shows_the_states_at_the_time_of_the_slider(browser: Any, new_studio: Any) -> None:
    pytest.importorskip("acausal._core", reason="tables of media are in the native core")
    server = new_studio(REFRIGERANT, name="line.py")
    for tab in tabs(browser, server):
        tab.get_by_text("Charts", exact=True).click()
        playwright.expect(tab.get_by_text("Run the model to see its states here.")).to_be_visible()
        tab.get_by_role("button", name="Run", exact=True).click()
        tab.get_by_role("img", name="p–h chart of R134a with 3 parts").wait_for()
        states = tab.get_by_role("table", name="States at the ports")
        outlet = states.get_by_role("row").filter(has_text="hole.b")
        playwright.expect(outlet).to_contain_text("2.000-10.08240.00")
        tab.get_by_text("T–s", exact=True).click()
        tab.get_by_role("img", name="T–s chart of R134a").wait_for()
        tab.get_by_role("slider", name="Time").focus()
        tab.keyboard.press("Home")
        playwright.expect(outlet).to_contain_text("2.000-10.08240.00")


def test_an_input_is_drawn_typed_and_taken_from_a_file_and_parameters_are_fitted(
    browser: Any, new_studio: Any, tmp_path: Path
) -> None:
    server = new_studio(COOLING, name="body.py")
    for tab in tabs(browser, server):
        tab.get_by_text("Inputs", exact=True).click()
        tab.get_by_role("button", name="Draw or choose T_out").click()
        tab.get_by_text("Drawn", exact=True).click()
        tab.get_by_role("button", name="Add a point").click()
        point = tab.get_by_role("slider", name="Point 2")
        point.focus()
        tab.keyboard.press("ArrowUp")
        playwright.expect(point).not_to_have_attribute("aria-valuenow", "20")
        tab.get_by_role("radiogroup", name="Kind of input").get_by_text("Table", exact=True).click()
        tab.get_by_label("Table of the input").fill("0 20\n5 x")
        playwright.expect(tab.get_by_text("Line 2 is no time and value")).to_be_visible()
        tab.get_by_label("Table of the input").fill("0 20\n5 30\n10 20")
        tab.get_by_role("button", name="Use it").click()
        playwright.expect(tab.get_by_label("T_out value")).to_have_value("3 points")
        tab.get_by_role("button", name="Run", exact=True).click()
        tab.get_by_role("img", name="Curves of T").wait_for()
        tab.get_by_text("States & events").click()
        tab.get_by_text("Start values", exact=True).click()
        playwright.expect(tab.get_by_role("table", name="Start values").get_by_role("row").nth(1)).to_contain_text("T100100")
        tab.get_by_role("button", name="Reset T_out").click()
        tab.get_by_text("Studies", exact=True).click()
        tab.get_by_text("Fit to data").click()
        (tmp_path / "cooling.csv").write_text(data())
        tab.get_by_label("Bring a file").set_input_files(tmp_path / "cooling.csv")
        playwright.expect(tab.get_by_role("combobox", name="File with data")).to_have_value("cooling.csv")
        tab.get_by_role("combobox", name="Add a parameter to the fit").fill("k")
        tab.get_by_role("option", name="k", exact=True).click()
        tab.get_by_role("button", name="Fit", exact=True).click()
        tab.get_by_role("img", name="T: measured").wait_for()
        playwright.expect(tab.get_by_role("region", name="What the fit found")).to_contain_text(re.compile(r"k0\.30\.(5|49999)"))
        tab.get_by_role("button", name="Use these values").click()
        tab.get_by_text("Parameters", exact=True).click()
        playwright.expect(tab.get_by_label("k value", exact=True)).to_have_value(re.compile(r"0\.(5|49999)"))


SWINGS = """
import acausal as ac

class Swings(ac.Component):
    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -400.0 * self.x

__model__ = "Swings"
__studio__ = {"until": 100, "plots": [["x"]]}
"""
REACHED = """() => { const c = document.querySelector('.canvas canvas')
  const o = document.querySelector('.canvas .u-over').getBoundingClientRect()
  const b = c.getBoundingClientRect(), k = c.width / b.width, wide = Math.floor(o.width * k), tall = Math.floor(o.height * k)
  const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true })
  copy.drawImage(c, 0, 0)
  const { data } = copy.getImageData((o.left - b.left) * k, (o.top - b.top) * k, wide, tall)
  const blue = (x, y) => { const i = 4 * (y * wide + x); return data[i + 2] > data[i] + 60 }
  let [up, down] = [0, 0]
  for (let x = 0; x < wide; x++) {
    for (let y = 0; y < 0.2 * tall; y++) if (blue(x, y)) { up++; break }
    for (let y = Math.ceil(0.8 * tall); y < tall; y++) if (blue(x, y)) { down++; break }
  }
  return [up / wide, down / wide] }"""


def test_a_curve_that_swings_more_often_than_there_are_pixels_is_drawn_with_all_its_swings(browser: Any, new_studio: Any) -> None:
    """318 periods on some 900 pixels: nearly every column reaches the top and the bottom; zoomed to two periods, few do."""
    server = new_studio(SWINGS, name="swings.py")
    for tab in tabs(browser, server):
        tab.evaluate("acausal.setState((s) => ({ draft: { ...s.draft, points: 20001 }, view: 'plots' }))")
        tab.get_by_role("button", name="Run", exact=True).click()
        tab.get_by_role("img", name="Curves of x").wait_for()
        tab.wait_for_function(f"() => {{ const r = ({REACHED})(); return r[0] > 0.6 && r[1] > 0.6 }}")
        area = tab.locator(".canvas .u-over")
        for _ in range(20):
            area.hover(position={"x": 300, "y": 100})
            tab.mouse.wheel(0, -100)
        tab.wait_for_function("() => { const z = acausal.getState().zoom; return z && z[1] - z[0] < 1.5 }")
        tab.wait_for_function(f"() => {{ const r = ({REACHED})(); return r[0] > 0.05 && r[0] < 0.5 && r[1] > 0.05 && r[1] < 0.5 }}")


def test_escape_closes_what_is_open_and_only_then_cancels_a_run_that_says_it_goes_on(browser: Any, new_studio: Any) -> None:
    server = new_studio(SWINGS.replace('"until": 100', '"until": 1e9'), name="swings.py")
    for tab in tabs(browser, server):
        tab.get_by_role("button", name="Run", exact=True).click()
        going = "() => acausal.getState().runs.some((r) => r.state === 'running')"
        tab.wait_for_function(going)
        tab.get_by_text("States & events").click()
        tab.get_by_text("The run goes on: states and events come when it ends.").wait_for()
        tab.get_by_text("Start values", exact=True).last.click()
        tab.get_by_text("The run goes on: start values come when it ends.").wait_for()
        tab.get_by_role("button", name="Save or delete the case").click()
        tab.get_by_role("menuitem", name="Save as a new case").wait_for()
        tab.keyboard.press("Escape")
        tab.get_by_role("menuitem", name="Save as a new case").wait_for(state="hidden")
        for name, within in (("Keyboard shortcuts", "cancel the run"), ("Runs", "#1")):  # the focus stays on the button
            tab.get_by_role("button", name=name).click()
            tab.get_by_role("dialog").get_by_text(within).wait_for()
            tab.keyboard.press("Escape")
            tab.get_by_role("dialog").wait_for(state="hidden")
        tab.wait_for_timeout(300)  # an order to cancel would have come by now
        assert tab.evaluate(going)
        tab.keyboard.press("Escape")
        tab.wait_for_function(f"() => !({going})()")


def finished(tab: Any, *numbers: int) -> str:
    """Wait until a tab knows exactly the runs with these numbers, and that they are finished; gives their ids. A tab hears of a run
    a moment after another one: whoever compares two tabs must know what both are to show, for they agree before that, too."""
    wanted = ",".join(f"{number} finished" for number in numbers)
    tab.wait_for_function(f"() => acausal.getState().runs.map((r) => `${{r.number}} ${{r.state}}`).join() === '{wanted}'")
    return str(tab.evaluate("() => acausal.getState().runs.map((r) => r.id).join()"))


def enter(tab: Any, value: str, key: str = "Enter") -> None:
    field = tab.get_by_label("G value", exact=True)
    field.fill(value)
    field.press(key)


def test_two_tabs_on_one_model_see_each_other_s_runs_and_cases(browser: Any, new_studio: Any) -> None:
    server = new_studio()
    for one in tabs(browser, server):
        for other in tabs(browser, server):
            run(one)
            assert finished(one, 1) == finished(other, 1)
            enter(one, "40")
            assert finished(one, 2) == finished(other, 2)  # the run of a changed value takes the place of the one before
            one.get_by_role("button", name="Save or delete the case").click()
            one.get_by_role("menuitem", name="Save as a new case").click()
            one.get_by_label("Name").fill("thin wall")
            one.get_by_role("button", name="Save the case").click()
            assert value_of(other, "G value") == "20"  # what is typed in one tab is that tab's
            other.get_by_role("combobox", name="Case", exact=True).click()
            other.get_by_role("option", name="thin wall").click()
            playwright.expect(other.get_by_label("G value", exact=True)).to_have_value("40")
            assert finished(one, 2, 3) == finished(other, 2, 3)
            run(one)
            assert finished(one, 2, 3, 4) == finished(other, 2, 3, 4)
            run(other)
            assert finished(one, 2, 3, 4, 5) == finished(other, 2, 3, 4, 5)


def test_a_value_is_taken_once_with_enter_and_not_at_all_with_escape(browser: Any, new_studio: Any) -> None:
    for tab in tabs(browser, new_studio()):
        run(tab)
        enter(tab, "40")
        finished(tab, 2)
        enter(tab, "60", "Escape")
        assert value_of(tab, "G value") == "40"
        enter(tab, "50")
        finished(tab, 3)


SLOW = """const Real = WebSocket
window.WebSocket = class extends Real { set onmessage(hear) { super.onmessage = (e) => setTimeout(() => hear(e), 400) } }"""


def test_a_change_that_comes_before_the_answer_to_the_one_before_waits_for_its_run(browser: Any, new_studio: Any) -> None:
    """On a slow line the page does not know yet that a run goes on. Each run takes the place of the one before all the same."""
    for tab in tabs(browser, new_studio(), SLOW):
        run(tab)
        finished(tab, 1)
        for value in ("30", "40", "50"):
            enter(tab, value)
        finished(tab, 3)
        assert tab.evaluate("() => acausal.getState().runs[0].case.set.G") == 50


def test_a_change_while_the_run_of_another_tab_is_looked_at_is_run_after_it(browser: Any, new_studio: Any) -> None:
    server = new_studio()
    for one in tabs(browser, server):
        for other in tabs(browser, server):
            one.get_by_label("End of the run").fill("2000 day")
            one.get_by_role("button", name="Run", exact=True).click()
            other.wait_for_function("() => { const s = acausal.getState(); return s.runs.some((r) => r.id === s.current) }")
            enter(other, "30")
            finished(other, 1, 2)


BREAKS = """const Real = WebSocket
window.lines = []
const told = (data) => JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, new DataView(data).getUint32(0, true))))
window.WebSocket = class extends Real {
  constructor(...given) { super(...given); lines.push(this) }
  set onmessage(hear) { super.onmessage = (e) => {
    const { notice, data } = told(e.data)
    if (notice === 'run' && data.number === 2 && data.state !== 'queued' && lines.length === 1) this.close()
    else hear(e) } } }"""


def test_a_page_whose_line_broke_during_its_run_learns_that_it_is_over_and_has_one_line(browser: Any, new_studio: Any) -> None:
    for tab in tabs(browser, new_studio(), BREAKS):
        run(tab)
        finished(tab, 1)
        tab.get_by_role("button", name="Run", exact=True).click()
        finished(tab, 1, 2)
        tab.wait_for_function("() => { const s = acausal.getState(); return s.runs.find((r) => r.id === s.current).number === 2 }")
        tab.evaluate("() => { lines.at(-1).close(); for (const _ of [1, 2, 3]) dispatchEvent(new Event('online')) }")
        tab.wait_for_function("() => acausal.getState().connected && lines.every((l) => l.readyState % 2 === 1)")
        assert tab.evaluate("() => lines.filter((l) => l.readyState === 1).length") == 1
        enter(tab, "30")
        finished(tab, 1, 3)


ROW = """
import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor

class Row(ac.Component):
    def __init__(self, n: int = 110):
        self.masses = [HeatCapacitor(C=1000.0) for k in range(n)]
        self.links = [ThermalConductor(G=1.0) for k in range(n - 1)]
    def connections(self):
        for k, link in enumerate(self.links):
            yield self.masses[k].port, link.a
            yield link.b, self.masses[k + 1].port

__model__ = "Row"
"""
ENDS = """() => { const paths = [...document.querySelectorAll('.react-flow__edge-path')]
  const boxes = [...document.querySelectorAll('.react-flow__node')].map((n) => n.getBoundingClientRect())
  const isAt = (p) => boxes.some((b) => p.x > b.left - 3 && p.x < b.right + 3 && p.y > b.top - 3 && p.y < b.bottom + 3)
  const on = (path, at) => { const p = path.getPointAtLength(at), m = path.getScreenCTM()
    return { x: m.a * p.x + m.e, y: m.d * p.y + m.f } }
  return [paths.length, paths.filter((p) => isAt(on(p, 0)) && isAt(on(p, p.getTotalLength()))).length] }"""


def test_wires_end_at_their_parts_also_where_all_of_a_large_plant_is_in_sight(browser: Any, new_studio: Any) -> None:
    """From far away ports are not shown; they have their places all the same. Panning moves the picture."""
    server = new_studio(ROW, name="row.py")
    for tab in tabs(browser, server):
        tab.get_by_text("Diagram", exact=True).click()
        tab.wait_for_function("() => document.querySelector('.diagram.far')")
        tab.wait_for_function(f"() => {{ const [all, fine] = ({ENDS})(); return all === 218 && fine === 218 }}")
        view = tab.locator(".react-flow__viewport")
        before, pane = view.get_attribute("style"), tab.locator(".react-flow__pane").bounding_box()
        tab.mouse.move(pane["x"] + 5, pane["y"] + pane["height"] / 2)
        tab.mouse.down()
        tab.mouse.move(pane["x"] + 60, pane["y"] + pane["height"] / 2, steps=4)
        tab.mouse.up()
        playwright.expect(view).not_to_have_attribute("style", before)
        assert tab.evaluate(ENDS) == [218, 218]
