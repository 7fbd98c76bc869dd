"""What page, server and workers say to each other. The page's `protocol.ts` is generated from this module (`typescript.py`).

The page asks with `{"id": 7, "ask": "columns", …}`; the answer bears the same number. Whatever happens without being asked for is a
*notice*. Texts are JSON; columns of numbers are binary: the length of a JSON head, the head (padded so that what follows is aligned
to eight bytes), and numbers as the machine has them. So a million numbers pass through the server without being looked at.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, field
from typing import Any, Literal

from ..errors import Diagnostic, Location
from ..records import dataclass
from ..results.circuits import Circuit, Leg

Value = float | str | bool | list[Any] | None
Role = Literal["parameter", "constant", "input", "variable", "output", "discrete", "expression"]

_HEAD = struct.Struct("<I")


# --- the model ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Unit:
    """A unit in which something can be shown: shown = factor · value + offset."""

    symbol: str
    factor: float
    offset: float


@dataclass(slots=True)
class Quantity:
    """Whatever has a name in a component. Of an array, `path` has a star for every index, and `shape` says how many there are."""

    path: str
    name: str
    role: Role
    unit: str = ""
    doc: str = ""
    shape: list[int] = field(default_factory=list)
    group: str = ""
    value: Value = None
    start: Value = None
    minimum: float | None = None
    maximum: float | None = None
    bound: str = ""  # an expression that gives the value, unless somebody sets it
    connected: bool = False  # an input that something else determines
    fixed: bool = False
    state: bool = False  # differentiated: it has a start value of its own
    flow: bool = False
    difference: bool = False  # of temperatures: no scale with another zero fits it
    states: list[str] = field(default_factory=list)
    place: str = ""  # file:line


@dataclass(slots=True)
class Part:
    """A component of the tree; an array of components is one."""

    path: str
    name: str
    kind: str
    doc: str
    parent: int
    shape: list[int]
    composite: bool
    quantities: list[Quantity]


@dataclass(slots=True)
class Choice:
    """An argument of the model's class: another value means that the model is translated again."""

    name: str
    value: Value
    doc: str = ""


@dataclass(slots=True)
class Problem:
    """Something that is wrong, and what to do about it."""

    what: str
    component: str = ""
    equation: str = ""
    file: str = ""
    line: int = 0
    source: str = ""
    details: list[str] = field(default_factory=list)
    remedy: str = ""


@dataclass(slots=True)
class ChartLine:
    """An isoline: its points are `start` … `end` of the numbers that come with a chart."""

    family: str
    label: str
    colour: str
    start: int
    end: int


@dataclass(slots=True)
class Chart:
    """A p-h or T-s chart of a medium with the states of a run on it."""

    medium: str
    kind: str
    x: str
    y: str
    logarithmic: bool  # the vertical axis
    window: list[float]  # left, right, bottom, top
    lines: list[ChartLine]
    ports: list[str]
    legs: list[Leg]
    between: int  # points of a leg
    columns: list[str]  # of the table of states


@dataclass(slots=True)
class Model:
    """A model that was loaded and translated."""

    title: str
    doc: str
    source: str
    version: int
    unknowns: int
    state_count: int
    until: float  # the end of a run unless somebody says another; 0: a guess is being made, and comes as a notice
    parts: list[Part]
    choices: list[Choice]
    units: dict[str, list[Unit]]
    plots: list[list[str]]
    seconds: float
    warnings: list[str]
    runs: bool = True  # False: it can be drawn, but not be run yet
    free: list[str] | None = None  # parameters that may be changed in an application; None: all of them
    circuits: list[Circuit] = field(default_factory=list)
    written: list[str] = field(default_factory=list)  # classes that are written in the model's file and can be edited
    time: list[str] = field(default_factory=lambda: ["time", "s"])  # name and unit of what is integrated over
    diagram: Diagram | None = None  # of the whole plant, so that it is drawn without asking


@dataclass(slots=True)
class Piece:
    """A component class of the palette."""

    name: str
    module: str
    group: str
    doc: str
    icon: str
    ports: list[str]  # classes of its connectors


# --- the diagram -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Port:
    name: str
    kind: str  # the connector's class, "signal" or "states"
    side: Literal["in", "out", ""] = ""
    doc: str = ""
    free: bool = False  # a signal to which nothing is connected: drawn only where somebody edits
    flow: str = ""  # the quantity that flows through it, if there is one


@dataclass(slots=True)
class Shown:
    """A value that is written on a part of the diagram."""

    path: str
    label: str
    unit: str
    difference: bool = False


