"""What is open: a model file with its workers, cases and runs, and the pages that look at it. No numbers pass through here undone:
frames with columns go from worker to page as they are."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from ..errors import Diagnostic, ModelError
from . import application
from . import cases as case_files
from .client import Client, refusal
from .data import Data
from .drawing import Drawing, Drawings
from .machine import cores, model_file, stamp
from .process import Gone, Process
from .protocol import Case, Fit, Hello, Problem, Run, Status, Study, packed, problem
from .recalled import read as recall
from .recalled import same
from .recalled import write as keep_told
from .runs import Runs

LOOKS = ("columns", "frames", "chart", "diagram", "palette", "explain", "events", "report", "initial", "export")
_WORK = (*LOOKS, "run", "continue", "study", "fit")
_GRACE = 2.0  # seconds a cancelled run has to stop by itself
_LONG = 3.0  # seconds after which a run is one that others do not wait for
_WATCH = 0.4  # seconds between two looks at the files
_SOON = 0.02  # seconds between two looks whether a worker has come
_ENOUGH = 4  # cores from which on a page and a worker may start together
_SHOWN = 1.5  # seconds that a worker waits for the page otherwise


class Tell(Protocol):
    """Says in the terminal what became of loading the model."""

    def __call__(self, text: str, problems: list[Problem]) -> None: ...


class Studio:
    """One model file and everything about it."""

    def __init__(self, target: str, folder: Path, megabytes: int = 0, patience: float = 120.0, workers: int = 2) -> None:
        self.tell: Tell = lambda text, problems: None
        self.target, self.folder, self.megabytes, self.patience, self.most = target, folder, megabytes, patience, workers
        self.runs = Runs(folder)
        self.case_file = case_files.file_of(target)
        self.drawing = Drawing(model_file(target))
        self.drawings = Drawings(folder / "drawings")
        self._sketches = False  # somebody draws: what cannot be run yet is shown all the same
        self.cases: list[Case] = []
        self.studies: dict[str, Study] = {}
        self.fits: dict[str, Fit] = {}
        beside = next((p.resolve().parent for p in [Path(target.partition(".py:")[0])] if p.parent.is_dir()), None)
        self.data = Data(beside, folder / "uploads")
        self.choices: dict[str, Any] = {}
        self.version = 0
        self.model: dict[str, Any] | None = None
        self.files: list[str] = []
        self.status = Status("loading", f"Loading {Path(target).name} …", target, [], "")
        self.clients: dict[int, Client] = {}
        self.workers: list[Process] = []
        self.opening: Process | None = None
        self._clients = 0
        self._failed, self._started = False, False
        self._recalled = False  # the model is what was told of it last time: nobody has loaded it yet
        self._shown = asyncio.Event()  # a page has drawn the model, or somebody wants more than to look at it
        self._stopping = False
        self._spare: Process | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stamps: dict[str, tuple[int, int]] = {}
        self._instead: dict[str, str] = {}  # which earlier run a new one replaces when it is done

    @property
    def is_application(self) -> bool:
        return self.target.endswith(".acapp")

    # --- pages ----------------------------------------------------------------------------------------------------------------
    def enter(self) -> Client:
        self._clients += 1
        if self.runs.look():
            self._tell_runs()
        client = Client(self._clients)
        self.clients[client.number] = client
        undo, redo = len(self.drawing.past), len(self.drawing.future)
        studies, layout = list(self.studies.values()), self.drawing.layout
        hello = Hello(client.number, self.status, None, self.cases, self.runs.all(), studies, layout, undo, redo)
        client.hear(packed({"notice": "hello", "data": {**asdict(hello), "model": self.model}}))
        for fit in list(self.fits.values())[-1:]:  # it may have ended while the line was broken
            client.hear(packed({"notice": "fit", "data": asdict(fit)}))
        return client

    def leave(self, client: Client) -> None:
        self.clients.pop(client.number, None)

    def announce(self, notice: str, data: Any) -> None:
        self.broadcast(packed({"notice": notice, "data": data}))

    def _tell_runs(self) -> None:
        """All of them: some went, or another studio has left some in the folder."""
        self.announce("runs", [asdict(run) for run in self.runs.all()])

    def broadcast(self, frame: bytes) -> None:
        for client in list(self.clients.values()):
            client.hear(frame)

    async def asked(self, client: Client, head: dict[str, Any]) -> None:
        """A question of a page; whatever goes wrong is its answer."""
        number = head.get("id")
        try:
            if not isinstance(number, str) or not number.startswith(f"{client.number}-"):
                raise ModelError("A question must bear the number of its page.")
            what = head.get("ask")
            if what in _WORK and self._is_nobody_there_yet():
                self._shown.set()
                self._keep(asyncio.create_task(self._asked_later(client, head)))
                return
            if what in LOOKS:
                self._look(head)
                return
            answer = getattr(self, f"ask_{what}", None) if isinstance(what, str) and what.isidentifier() else None
            if answer is None:
                raise ModelError(f"The studio knows no question {what!r}.")
            client.hear(packed({"id": number, "answer": await answer(head)}))
        except (Gone, ModelError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            client.hear(packed({"id": number, "refused": refusal(error)}))

    def _is_nobody_there_yet(self) -> bool:
        """Soon there is a worker: the first one, or one in the place of one that died, perhaps without our knowing it yet."""
        return not any(w.alive for w in self.workers) and (bool(self.workers) or self.status.phase == "loading")

    async def _asked_later(self, client: Client, head: dict[str, Any]) -> None:
        while self._is_nobody_there_yet():
            await asyncio.sleep(_SOON)
        await self.asked(client, head)

    # --- workers --------------------------------------------------------------------------------------------------------------
    async def start(self) -> None:
        """Begin to load the model; a second time nothing happens."""
        if self._started:
            return
        self._started = True
        self._read_cases()
        self._recall()
        self._keep(asyncio.create_task(self._watch()))
        if self._recalled and cores() < _ENOUGH:
            self._keep(asyncio.create_task(self._load_when_shown()))
        else:
            await self.load()

    async def _load_when_shown(self) -> None:
        """What is known of the model is on its way to the page; where there are few cores, loading would only hold that up."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), _SHOWN)
        await self.load()

    def _recall(self) -> None:
        """What was told of this model last time, if nothing has changed since."""
        found = recall(self.folder, self.target)
        if found is not None and all(stamp(file) == then for file, then in found[1].items()):
            self.model, self.files, self._recalled = found[0], list(found[1]), True

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._stopping = True
        workers = [*self.workers, *([self.opening] if self.opening else []), *([self._spare] if self._spare else [])]
        for worker in workers:
            with contextlib.suppress(Gone, TimeoutError):
                await asyncio.wait_for(worker.ask("save"), _GRACE)
            worker.kill()
        await asyncio.gather(*(worker.gone() for worker in workers))

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def load(self) -> None:
        """Open the model in a new worker; the old one serves until that has gone well."""
        if self.opening is not None:
            self.opening.kill("Another version was loaded meanwhile.")
        self._stamps |= self._looked_at(cases=False)
        self._say("loading", f"Loading {Path(self.target).name} {'again ' if self.version else ''}…")
        worker, self._spare = self._spare, None
        if worker is None or not worker.alive:
            worker = Process(self.folder, self.megabytes, self._heard, self._ended)
            await worker.start()
        self.opening = worker
        self._keep(asyncio.create_task(self._open(worker)))

    async def _open(self, worker: Process) -> None:
        name = Path(self.target).name
        asked = worker.ask(
            "open", target=self.target, choices=self.choices, version=self.version + 1, sketch=self._sketches or not self.version
        )
        try:
            answer = await asyncio.wait_for(asked, self.patience)
        except TimeoutError:
            worker.kill()
            what = f"`{name}` was not loaded within {self.patience:g} seconds, and its process was ended."
            remedy = "Look for an endless loop or a question to the user at the top of the file."
            answer = {"refused": [asdict(problem(Diagnostic(what, remedy=remedy)))]}
        except Gone as gone:
            answer = {"refused": gone.problems}
        if worker is not self.opening:
            return  # a newer one has taken its place
        self.opening = None
        if "answer" in answer:
            await self._replace(worker, answer)
        else:
            worker.kill()
            await worker.gone()
            if self._recalled:
                self.model, self._recalled = None, False
                self.announce("model", None)
            problems = [Problem(**p) for p in answer["refused"]]
            text = f"{name} cannot be loaded" + ("; the last good version stays." if self.model else ".")
            self._say("failed", text, problems, worker.printed)

    async def _replace(self, worker: Process, answer: dict[str, Any]) -> None:
        old, self.workers = self.workers, [worker]
        self.version += 1
        told, self.files = answer["answer"], answer["files"]
        known, self.model, self._recalled = self._recalled and same(self.model, told), told, False
        self._stamps = {**self._looked_at(), **self._stamps}
        name, wrong = Path(self.target).name, [Problem(**p) for p in answer.get("wrong", [])]
        if wrong:
            self._say("failed", f"{name} cannot be run yet.", wrong, worker.printed)
        else:
            self._say("ready", f"{name} is ready.", [], worker.printed)
        if not known:
            self.announce("model", self.model)
        self._keep_told()
        for process in old:
            self._keep(asyncio.create_task(self._retire(process)))
        if old and self._spare is None:  # a model that changed once will change again: the next process is ready then
            self._spare = Process(self.folder, self.megabytes, self._heard, self._ended)
            await self._spare.start()

    def _keep_told(self) -> None:
        if self.model is not None and self.model["runs"] and not self.choices and not self.is_application:
            keep_told(self.folder, self.target, self.model, {file: stamp(file) for file in self.files})

    async def _retire(self, process: Process) -> None:
        """An old worker writes what it has, finishes what it runs, and goes."""
        with contextlib.suppress(Gone):
            while any(self._is_going_on(run) for run in process.runs):
                await asyncio.sleep(_WATCH)
            await process.ask("save")
        process.kill("The model was loaded again.")

    def _is_going_on(self, run: str) -> bool:
        found = self.runs.by_id.get(run)
        return found is not None and found.state in ("queued", "running")

    def _say(self, phase: Any, text: str, problems: list[Problem] | None = None, printed: str = "") -> None:
        mended = phase == "ready" and self._failed
        if phase == "failed" or mended:  # who sits at the terminal wants to know, too; what goes well needs no words
            self.tell(text, problems or [])
        self._failed = phase == "failed" or (self._failed and not mended)
        self.status = Status(phase, text, self.target, problems or [], printed, self.is_application)
        self.announce("status", asdict(self.status))

    def _heard(self, worker: Process, head: dict[str, Any], frame: bytes) -> None:
        number, notice = head.get("id"), head.get("notice")
        if isinstance(number, str):
            client = self.clients.get(int(number.partition("-")[0]))
            if client is not None:
                client.hear(frame)
        elif notice == "run":
            self._progress(worker, head)
        elif notice == "study":
            self._study_row(head)
        elif notice == "fit":
            self._fit(head)
        elif notice == "until":
            if self.model is not None and head["version"] == self.model["version"]:
                self.model["until"] = head["until"]
                self.announce("until", head["until"])
                self._keep_told()
        elif notice == "live":
            self.broadcast(frame)
        elif notice == "saved":
            self.runs.write()
        elif notice == "printed":
            self.announce("printed", worker.printed)

    def _progress(self, worker: Process, head: dict[str, Any]) -> None:
        changes = dict(head)
        if "problems" in changes:
            changes["problems"] = [Problem(**p) for p in changes["problems"]]
        run = self.runs.update(head["run"], changes)
        if run is None:
            return
        self.announce("run", asdict(run))
        if run.state not in ("queued", "running"):
            self._settled(run)

    def _settled(self, run: Run) -> None:
        replaced = self._instead.pop(run.id, "")
        if replaced in self.runs.by_id:
            self.runs.forget(replaced)
            self._tell_runs()

    def _ended(self, worker: Process) -> None:
        """A worker is no more: its runs are told why, and if it was in use, another one takes its place."""
        for run in worker.runs:
            if self._is_going_on(run):
                problems = [Problem(**p) for p in worker.how()]
                state = "cancelled" if worker.why else "failed"
                found = self.runs.update(run, {"state": state, "message": problems[0].what, "problems": problems})
                self.announce("run", asdict(found) if found else None)
        for kind, many in (("study", self.studies), ("fit", self.fits)):
            for one in many.values():
                if one.state == "running" and one.id in worker.runs:
                    one.state, one.message = "failed", worker.how()[0]["what"]
                    self.announce(kind, asdict(one))
        if worker in self.workers:
            self.workers.remove(worker)
            if not self.workers and not self._stopping:
                self._keep(asyncio.create_task(self.load()))

    def _worker(self, run: str = "") -> Process:
        """The worker that made a run, or the first one."""
        for worker in self.workers:
            if run and run in worker.runs:
                return worker
        if not self.workers:
            what = "There is no model: it could not be loaded."
            raise Gone([asdict(Problem(what, remedy="Mend the file; it is loaded when it is saved."))])
        return self.workers[0]

    async def _worker_for_run(self) -> Process:
        """One that has nothing to do, or soon; another one is started beside a long run, if there may be more of them."""
        self._worker()
        busy = {w: [self.runs.by_id[r] for r in w.runs if self._is_going_on(r)] for w in self.workers}
        best = min(self.workers, key=lambda w: len(busy[w]))
        if len(self.workers) >= self.most or all(time.time() - run.begun < _LONG for run in busy[best]):
            return best
        worker = Process(self.folder, self.megabytes, self._heard, self._ended)
        await worker.start()
        self.workers.append(worker)
        answer = await worker.ask("open", target=self.target, choices=self.choices, version=self.version)
        if "refused" in answer:
            worker.kill()
            raise Gone(answer["refused"])
        return worker

    # --- questions ------------------------------------------------------------------------------------------------------------
    def _look(self, head: dict[str, Any]) -> None:
        run = head.get("run", "")
        if "run" in head and run not in self.runs.by_id:
            raise ModelError("There is no such run.")
        about = {"about": asdict(self.runs.by_id[run])} if head["ask"] in ("export", "initial") else {}
        self._worker(run).send({**head, **about})

    def _case(self, given: dict[str, Any], *more: str) -> Case:
        """A case that a page sends; of an application only what its author left open."""
        case = Case(**given)
        free = self.model["free"] if self.model is not None else None
        closed = [p for p in [*case.set, *case.inputs, *more] if free is not None and p not in free]
        if closed:
            what = f"`{closed[0]}` cannot be changed in this application."
            raise ModelError(Diagnostic(what, remedy=f"Its author left open: {', '.join(free or []) or 'nothing'}."))
        return case

    async def ask_run(self, head: dict[str, Any]) -> Any:
        case, names, instead = self._case(head["case"]), list(head["names"]), str(head.get("instead") or "")
        worker = await self._worker_for_run()
        known = set(self.runs.by_id)
        run = self.runs.new(case, self.version)  # from here on nothing may fail: who would end it?
        if instead:
            self._instead[run.id] = instead
        worker.begins(run.id)
        worker.send({"ask": "run", "run": run.id, "case": asdict(case), "names": names, "instead": instead})
        self.announce("run", asdict(run))
        if set(self.runs.by_id) - {run.id} != known:
            self._tell_runs()
        return asdict(run)

    async def ask_continue(self, head: dict[str, Any]) -> Any:
        run = self._run(head)
        unit = "s" if self.model is None else self.model["time"][1]
        end = case_files.seconds_of(head["until"], unit)
        if end <= run.time:
            raise ModelError(Diagnostic(f"The run is at {run.time:g} {unit} already.", remedy="Give a later end."))
        worker = next((w for w in self.workers if w.last == run.id), None)
        if worker is None or self._is_going_on(run.id):  # another page may have begun one since
            what = "Only the last run can be continued, when it is over."
            raise ModelError(Diagnostic(what, remedy="Run it again with a later end."))
        names = head.get("names", [])
        worker.send({"ask": "continue", "run": run.id, "case": asdict(run.case), "names": names, "end": end})
        run.state, run.fraction, run.until = "running", 0.0, end
        self.announce("run", asdict(run))
        return asdict(run)

    async def ask_cancel(self, head: dict[str, Any]) -> None:
        run = self._run(head)
        worker = next((w for w in self.workers if run.id in w.runs), None)
        if worker is not None and self._is_going_on(run.id):
            worker.send({"ask": "cancel", "run": run.id})
            self._keep(asyncio.create_task(self._insist(worker, run.id)))

    async def _insist(self, worker: Process, run: str) -> None:
        await asyncio.sleep(_GRACE)
        if self._is_going_on(run):
            worker.kill(
                "The run did not react when it was cancelled, and its process was ended.",
                "Look for an endless loop in a function of the model. The model is loaded again; earlier runs are kept.",
            )

    async def ask_forget(self, head: dict[str, Any]) -> None:
        run = self._run(head)
        if self._is_going_on(run.id):
            await self.ask_cancel(head)
            return
        self.runs.forget(run.id)
        self.runs.write()
        self._tell_runs()

    def _run(self, head: dict[str, Any]) -> Run:
        run = self.runs.by_id.get(head["run"])
        if run is None:
            raise ModelError("There is no such run.")
        return run

    async def ask_save_case(self, head: dict[str, Any]) -> Any:
        case, before = Case(**head["case"]), head.get("before", "")
        if not case.name.strip():
            raise ModelError(Diagnostic("A case needs a name.", remedy="Give it one that says what is different."))
        names = [c.name for c in self.cases]
        if before in names:
            self.cases[names.index(before)] = case
        elif case.name in names:
            self.cases[names.index(case.name)] = case
        else:
            self.cases.append(case)
        return self._write_cases()

    async def ask_delete_case(self, head: dict[str, Any]) -> Any:
        self.cases = [c for c in self.cases if c.name != head["name"]]
        return self._write_cases()

    def _write_cases(self) -> Any:
        try:
            case_files.write(self.case_file, Path(self.target.partition(".py:")[0]).name, self.cases)
        except OSError as error:
            remedy = "The cases are kept until the studio ends; make the folder writable and save again."
            raise ModelError(
                Diagnostic(f"The cases could not be written to `{self.case_file}`: {error}.", remedy=remedy)
            ) from error
        self._stamps |= self._looked_at(cases=True)
        told = [asdict(c) for c in self.cases]
        self.announce("cases", told)
        return told

    async def ask_study(self, head: dict[str, Any]) -> Any:
        case, over, outputs = self._case(head["case"], *head["over"]), list(head["over"]), list(head["outputs"])
        worker = await self._worker_for_run()
        study = Study(uuid.uuid4().hex[:12], case.name, over, outputs, [], [], 0, "running", "")
        self.studies[study.id] = study
        worker.runs.add(study.id)
        worker.send({**head, "ask": "study", "run": study.id})
        return asdict(study)

    def _study_row(self, head: dict[str, Any]) -> None:
        study = self.studies.get(head["run"])
        if study is None:
            return
        for name in ("inputs", "outputs", "units", "total", "state", "message"):
            setattr(study, name, head.get(name, getattr(study, name)))
        study.rows += head.get("rows", [])
        study.problems = [Problem(**p) for p in head.get("problems", [])]
        self.announce("study", asdict(study))

    async def ask_files(self, head: dict[str, Any]) -> Any:
        return [asdict(f) for f in self.data.files()]

    async def ask_upload(self, head: dict[str, Any]) -> Any:
        return asdict(self.data.upload(str(head["name"]), str(head["text"])))

    async def ask_fit(self, head: dict[str, Any]) -> Any:
        case, free = self._case(head["case"], *head["free"]), dict(head["free"])
        if head["file"] not in [f.path for f in self.data.files()]:
            raise ModelError(Diagnostic(f"There is no file {head['file']!r} with data.", remedy="Choose one of the list."))
        worker = await self._worker_for_run()
        fit = Fit(uuid.uuid4().hex[:12], case.name, head["file"], "running")
        self.fits[fit.id] = fit
        worker.runs.add(fit.id)
        worker.send({"ask": "fit", "run": fit.id, "case": asdict(case), "file": fit.file, "free": free})
        return asdict(fit)

    def _fit(self, head: dict[str, Any]) -> None:
        fit = self.fits.get(head["run"])
        if fit is not None:
            for name in ("state", "message", "told", "rows", "curves", "problems"):
                setattr(fit, name, head.get(name, getattr(fit, name)))
            self.announce("fit", asdict(fit))

    async def ask_cancel_study(self, head: dict[str, Any]) -> None:
        study = self.studies[head["study"]]
        if study.state == "running":
            worker = self._worker(study.id)
            worker.send({"ask": "cancel", "run": study.id})

    async def ask_edit(self, head: dict[str, Any]) -> Any:
        self._may_edit()
        name = self.drawing.edit(str(head["kind"]), list(head["edits"]))
        await self._edited()
        return name

    async def ask_undo(self, head: dict[str, Any]) -> None:
        self._may_edit()
        self.drawing.undo()
        await self._edited()

    async def ask_redo(self, head: dict[str, Any]) -> None:
        self._may_edit()
        self.drawing.redo()
        await self._edited()

    def _may_edit(self) -> None:
        if self.status.read_only:
            raise ModelError("This application is for running only; its model cannot be changed.")

    async def _edited(self) -> None:
        self._sketches = True
        self.announce("history", {"undo": len(self.drawing.past), "redo": len(self.drawing.future)})
        await self.load()

    async def ask_place(self, head: dict[str, Any]) -> None:
        self.drawing.place(str(head["level"]), dict(head["at"]))
        self.announce("layout", self.drawing.layout)

    async def ask_shown(self, head: dict[str, Any]) -> None:
        self._shown.set()

    async def ask_recall(self, head: dict[str, Any]) -> str:
        return self.drawings.read(str(head["key"]))

    async def ask_remember(self, head: dict[str, Any]) -> None:
        self.drawings.write(str(head["key"]), str(head["text"]))

    async def ask_choose(self, head: dict[str, Any]) -> None:
        self.choices = dict(head["choices"])
        await self.load()

    async def ask_open(self, head: dict[str, Any]) -> None:
        """Another class of the same file."""
        target = str(head["target"])
        file = model_file(self.target)
        if file is None or model_file(target) != file or not re.fullmatch(r"[^\W\d]\w*", target.rpartition(":")[2]):
            what = "Only classes of the file that is open can be chosen."
            raise ModelError(Diagnostic(what, remedy=f"`acausal studio {target}`"))
        self.target, self.choices = target, {}
        await self.load()

    async def ask_reload(self, head: dict[str, Any]) -> None:
        await self.load()

    # --- files ----------------------------------------------------------------------------------------------------------------
    def _looked_at(self, cases: bool | None = None) -> dict[str, tuple[int, int]]:
        """What the files look like now: all, or only those that were just read or written, the model's or its cases. The others may
        have been saved a moment ago, and nobody would notice."""
        own = model_file(self.target)
        files = {*self.files, *([str(own.resolve())] if own else [])} if cases is not True else set()
        kept = {str(self.case_file)} if self.case_file and cases is not False else set()
        return {file: stamp(file) for file in files | kept}

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH)
            now = self._looked_at()
            changed = {f for f, stamp in now.items() if self._stamps.get(f, stamp) != stamp and stamp != (0, 0)}
            if not changed:
                self._stamps = {**now, **{f: s for f, s in self._stamps.items() if f in now and now[f] == (0, 0)}}
                continue
            self._stamps = now
            if str(self.case_file) in changed:
                self._read_cases()
                self.announce("cases", [asdict(c) for c in self.cases])
            if changed - {str(self.case_file)}:
                await self.load()

    def _read_cases(self) -> None:
        self._stamps |= self._looked_at(cases=True)
        try:
            self.cases = case_files.read(self.case_file)
            if self.is_application and self.case_file is not None and not self.case_file.is_file():
                self.cases = application.cases(Path(self.target))
                self.drawing.layout = application.about(Path(self.target))["layout"]
        except ModelError as error:
            self._say(self.status.phase, self.status.text, [problem(d) for d in error.diagnostics])
