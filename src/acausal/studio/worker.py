"""A worker: one process that holds the compiled model. It may crash, hang or run out of memory: the server starts another one.

One thread reads questions and answers them from results at hand; a second one simulates, so that somebody can look while a run goes
on. A result is first sent, then written to disk when nobody waits; whatever is on disk outlives the worker.
"""

from __future__ import annotations

import io
import os
import queue
import sys
import threading
import time
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import AcausalError, Diagnostic, ModelError, UsageError
from .opening import Opened, likely_end, opened
from .pipe import Pipe
from .protocol import Case, Run, problem, unpacked

_HELD = 4  # results in memory; older ones are read from disk
_LIVE = 0.12  # seconds between two pictures of a run that goes on
_SLICE = 0.06  # seconds a slice of a run should take
_IDLE = 0.3  # seconds without an order after which a result is written


@dataclass
class _Going:
    """How far a run has come, told now and then."""

    start: float
    end: float
    begin: float  # on the clock of this process
    told: float = 0.0

    def is_due(self) -> bool:
        return time.perf_counter() - max(self.told, self.begin) > _LIVE

    def at(self, t: float) -> dict[str, float]:
        self.told = time.perf_counter()
        return {"fraction": (t - self.start) / (self.end - self.start), "time": t, "seconds": self.told - self.begin}


