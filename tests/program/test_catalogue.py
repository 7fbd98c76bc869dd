"""The catalogue: everything that is declared and connected, as data; nothing is dropped."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from plants import Ladder

import acausal as ac
from acausal.library import demo
from acausal.library.electrical import Capacitor, Ground, Pin, Resistor


class Source(ac.Component):
    on = ac.OutputStates("on", "off", initial="on", doc="whether it runs")
    level = ac.Output(unit="V")

    def equations(self):
        yield self.level == 1.0


class Sink(ac.Component):
    run = ac.InputStates("on", "off")
    u = ac.Input(0.0, unit="V", group="signals", doc="what it is told")
    gain = ac.Parameter(2.0, unit="", min=0, max=10, doc="how much it makes of it")
    twice = ac.Parameter(2 * gain)
    y = ac.Variable(unit="V", start=0.5, fixed=True)

    def equations(self):
        self.error = ac.named(self.u - self.y, unit="V", doc="still to go")
        yield ac.der(self.y) == self.gain * self.error / 1.0


class Plant(ac.Component):
    """Two sinks at one source."""

    def __init__(self):
        self.source, self.sinks = Source(), [Sink(gain=3.0), Sink(y=ac.start(0.25))]
        self.row, self.store, self.ground = ac.array(Resistor, 3, R=[1.0, 2.0, 3.0]), Capacitor(), Ground()
        self.medium = "water"

    def connections(self):
        for sink in self.sinks:
            yield self.source.on, sink.run
            yield self.source.level, sink.u
        yield self.store.p, self.row[0].p
        yield self.row[:-1].n, self.row[1:].p
        yield self.row[-1].n, self.store.n, self.ground.p


@pytest.fixture(scope="module")
def found():
    return ac.compile(Plant(), units=False).catalogue()


def kind(found, name):
    return next(k for k in found["kinds"] if k["class"] == name)


def test_it_is_json_and_says_it_twice_alike(found):
    assert json.loads(json.dumps(found)) == found == ac.compile(Plant(), units=False).catalogue()


def test_the_tree_has_every_part_and_arrays_are_one_node(found):
    parts = found["tree"]["parts"]
    assert [(p["name"], p.get("position"), p.get("shape")) for p in parts] == [
        ("source", None, None), ("sinks", 0, None), ("sinks", 1, None), ("row", None, [3]), ("store", None, None),
        ("ground", None, None),
    ]  # fmt: skip
    assert parts[3]["values"]["R"] == [1.0, 2.0, 3.0] and parts[1]["values"]["gain"] == 3.0
    assert parts[1]["values"]["twice"] == 6.0 and parts[0]["values"]["on"] == "on"
    assert parts[2]["modifications"] == {"y": {"start": 0.25}}
    assert found["kinds"][found["tree"]["kind"]]["structural"] == {"medium": "water"}


def test_quantities_say_everything_that_was_declared(found):
    sink = {q["name"]: q for q in kind(found, "Sink")["quantities"]}
    assert sink["gain"] | {"location": None} == {
        "name": "gain", "role": "parameter", "unit": "", "documentation": "how much it makes of it", "shape": [], "group": "",
        "declared in": "Sink", "location": None, "value": 2.0, "min": 0, "max": 10, "fixed": False,
    }  # fmt: skip
    assert sink["gain"]["location"]["file"] == __file__
    assert sink["twice"]["value"] == {"expression": "2*gain"} and sink["u"]["group"] == "signals"
    assert sink["y"]["state"] and sink["y"]["start"] == 0.5 and sink["y"]["fixed"] is True
    assert kind(found, "Sink")["expressions"] == [{"name": "error", "unit": "V", "documentation": "still to go", "shape": []}]
    assert kind(found, "Plant")["documentation"] == "Two sinks at one source."
    (on,) = [q for q in kind(found, "Source")["quantities"] if q["name"] == "on"]
    assert on["states"] == ["on", "off"] and on["of"] == "OutputStates"


def test_no_connection_is_dropped(found):
    joined = kind(found, "Plant")["connections"]
    assert sorted(c["joins"] for c in joined) == ["connectors"] * 3 + ["signals"] * 2 + ["states"] * 2
    slices = next(c for c in joined if c["ends"][0]["elements"] == [0, 1])
    assert [(e["part"], e["name"], e["elements"]) for e in slices["ends"]] == [("row", "n", [0, 1]), ("row", "p", [1, 2])]
    three = next(c for c in joined if len(c["ends"]) == 3)
    assert [e["part"] for e in three["ends"]] == ["row", "store", "ground"]


def test_ports_of_a_composite_are_ends_of_its_connections():
    class Pair(ac.Component):
        p, n = Pin(), Pin()

        def __init__(self):
            self.a, self.b = Resistor(), Resistor()

        def connections(self):
            yield self.p, self.a.p
            yield self.a.n, self.b.p
            yield self.b.n, self.n

    class Closed(ac.Component):
        def __init__(self):
            self.pair, self.store, self.ground = Pair(), Capacitor(), Ground()

        def connections(self):
            yield self.pair.p, self.store.p
            yield self.pair.n, self.store.n, self.ground.p

    found = ac.compile(Closed()).catalogue()
    ends = [[(e["part"], e["name"]) for e in c["ends"]] for c in kind(found, "Pair")["connections"]]
    assert ends == [[("", "p"), ("a", "p")], [("a", "n"), ("b", "p")], [("b", "n"), ("", "n")]]


def test_it_does_not_grow_with_instances():
    short, long = (len(json.dumps(ac.compile(Ladder(n)).catalogue())) for n in (10, 1000))
    assert long < 3 * short


def test_values_follow_what_was_set():
    model = ac.compile(Plant(), units=False).set({"row[1].R": 7.0})
    assert model.catalogue()["tree"]["parts"][3]["values"]["R"] == [1.0, 7.0, 3.0]


def test_a_whole_house():
    found = ac.compile(demo.HeatedHouse()).catalogue()
    names = {q["name"] for k in found["kinds"] for q in k["quantities"]}
    assert len(names) > 20 and json.dumps(found)
    every = [q for k in found["kinds"] for q in k["quantities"]]
    assert all(isinstance(q["unit"], str) for q in every) and np.all([q["role"] in ROLES for q in every])


@pytest.mark.parametrize("page", ["catalogue.md", "model-files.md"])
def test_the_pages_say_what_is_true(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    file = tmp_path / "page.py"
    file.write_text("\n".join(blocks))
    assert blocks
    runpy.run_path(str(file))


ROLES = ("parameter", "constant", "variable", "input", "output", "discrete")
