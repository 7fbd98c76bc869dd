"""Where the cases of a study run: threads of this process, processes, or whatever executor or cluster a user has.

Each way is a function that takes chunks of cases and yields their rows as they come, in any order. At most a few chunks a worker
are under way at a time, so that a hundred thousand cases do not wait in memory. A worker that dies takes nothing with it: its
chunk is run again, case by case, and only the case that kills its worker every time becomes a failed row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from ..errors import UsageError
from .case_run import Job, Row, run_chunk

Chunk = Sequence[tuple[int, Mapping[str, Any]]]
Where = str | Any | None

_AHEAD = 2  # chunks that wait for each worker
_AWAKE = 0.5  # seconds: the system may hand Ctrl-C to any thread, and the main one, which has to act on it, must not sleep longer


def rows_of(job: Job, chunks: Iterable[Chunk], where: Where, workers: int | None, start_from: Any = None) -> Iterator[Row]:
    """The rows of all chunks, as they come."""
    count = workers or os.cpu_count() or 1
    if isinstance(where, np.ndarray):
        where = where.tolist()  # told below
    if where is None or where == "threads":
        with ThreadPoolExecutor(count) as pool:
            yield from _in_threads(job, chunks, pool, count, start_from)
    elif where == "processes":
        yield from _in_processes(job, chunks, count, start_from)
    elif where == "serial":
        for chunk in chunks:
            yield from run_chunk(job, chunk, start_from)
    elif hasattr(where, "scatter") and hasattr(where, "submit"):
        yield from _on_cluster(job, chunks, where, start_from)
    elif hasattr(where, "submit"):
        yield from _with_executor(job, chunks, where, count, start_from)
    elif type(where).__module__.partition(".")[0] == "joblib" and callable(where):
        yield from _with_joblib(job, chunks, where, start_from)
    else:
        raise UsageError(
            f"`executor` cannot be {where!r}.",
            remedy='"threads", "processes", an executor of concurrent.futures, a Dask client, or joblib.Parallel(…).',
        )


def _stream(submit: Callable[[Chunk], Future[list[Row]]], chunks: Iterable[Chunk], workers: int) -> Iterator[Row]:
    """Submit as many chunks as keep the workers busy, and give back what is done."""
    waiting: set[Future[list[Row]]] = set()
    source = iter(chunks)
    try:
        waiting |= {submit(chunk) for chunk in islice(source, _AHEAD * workers)}
        while waiting:
            done, waiting = wait(waiting, _AWAKE, FIRST_COMPLETED)
            waiting |= {submit(chunk) for chunk in islice(source, len(done))}
            for future in done:
                yield from future.result()
    finally:
        for future in waiting:
            future.cancel()


def _in_threads(job: Job, chunks: Iterable[Chunk], pool: Executor, workers: int, start_from: Any) -> Iterator[Row]:
    """Ctrl-C comes to the main thread alone: when it leaves, what runs in the others is told to stop where it is."""
    stop = Event()
    try:
        yield from _stream(lambda chunk: pool.submit(run_chunk, job, chunk, start_from, stop), chunks, workers)
    finally:
        stop.set()


# --- processes ----------------------------------------------------------------------------------------------------------------

_job: Job | None = None  # of a worker process
_start_from: Any = None


def _receive(job: Job, start_from: Any) -> None:
    global _job, _start_from
    _job, _start_from = job, start_from


def _run_received(chunk: Chunk) -> list[Row]:
    assert _job is not None
    return run_chunk(_job, chunk, _start_from)


def _in_processes(job: Job, chunks: Iterable[Chunk], workers: int, start_from: Any) -> Iterator[Row]:
    """Processes of this machine, each sent the model once."""
    from multiprocessing import get_context

    _check_main()

    def pool() -> ProcessPoolExecutor:
        return ProcessPoolExecutor(workers, get_context("spawn"), _receive, (job, start_from))

    yield from _surviving(pool, chunks, workers, len(job.columns))


def _check_main() -> None:
    """Processes import the script anew: one that runs the study while it is imported would start processes without end."""
    from multiprocessing import current_process

    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if getattr(current_process(), "_inheriting", False) or (file and "__main__" not in _text(file)):
        raise UsageError(
            "Processes import the script that starts them, and this one runs its study while it is imported.",
            remedy='Put what the script does below `if __name__ == "__main__":`, or leave `executor` out: threads need none.',
        )


def _text(file: str) -> str:
    if Path(file).stem in ("__main__", "ipython"):  # not imported by other processes, whatever they do
        return "__main__"
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:  # no file after all: an interactive session
        return "__main__"


def _surviving(pool: Callable[[], Executor], chunks: Iterable[Chunk], workers: int, width: int) -> Iterator[Row]:
    """Run on pools that may break; what was under way in a broken one is tried again in a new one, case by case."""
    source = iter(chunks)
    again: list[Chunk] = []
    suspects: set[int] = set()  # cases that were under way when a pool broke; each of them is tried once more, alone
    while True:
        under_way: dict[Future[list[Row]], Chunk] = {}
        executor = pool()
        try:
            _submit(executor, under_way, again, source, _AHEAD * workers)
            while under_way:
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    rows = future.result()  # raises if the pool is broken
                    del under_way[future]
                    yield from rows
                _submit(executor, under_way, again, source, _AHEAD * workers - len(under_way))
            return
        except BrokenExecutor:
            for future, chunk in under_way.items():
                if future.done() and future.exception() is None:
                    yield from future.result()
                    continue
                numbers = {number for number, _ in chunk}
                if numbers <= suspects:  # the second time, and it was alone: nobody else can have done it
                    yield _killer(chunk[0][0], width)
                else:
                    suspects |= numbers
                    again += [[case] for case in chunk]
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _submit(
    executor: Executor, under_way: dict[Future[list[Row]], Chunk], again: list[Chunk], source: Iterator[Chunk], most: int
) -> None:
    """Give the pool more to do, suspects one at a time; what a broken pool no longer takes is kept for the next one."""
    chunks = ([again.pop(0)] if not under_way else []) if again else list(islice(source, most))
    for k, chunk in enumerate(chunks):
        try:
            under_way[executor.submit(_run_received, chunk)] = chunk
        except BrokenExecutor:
            again[:0] = chunks[k:]
            raise


def _killer(number: int, width: int) -> Row:
    what = "The process that ran this case alone died (out of memory, or a crash in a function that was called)."
    return Row(number, (float("nan"),) * width, "WORKER_DIED", float("nan"), what)


# --- what a user brings ---------------------------------------------------------------------------------------------------------


def _with_executor(job: Job, chunks: Iterable[Chunk], executor: Any, workers: int, start_from: Any) -> Iterator[Row]:
    """An executor of `concurrent.futures`, or anything with its `submit`."""
    count = getattr(executor, "_max_workers", workers)
    if isinstance(executor, ThreadPoolExecutor):
        yield from _in_threads(job, chunks, executor, count, start_from)
        return
    try:
        yield from _stream(lambda chunk: executor.submit(run_chunk, job, chunk, start_from), chunks, count)
    except BrokenExecutor as error:
        raise _lost(f"executor {type(executor).__name__}", error) from error


def _lost(what: str, error: BaseException) -> UsageError:
    reason = str(error).strip() or type(error).__name__
    return UsageError(
        f"The {what} broke down ({reason.splitlines()[0]}).",
        remedy="With `keep=` every case that is done is kept: run the same study again with another executor, and it goes on.",
    )


def _with_joblib(job: Job, chunks: Iterable[Chunk], parallel: Any, start_from: Any) -> Iterator[Row]:
    from joblib import delayed

    for rows in parallel(delayed(run_chunk)(job, chunk, start_from) for chunk in chunks):
        yield from rows


def _on_cluster(job: Job, chunks: Iterable[Chunk], client: Any, start_from: Any) -> Iterator[Row]:
    """An existing Dask cluster. The model is a task of its own, so that Dask makes it again where it was lost with a worker; and
    Dask itself runs again what a lost worker had to do."""
    from distributed import CancelledError, as_completed
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    shared = client.submit(_given, job, pure=False)
    first = client.submit(_given, start_from, pure=False) if start_from is not None else None
    under_way: dict[str, Chunk] = {}

    def submitted(chunk: Chunk) -> Any:
        future = client.submit(run_chunk, shared, chunk, first, pure=False)
        under_way[future.key] = chunk
        return future

    source = iter(chunks)
    ahead = _AHEAD * max(1, len(client.scheduler_info()["workers"]))
    completed = as_completed([submitted(chunk) for chunk in islice(source, ahead)])
    for future in completed:
        chunk = under_way.pop(future.key)
        try:
            rows = future.result()
        except KilledWorker:  # it killed every worker that tried it: case by case, it is seen which one does
            rows = [_killer(chunk[0][0], len(job.columns))] if len(chunk) == 1 else []
            completed.update([submitted([case]) for case in chunk] if len(chunk) > 1 else [])
        except (CommClosedError, CancelledError, OSError) as error:
            raise _lost("cluster", error) from error
        completed.update([submitted(more) for more in islice(source, 1)])
        yield from rows


def _given(value: Any) -> Any:
    return value