class Worker:
    """Answers questions about one model, and runs it."""

    def __init__(self, pipe: Pipe, folder: Path) -> None:
        self.pipe, self.folder = pipe, folder
        self.opened: Opened | None = None
        self.orders: queue.Queue[dict[str, Any]] = queue.Queue()
        self.cancelled: set[str] = set()
        self.results: OrderedDict[str, Any] = OrderedDict()
        self.unsaved: list[str] = []
        self.sessions: dict[str, Any] = {}
        self._going: _Going | None = None
        self._lock = threading.Lock()

    # --- the two threads ------------------------------------------------------------------------------------------------------
    def serve(self) -> None:
        threading.Thread(target=self._run_orders, daemon=True).start()
        while (frame := self.pipe.read()) is not None:
            head, _ = unpacked(frame)
            if head["ask"] in ("run", "continue", "study", "fit"):
                self.orders.put(head)
            elif head["ask"] == "cancel":
                self._cancel(head["run"])
            else:
                self._answer(head)

    def _answer(self, head: dict[str, Any]) -> None:
        try:
            getattr(self, f"ask_{head['ask']}")(head)
        except BaseException as error:
            self._refuse(head, error)

    def _refuse(self, head: dict[str, Any], error: BaseException) -> None:
        self.pipe.write({"id": head.get("id"), "refused": [asdict(problem(d)) for d in diagnostics_of(error)]})

    def _run_orders(self) -> None:
        while True:
            try:
                order = self.orders.get(timeout=_IDLE if self.unsaved else None)
            except queue.Empty:
                self._make_safe("")
                continue
            try:
                if order["ask"] == "end":
                    self._end()
                elif order["ask"] == "study":
                    self._make_safe("")
                    from .sweep import sweep

                    sweep(self, order)
                elif order["ask"] == "fit":
                    self._make_safe("")
                    from .fitting import fitted

                    fitted(self, order)
                else:
                    self._run(order)
            except BaseException as error:
                self._fail(order, error)

    def _cancel(self, run: str) -> None:
        """What goes on looks here now and then; what waits for its turn is over at once, and need not answer for what goes on."""
        self.cancelled.add(run)
        with self.orders.mutex:
            waiting = [order for order in self.orders.queue if order["run"] == run]
            for order in waiting:
                self.orders.queue.remove(order)
        for order in waiting:
            self._told(order, state="cancelled", message="It was cancelled before its turn came.")

    def _fail(self, order: dict[str, Any], error: BaseException) -> None:
        found = [asdict(problem(d)) for d in diagnostics_of(error)]
        self._told(order, state="failed", message=found[0]["what"], problems=found)

    def _told(self, order: dict[str, Any], **what: Any) -> None:
        """How an order ended; a run that was to go on is a run."""
        self.pipe.write({"notice": {"continue": "run"}.get(order["ask"], order["ask"]), "run": order["run"], **what})

    # --- opening --------------------------------------------------------------------------------------------------------------
    def ask_open(self, head: dict[str, Any]) -> None:
        self.opened = found = opened(head["target"], head["choices"], head["version"], head.get("sketch", False))
        wrong = [] if found.wrong is None else [asdict(problem(d)) for d in found.wrong.diagnostics]
        self.pipe.write({"id": head["id"], "answer": asdict(found.page), "files": found.files, "wrong": wrong})
        if not found.page.until:
            self.orders.put({"ask": "end", "run": ""})

    def _end(self) -> float:
        """When a run ends unless somebody says so: a guess takes longer than opening the model, and is made when that is done."""
        assert self.opened is not None
        page = self.opened.page
        if not page.until:
            page.until = likely_end(self.model)
            self.pipe.write({"notice": "until", "version": page.version, "until": page.until})
        return page.until

    @property
    def model(self) -> Any:
        if self.opened is None or self.opened.model is None:
            raise UsageError("The model cannot be run yet.", remedy="The messages say what is missing.")
        return self.opened.model

    # --- running --------------------------------------------------------------------------------------------------------------
    def _run(self, order: dict[str, Any]) -> None:
        run, names = order["run"], order["names"]
        self._make_safe(order.get("instead", ""))
        begin = time.perf_counter()
        if order["ask"] == "continue":
            session, case = self._session_of(run), Case(**order["case"])
            start, end = session.time, order["end"]
        else:
            case = Case(**order["case"])
            start, end = self.span(case)
            self.sessions.clear()  # only the last run can be continued: a session is as large as its plant
            session = self._begin(case, start, run)
        times = _output_times(start, end, case.points)
        self._going = _Going(start, end, begin)
        self._tell(run, state="running", until=end, fraction=0.0, time=start)
        self._integrate(session, run, times, names)
        result = session.result()
        self.sessions[run] = session
        self._hold(run, result)
        if names:
            self._send_columns({"notice": "live", "run": run, "final": True}, result, names)
        self._finished(run, result, time.perf_counter() - begin, end)
        self.unsaved.append(run)

    def _make_safe(self, replaced: str) -> None:
        """The next run may end this process: what is not on disk goes there, unless the run is to take its place."""
        while self.unsaved:
            earlier = self.unsaved.pop(0)
            if earlier != replaced:
                self._save(earlier)

    def _session_of(self, run: str) -> Any:
        if run not in self.sessions:
            raise UsageError("Only the last run can be continued.", remedy="Run it again with a later end.")
        return self.sessions[run]

    def span(self, case: Case) -> tuple[float, float]:
        from ..runtime.storage import seconds

        assert self.opened is not None
        unit = self.model.system.plant.independent[1]
        start = float(seconds(_timed(case.start) or 0.0, "start", unit))
        end = float(seconds(_timed(case.until) or self._end(), "until", unit))
        if end <= start:
            what = f"The run ends at {end:g} {unit}, which is not after its start at {start:g} {unit}."
            raise UsageError(what, remedy="Give a later end.")
        return start, end

    def _begin(self, case: Case, start: float, run: str) -> Any:
        def report(t: float) -> bool:
            if self._going is not None and self._going.is_due():  # also in the midst of a slice that takes long
                self._tell(run, **self._going.at(t))
            return run not in self.cancelled

        return self.model.start(
            start=start,
            set=case.set,
            inputs=self.inputs_of(case),
            initial=case.initial,
            rtol=case.rtol,
            progress=report,
            on_failure="keep",
        )

    def inputs_of(self, case: Case) -> dict[str, Any]:
        """A number, `file.csv` or `file.csv:column`, or `{"times": …, "values": …, "hold": true}` for each input."""
        return {path: _input(self, path, given) for path, given in case.inputs.items()}

    def _integrate(self, session: Any, run: str, times: np.ndarray, names: Sequence[str]) -> None:
        """Slice by slice, each about as long as the eye needs; what is there so far is shown on the way."""
        assert self._going is not None
        k, size, shown = 1, max(1, len(times) // 100), time.perf_counter()
        while k < len(times) and session.outcome is None:
            part, before = times[k : k + size], time.perf_counter()
            session.go(float(part[-1]), part)
            now = time.perf_counter()
            k, size = k + size, max(1, int(size * min(4.0, max(0.25, _SLICE / max(now - before, 1e-6)))))
            if now - shown > _LIVE and k < len(times):
                shown = now
                self._tell(run, **self._going.at(session.time))
                if names:
                    self._send_columns({"notice": "live", "run": run, "final": False}, session.result(), names)

    def _tell(self, run: str, **what: Any) -> None:
        self.pipe.write({"notice": "run", "run": run, **what})

    def _finished(self, run: str, result: Any, seconds: float, end: float) -> None:
        outcome = result.outcome
        state = "finished" if outcome.ok else "cancelled" if outcome.name == "CANCELLED" else "failed"
        self._tell(
            run,
            state=state,
            message=outcome.value,
            problems=[asdict(problem(d)) for d in result.diagnostics],
            seconds=seconds,
            fraction=1.0,
            time=float(result.time_reached),
            until=end,
            points=len(result.time),
            events=len(result.events),
            steps=int(result.statistics.get("steps", 0)),
        )

    # --- results --------------------------------------------------------------------------------------------------------------
    def _hold(self, run: str, result: Any) -> None:
        with self._lock:
            self.results[run] = result
            self.results.move_to_end(run)
            old = [r for r in list(self.results)[:-_HELD] if r not in self.unsaved]
        for name in old:
            self.results.pop(name, None)

    def _save(self, run: str) -> None:
        result = self.results.get(run)
        if result is None:
            return
        try:
            result.save(self.folder / f"{run}.acausal")
            self.pipe.write({"notice": "saved", "run": run})
        except (AcausalError, OSError) as error:
            self._tell(run, message=f"The result could not be written to disk: {error}")

    def result_of(self, run: str) -> Any:
        """A result from memory or from disk."""
        result = self.results.get(run)
        if result is not None:
            return result
        file = self.folder / f"{run}.acausal"
        if not file.is_file():
            raise UsageError("The numbers of this run are no longer there.", remedy="Run the case again.")
        from ..loading import load

        result = load(file)
        self._hold(run, result)
        return result

    def ask_columns(self, head: dict[str, Any]) -> None:
        self._send_columns({"id": head["id"]}, self.result_of(head["run"]), head["names"])

    def _send_columns(self, head: dict[str, Any], result: Any, names: Sequence[str]) -> None:
        from .looking import columns

        found = columns(result, names)
        stated = [asdict(column) for column, _ in found]
        values = [result.time, *(v for _, v in found)]
        for number, column in enumerate(values):
            last = number == len(values) - 1
            numbers = np.ascontiguousarray(column, dtype="<f8")
            told = {**head, "column": number, "count": len(values), "length": len(numbers), "last": last}
            self.pipe.write({**told, "columns": stated} if number == 0 else told, numbers.tobytes())

    def ask_frames(self, head: dict[str, Any]) -> None:
        from .looking import frames

        result = self.result_of(head["run"])
        stated, times, numbers = frames(result, head["names"], head["count"])
        told = {
            "id": head["id"],
            "columns": [asdict(c) for c in stated],
            "times": times.tolist(),
            "last": True,
            "frames": len(times),
        }
        self.pipe.write(told, numbers.tobytes())

    def ask_chart(self, head: dict[str, Any]) -> None:
        from .charts import chart

        assert self.opened is not None
        circuit = next((c for c in self.opened.page.circuits if c.medium == head["medium"]), None)
        if circuit is None:
            raise UsageError(f"No {head['medium']} flows through this plant.")
        told, blocks = chart(self.result_of(head["run"]), circuit, head["kind"])
        ends = np.cumsum([0, *(len(values) for values in blocks.values())]).tolist()
        places = {name: [a, b - a] for name, a, b in zip(blocks, ends[:-1], ends[1:], strict=True)}
        numbers = np.concatenate(list(blocks.values())).tobytes()
        self.pipe.write({"id": head["id"], "answer": asdict(told), "blocks": places}, numbers)

    # --- looking --------------------------------------------------------------------------------------------------------------
    def _reply(self, head: dict[str, Any], answer: Any) -> None:
        self.pipe.write({"id": head["id"], "answer": answer})

    def ask_diagram(self, head: dict[str, Any]) -> None:
        from .diagram import diagram

        assert self.opened is not None
        self._reply(head, asdict(diagram(self.opened.catalogue, head["path"])))

    def ask_palette(self, head: dict[str, Any]) -> None:
        from .palette import palette

        self._reply(head, [asdict(piece) for piece in palette()])

    def ask_explain(self, head: dict[str, Any]) -> None:
        from .looking import explanation

        self._reply(head, asdict(explanation(self.model, head["path"])))

    def ask_events(self, head: dict[str, Any]) -> None:
        from .looking import events

        self._reply(head, asdict(events(self.result_of(head["run"]), head["run"])))

    def ask_report(self, head: dict[str, Any]) -> None:
        from .looking import report

        self._reply(head, report(self.result_of(head["run"])))

    def ask_initial(self, head: dict[str, Any]) -> None:
        from .looking import initial_values

        assert self.opened is not None
        rows = initial_values(self.result_of(head["run"]), self.opened.page.parts, head["about"]["case"]["set"])
        self._reply(head, [asdict(row) for row in rows])

    def ask_export(self, head: dict[str, Any]) -> None:
        from .exporting import export

        about = head["about"]
        run = Run(**{**about, "case": Case(**about["case"]), "problems": []})
        self._reply(head, export(self.result_of(head["run"]), run, head["names"], head["form"], self.folder))

    def ask_save(self, head: dict[str, Any]) -> None:
        """Everything that is only in memory is written now: the worker is about to be replaced."""
        self._make_safe("")
        self._reply(head, None)


# --- from the page to the model ----------------------------------------------------------------------------------------------


def _timed(text: str) -> float | str | None:
    """A time as the user typed it: seconds, or a text with a unit; None if nothing was typed."""
    stripped = str(text).strip()
    try:
        return float(stripped) if stripped else None
    except ValueError:
        return stripped


def _output_times(start: float, end: float, points: int) -> np.ndarray:
    return np.linspace(start, end, points or 501)


def _input(worker: Worker, path: str, given: Any) -> Any:
    if isinstance(given, dict) and {"times", "values"} <= set(given):
        from ..runtime.inputs import hold

        return hold(given["times"], given["values"]) if given.get("hold") else (given["times"], given["values"])
    if isinstance(given, str):
        from ..cli.arguments import inputs_of

        return inputs_of(worker.model, {path: given})[path]
    return given


def diagnostics_of(error: BaseException) -> Sequence[Diagnostic]:
    """What to tell about an error, whoever made it."""
    from ..cli.guard import blame

    if isinstance(error, ModelError):
        return error.diagnostics
    if not isinstance(error, (AcausalError, MemoryError)) and not hasattr(error, "diagnostics"):
        traceback.print_exception(error)
    return blame(error)[1]


# --- the process -------------------------------------------------------------------------------------------------------------


def limit_memory(megabytes: int) -> None:
    """A run that wants more than its share fails; the machine goes on."""
    if not megabytes:
        return
    try:
        import resource

        bytes_ = megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # not everywhere
        return


def main(arguments: Sequence[str]) -> None:
    folder, megabytes = Path(arguments[0]), int(arguments[1])
    limit_memory(megabytes)
    sink = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
    source = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    os.dup2(2, 1)  # whatever the model prints, also from C, goes where messages go
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), line_buffering=True, errors="replace")
    warnings.simplefilter("default")
    Worker(Pipe(source, sink), folder).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
