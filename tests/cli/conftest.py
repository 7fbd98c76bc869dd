"""A folder with model files, and commands called in it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

ROOM = '''
import acausal as ac


class Room(ac.Component):
    """A heat capacity, a heater and the cold outside."""

    C = ac.Parameter(1e5, unit="J/K", min=0)
    G = ac.Parameter(50.0, unit="W/K", min=0)
    T_set = ac.Parameter(294.15, unit="K")
    T_out = ac.Input(273.15, unit="K")
    T = ac.Variable(start=283.15, fixed=True, unit="K")
    Q = ac.Variable(unit="W")

    def equations(self):
        yield self.Q == 200 * (self.T_set - self.T)
        yield self.C * ac.der(self.T) == self.Q - self.G * (self.T - self.T_out)
'''

PARTS = '''
import acausal as ac


class Port(ac.Connector):
    T = ac.Potential(unit="K")
    Q = ac.Flow(unit="W")


class Mass(ac.Component):
    port = Port()
    C = ac.Parameter(100.0, unit="J/K")
    T = ac.Variable(start=300.0, fixed=True, unit="K")

    def equations(self):
        yield self.port.T == self.T
        yield self.C * ac.der(self.T) == self.port.Q


class Link(ac.Component):
    a, b = Port(), Port()

    def equations(self):
        yield self.a.Q + self.b.Q == 0
        yield self.a.Q == 10 * (self.a.T - self.b.T)


class Row(ac.Component):
    """n masses in a row."""

    def __init__(self, n):
        self.mass, self.link = ac.array(Mass, n), ac.array(Link, n - 1)

    def connections(self):
        yield self.mass[:-1].port, self.link.a
        yield self.link.b, self.mass[1:].port
'''

TWO = '''
import acausal as ac


class Decay(ac.Component):
    """Exponential decay."""

    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x


class Explosion(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.x**2


def faster(rate):
    return ac.plain(lambda dy, y, p: [dy.x + p.rate * y.x], y={"x": 1.0}, p={"rate": rate})


number = 5
'''

SINGULAR = """
import acausal as ac


class Short(ac.Component):
    x = ac.Variable()
    y = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -self.y
"""

OSCILLATOR = '''
import acausal as ac


class Oscillator(ac.Component):
    """Cheap steps, and very many of them: a run that can be interrupted."""

    x = ac.Variable(start=1.0, fixed=True)
    v = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -1e4 * self.x
'''

ROD = """
import acausal as ac


class Rod(ac.Component):
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
    u, v, F = ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.v) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == 1
"""

FILES = {
    "room.py": ROOM,
    "parts.py": PARTS,
    "two.py": TWO,
    "short.py": SINGULAR,
    "oscillator.py": OSCILLATOR,
    "pendulum.py": ROD,
}


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def told(self) -> str:
        """What was said about errors, in one line however it was wrapped."""
        return " ".join(self.err.split())


Call = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, with the model files in it; what loading them leaves behind is removed."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    modules, path = set(sys.modules), list(sys.path)
    yield tmp_path
    sys.path[:] = path
    here = str(tmp_path)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(here):
            del sys.modules[name]


@pytest.fixture
def call(folder: Path) -> Call:
    """`call("run", "room.py", "--until", "10")`, in this process."""
    from acausal.cli.app import app

    def called(*arguments: str) -> Answer:
        result = CliRunner().invoke(app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return called


@pytest.fixture
def environment() -> dict[str, str]:
    """For processes of their own: no colours, no window, whatever the terminal of the tests is."""
    dropped = ("FORCE_COLOR", "DISPLAY", "WAYLAND_DISPLAY", "COLUMNS")
    return {k: v for k, v in os.environ.items() if k not in dropped}
