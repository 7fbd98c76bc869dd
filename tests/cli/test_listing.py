"""`acausal show`."""

from __future__ import annotations

from pathlib import Path

import acausal as ac
from acausal.cli.exits import Exit

from .conftest import Call


def test_parts_parameters_and_connections(call: Call) -> None:
    answer = call("show", "parts.py:Row(n=3)")
    assert answer.code == Exit.FINE, answer
    told = answer.out.splitlines()
    assert told[0].startswith("Row  (n masses in a row.")
    assert any(" — " in line for line in told)


def test_for_programs(call: Call) -> None:
    told = call("show", "parts.py:Row(n=3)", "--json").json
    assert told["format"] == "acausal catalogue" and told["title"] == "Row"


def test_a_model_file_is_shown_and_counted(call: Call, tmp_path: Path) -> None:
    class Decay(ac.Component):
        """It decays."""

        x, k = ac.Variable(start=1.0), ac.Parameter(2.5, unit="1/s", doc="how fast")

        def equations(self):
            yield ac.der(self.x) == -self.k * self.x

    ac.compile(Decay(), units=False).save(tmp_path / "decay.acm")
    answer = call("show", str(tmp_path / "decay.acm"))
    assert answer.out.splitlines() == ["Decay  (It decays.)", "  k = 2.5 1/s  how fast"]
    assert call("info", str(tmp_path / "decay.acm"), "--json").json["unknowns"] == 1
    (tmp_path / "decay.acm").write_text("nothing")
    assert call("show", str(tmp_path / "decay.acm")).code != Exit.FINE


def test_the_flattened_equations(call: Call, tmp_path: Path) -> None:
    class Part(ac.Component):
        x, k = ac.Variable(start=1.0), ac.Parameter(2.5)

        def equations(self):
            yield ac.der(self.x) == -self.k * self.x + ac.sin(ac.time)

    class Two(ac.Component):
        def __init__(self):
            self.one, self.other = Part(), Part(k=3.0)

    ac.compile(Two()).save(tmp_path / "two.acm")
    told = call("show", "--flat", str(tmp_path / "two.acm")).out.splitlines()
    assert len(told) == 2
    assert told[0].startswith("0 == ") and told[0].endswith("# one (Part)")
    assert all(word in told[1] for word in ("der(other.x)", "other.x*other.k", "sin(time)"))


def test_the_flattened_listing_has_the_events_too(call: Call, tmp_path: Path) -> None:
    class Room(ac.Component):
        T, heating = ac.Variable(start=20.0), ac.States("on", "off", initial="on")
        count = ac.Discrete(start=0.0)

        def equations(self):
            yield ac.der(self.T) == ac.match(self.heating, on=1.0, off=-1.0)

        def transitions(self):
            yield self.heating.on.to("off", when=self.T > 22.0)
            yield self.heating.off.to("on", when=self.T < 18.0)

        def events(self):
            yield ac.when(self.T > 21.0, ac.assign(self.count, ac.pre(self.count) + 1))

    class House(ac.Component):
        def __init__(self):
            self.rooms = ac.array(Room, 2)

    ac.compile(House()).save(tmp_path / "house.acm")
    told = call("show", "--flat", str(tmp_path / "house.acm")).out.splitlines()
    assert 'at an event: heating.off.to("on", when=T < 18.0)    # rooms[1] (Room)' in told
    assert len([line for line in told if ".to(" in line]) == 4
    assert len([line for line in told if "ac.when(T > 21.0" in line]) == 2
    assert "an event where it changes: T > 22    # rooms[0] (Room)" in told
