"""The server's hold on a worker: it asks, hears, and notices when the worker is no more."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import Diagnostic
from .pipe import LENGTH, MOST
from .protocol import head_of, packed, problem

Heard = Callable[["Process", dict[str, Any], bytes], None]

_PRINTED = 20_000  # characters of what a model prints that are kept
_PATIENCE = 2.0  # seconds a worker has to end by itself


class Gone(Exception):
    """The worker ended; the problems say how."""

    def __init__(self, problems: list[dict[str, Any]]) -> None:
        super().__init__(problems[0]["what"])
        self.problems = problems


class Process:
    """One worker process. `heard` is called with every frame that answers no question of ours."""

    def __init__(self, folder: Path, megabytes: int, heard: Heard, ended: Callable[[Process], None]) -> None:
        self.folder, self.megabytes, self.heard, self.ended = folder, megabytes, heard, ended
        self.runs: set[str] = set()
        self.last = ""  # the run that was begun last: it alone can be continued
        self.printed = ""
        self.why: list[dict[str, Any]] = []  # said by whoever ends it
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._count = 0
        self._tasks: list[asyncio.Task[None]] = []
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "acausal.studio.worker", str(self.folder), str(self.megabytes))
        self.process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 20)
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._overhear())]

    def begins(self, run: str) -> None:
        """A run is its own from now on, and the one that can be continued."""
        self.runs.add(run)
        self.last = run

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.returncode is None

    # --- talking --------------------------------------------------------------------------------------------------------------
    def send(self, head: dict[str, Any]) -> None:
        """Say something without waiting for an answer."""
        if self.process is None or self.process.stdin is None or not self.alive:
            raise Gone(self.how())
        frame = packed(head)
        self.process.stdin.write(LENGTH.pack(len(frame)) + frame)

    async def ask(self, what: str, **given: Any) -> dict[str, Any]:
        """The head of the answer."""
        self._count += 1
        number = -self._count  # ours are negative: the page's questions pass through with their own
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self.send({"id": number, "ask": what, **given})
        return await future

    async def _listen(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        stream = self.process.stdout
        try:
            while True:
                (size,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
                if size > MOST:
                    break
                self._take(await stream.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        await self._close()

    def _take(self, frame: bytes) -> None:
        head = head_of(frame)
        number = head.get("id")
        if isinstance(number, int) and number in self._waiting:
            future = self._waiting.pop(number)
            if not future.done():  # whoever asked may have lost patience
                future.set_result(head)
        else:
            self.heard(self, head, frame)

    async def _overhear(self) -> None:
        """What the model prints, and what a dying interpreter says."""
        assert self.process is not None and self.process.stderr is not None
        while text := await self.process.stderr.read(4096):
            self.printed = (self.printed + text.decode(errors="replace"))[-_PRINTED:]
            self.heard(self, {"notice": "printed"}, b"")

    # --- ending ---------------------------------------------------------------------------------------------------------------
    async def _close(self) -> None:
        assert self.process is not None
        try:
            await asyncio.wait_for(self.process.wait(), _PATIENCE)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"refused": self.how()})
        self._waiting.clear()
        self.ended(self)

    def kill(self, why: str = "", remedy: str = "") -> None:
        """End it now. What it had written stays."""
        if self.alive and self.process is not None:
            if why:
                self.why = [asdict(problem(Diagnostic(why, remedy=remedy)))]
            self.process.kill()

    async def gone(self) -> None:
        """Wait until it is no more."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def how(self) -> list[dict[str, Any]]:
        return self.why or [asdict(problem(self._ending()))]

    def _ending(self) -> Diagnostic:
        code = None if self.process is None else self.process.returncode
        last = tuple(self.printed.strip().splitlines()[-8:])
        who = "The process of this run" if self.runs else "The process that reads the model's file"
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            what = f"{who} was ended by {name}: {_MEANINGS.get(name, 'the system stopped it')}."
            again = (
                "The model is loaded again; other runs are not touched."
                if self.runs
                else "Mend the file; it is read again when it is saved."
            )
            return Diagnostic(what, details=last, remedy=again)
        what = f"{who} ended by itself with code {code}."
        remedy = "A function of the model called `exit`, or the interpreter gave up; the last lines it printed are above."
        return Diagnostic(what, details=last, remedy=remedy)


_MEANINGS = {
    "SIGKILL": "it was stopped from outside, or the machine was out of memory",
    "SIGSEGV": "a compiled function touched memory that is not its own",
    "SIGABRT": "a compiled library gave up, often for want of memory",
    "SIGFPE": "a compiled function divided by zero",
    "SIGBUS": "a file that was mapped into memory became shorter",
    "SIGTERM": "it was asked to end from outside",
}