@dataclass(slots=True)
class DiagramPart:
    id: str
    path: str
    name: str
    kind: str
    doc: str
    shape: list[int]
    composite: bool
    border: bool  # it stands for a port of the component whose inside this is
    icon: str
    ports: list[Port]
    shown: list[Shown]


@dataclass(slots=True)
class Wire:
    id: str
    source: str
    source_port: str
    target: str
    target_port: str
    kind: str
    place: str
    flow: str = ""  # what flows through it, if that can be told


@dataclass(slots=True)
class Diagram:
    """The inside of one component. `connections` is how many ends its class connects beyond the first of each statement: so many
    wires there are."""

    path: str
    title: str
    parts: list[DiagramPart]
    wires: list[Wire]
    connections: int


# --- cases and runs ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Case:
    """Named changes, a layer over the model. Times are texts with a unit or plain seconds."""

    name: str
    until: str = ""
    start: str = "0"
    points: int = 0
    rtol: float = 1e-6
    initial: Literal["start", "steady"] = "start"
    set: dict[str, Value] = field(default_factory=dict)
    inputs: dict[str, Value] = field(default_factory=dict)
    choices: dict[str, Value] = field(default_factory=dict)
    note: str = ""


@dataclass(slots=True)
class Run:
    """A run as the list of runs knows it."""

    id: str
    number: int
    case: Case
    state: Literal["queued", "running", "finished", "failed", "cancelled"]
    begun: float  # seconds since 1970
    fraction: float = 0.0
    time: float = 0.0
    seconds: float = 0.0
    until: float = 0.0
    message: str = ""
    problems: list[Problem] = field(default_factory=list)
    points: int = 0
    events: int = 0
    steps: int = 0
    version: int = 0
    kept: bool = True


@dataclass(slots=True)
class Column:
    name: str
    unit: str
    doc: str
    states: list[str]  # what its numbers stand for, if they stand for something


@dataclass(slots=True)
class EventRow:
    time: float
    component: str
    cause: str
    place: str
    changes: list[str]


@dataclass(slots=True)
class Band:
    """A state that lasted."""

    state: str
    start: float
    end: float
    cause: str


@dataclass(slots=True)
class StateLine:
    path: str
    states: list[str]
    bands: list[Band]


@dataclass(slots=True)
class EventList:
    run: str
    count: int
    rows: list[EventRow]
    states: list[StateLine]


@dataclass(slots=True)
class InitialRow:
    """A quantity with a start value: what was aimed at, and with what the run began."""

    path: str
    unit: str
    target: float
    fixed: bool  # it had to be met; otherwise it was a first guess
    found: float
    difference: bool


@dataclass(slots=True)
class Fact:
    label: str
    text: str
    paths: list[str]


@dataclass(slots=True)
class Explanation:
    path: str
    title: str
    facts: list[Fact]


@dataclass(slots=True)
class StudyRow:
    number: int
    values: list[float]
    results: list[float | None]
    state: str
    message: str


@dataclass(slots=True)
class Study:
    """A sweep or a random study: every combination of values is a run; its measures are one row."""

    id: str
    case: str
    inputs: list[str]
    outputs: list[str]
    units: list[str]
    rows: list[StudyRow]
    total: int
    state: Literal["running", "finished", "failed", "cancelled"]
    message: str
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class DataFile:
    """A CSV file with measured data."""

    path: str
    name: str
    columns: list[str]


@dataclass(slots=True)
class FitRow:
    """A parameter that was fitted."""

    path: str
    before: float | None
    value: float
    deviation: float | None  # its standard error
    low: float | None
    high: float | None


@dataclass(slots=True)
class FitCurve:
    name: str
    unit: str
    time: list[float]
    measured: list[float | None]
    computed: list[float | None]


@dataclass(slots=True)
class Fit:
    """Parameters that were fitted to data."""

    id: str
    case: str
    file: str
    state: Literal["running", "finished", "failed", "cancelled"]
    message: str = ""
    told: list[str] = field(default_factory=list)
    rows: list[FitRow] = field(default_factory=list)
    curves: list[FitCurve] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


# --- notices -----------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Status:
    """What the server is doing, in words."""

    phase: Literal["loading", "ready", "failed"]
    text: str
    source: str
    problems: list[Problem]
    printed: str
    read_only: bool = False


@dataclass(slots=True)
class Hello:
    """The first thing a page hears. Its questions are numbered `client-1`, `client-2`, …"""

    client: int
    status: Status
    model: Model | None
    cases: list[Case]
    runs: list[Run]
    studies: list[Study]
    layout: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # of each level: where parts were put
    undo: int = 0
    redo: int = 0


# --- questions ---------------------------------------------------------------------------------------------------------------

ASKS: dict[str, tuple[dict[str, Any], Any]] = {
    # name: ({argument: type}, what the answer is)
    "run": ({"case": Case, "names": list[str], "instead": str}, Run),
    "continue": ({"run": str, "until": str, "names": list[str]}, Run),
    "cancel": ({"run": str}, None),
    "forget": ({"run": str}, None),
    "columns": ({"run": str, "names": list[str]}, list[Column]),
    "frames": ({"run": str, "names": list[str], "count": int}, list[Column]),
    "diagram": ({"path": str}, Diagram),
    "chart": ({"run": str, "medium": str, "kind": str}, Chart),
    "explain": ({"path": str}, Explanation),
    "events": ({"run": str}, EventList),
    "report": ({"run": str}, str),
    "initial": ({"run": str}, list[InitialRow]),
    "save_case": ({"case": Case, "before": str}, list[Case]),
    "delete_case": ({"name": str}, list[Case]),
    "export": ({"run": str, "names": list[str], "form": str}, str),
    "study": ({"case": Case, "over": dict[str, Any], "outputs": list[str], "draws": int}, Study),
    "files": ({}, list[DataFile]),
    "upload": ({"name": str, "text": str}, DataFile),
    "fit": ({"case": Case, "file": str, "free": dict[str, list[float | None]]}, Fit),
    "cancel_study": ({"study": str}, None),
    "palette": ({}, list[Piece]),
    "edit": ({"kind": str, "edits": list[Any]}, str),
    "undo": ({}, None),
    "redo": ({}, None),
    "shown": ({}, None),
    "recall": ({"key": str}, str),
    "remember": ({"key": str, "text": str}, None),
    "place": ({"level": str, "at": dict[str, list[float]]}, None),
    "choose": ({"choices": dict[str, Any]}, None),
    "open": ({"target": str}, None),
    "reload": ({}, None),
}
"""Questions a page may ask: their arguments, and what comes back."""

NOTICES: dict[str, Any] = {
    "hello": Hello,
    "status": Status,
    "model": Model | None,
    "cases": list[Case],
    "runs": list[Run],
    "run": Run,
    "live": list[Column],
    "study": Study,
    "fit": Fit,
    "printed": str,
    "layout": dict[str, dict[str, list[float]]],
    "history": dict[str, int],
    "until": float,
}
"""What a page hears without having asked."""

EXPORTED: tuple[type, ...] = (
    *(
        Unit,
        Quantity,
        Part,
        Choice,
        Problem,
        Leg,
        Circuit,
        ChartLine,
        Chart,
        Model,
        Piece,
        Port,
        Shown,
        DiagramPart,
        Wire,
        Diagram,
        Case,
        Run,
        Column,
        EventRow,
        Band,
    ),
    *(StateLine, EventList, InitialRow, Fact, Explanation, StudyRow, Study, DataFile, FitRow, FitCurve, Fit, Status, Hello),
)


# --- frames ------------------------------------------------------------------------------------------------------------------


def packed(head: dict[str, Any], numbers: bytes | memoryview = b"") -> bytes:
    """A head and numbers in one piece.

    >>> unpacked(packed({"id": 1}, b"12345678"))[0]
    {'id': 1}
    """
    text = json.dumps(head, separators=(",", ":"), allow_nan=False, default=asdict).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return _HEAD.pack(len(text)) + text + bytes(numbers)


def unpacked(frame: bytes) -> tuple[dict[str, Any], memoryview]:
    """The head and the numbers of a frame."""
    (size,) = _HEAD.unpack_from(frame)
    return json.loads(frame[4 : 4 + size]), memoryview(frame)[4 + size :]


def head_of(frame: bytes) -> dict[str, Any]:
    return unpacked(frame)[0]


def problem(diagnostic: Diagnostic) -> Problem:
    """A diagnostic as the page shows it."""
    where = diagnostic.location
    return Problem(
        diagnostic.what,
        diagnostic.component,
        diagnostic.equation,
        where.file if where else "",
        where.line if where else 0,
        where.source if where else "",
        list(diagnostic.details),
        diagnostic.remedy,
    )


def diagnostic(told: Problem) -> Diagnostic:
    """A problem as the terminal shows it."""
    where = Location(told.file, told.line) if told.file else None
    return Diagnostic(told.what, told.component, told.equation, where, tuple(told.details), told.remedy)
