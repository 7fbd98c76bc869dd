"""`python -m tests.fuzz --count 1000 --seed 0 --only circuits`: random models, judged; what is not good is printed.

`--total 100000` shares that many among the generators, more of those whose models are quick, and `--processes` works on them side
by side. Models are judged in processes of their own, a batch each, so that one that ends its process is a verdict as well."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict

from acausal.kernels import compile as kernels

from .verdict import GENERATORS, GOOD, SHARES, Verdict, judge

BATCH = 50  # models a process: a start of Python is then a hundredth of its time
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # of linear algebra in second opinions: batches are side by side
PACE = 30.0  # seconds after which a search says how far it is
WELL = 8  # one batch in so many is compiled as users have it; the others in haste, with the same bits: each model runs once


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="models of each generator")
    parser.add_argument("--total", type=int, help="models of all generators together, instead of a count of each")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=GENERATORS, action="append", help="these generators alone")
    parser.add_argument("--processes", type=int, default=1, help="batches that are judged side by side")
    parser.add_argument("--batch", nargs=3, metavar=("GENERATOR", "FIRST", "COUNT"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.batch:
        return _judge_batch(asked.batch[0], int(asked.batch[1]), int(asked.batch[2]))
    generators = asked.only or GENERATORS
    counts = _counts(generators, asked.total) if asked.total else dict.fromkeys(generators, asked.count)
    said: dict[str, Counter[str]] = {generator: Counter() for generator in generators}
    begun = told = time.monotonic()
    with ThreadPoolExecutor(asked.processes) as pool:
        work = [pool.submit(lambda batch: list(_in_a_process(*batch)), batch) for batch in _batches(counts, asked.seed)]
        try:
            for done in as_completed(work):
                for verdict in done.result():
                    said[verdict.generator][verdict.said] += 1
                    if not verdict.good:
                        print(f"{verdict.generator} {verdict.seed}: {verdict.said}: {verdict.why}", flush=True)
                if time.monotonic() > told + PACE:
                    told = time.monotonic()
                    judged = sum(said.values(), Counter()).total()
                    print(f"{judged} of {sum(counts.values())} models after {told - begun:.0f} s", file=sys.stderr, flush=True)
        except KeyboardInterrupt:  # what was found until then is told
            pool.shutdown(wait=False, cancel_futures=True)
    for generator, verdicts in said.items():
        print(f"{generator}: " + ", ".join(f"{n} {what}" for what, n in verdicts.most_common()))
    total = sum(said.values(), Counter())
    print(f"in all: {total.total()} models, {total.total() - sum(total[good] for good in GOOD)} of them not good")
    return 0 if all(what in GOOD for what in total) else 1


def _counts(generators: tuple[str, ...] | list[str], total: int) -> dict[str, int]:
    """As many models of each generator as its share asks for, `total` in all."""
    whole, left, counts = sum(SHARES[generator] for generator in generators), total, {}
    for generator in generators:
        counts[generator] = round(left * SHARES[generator] / whole)
        left, whole = left - counts[generator], whole - SHARES[generator]
    return counts


def _batches(counts: dict[str, int], seed: int) -> list[tuple[str, int, int]]:
    """Batches of all generators in turn, so that a search that is cut short has seen all of them."""
    batches = [
        (start / count, generator, seed + start, min(BATCH, count - start))
        for generator, count in counts.items()
        for start in range(0, count, BATCH)
    ]
    return [batch[1:] for batch in sorted(batches)]


def _in_a_process(generator: str, first: int, count: int) -> Iterator[Verdict]:
    """Verdicts on models `first`, `first + 1` …; where one ends the process, the next process goes on behind it."""
    last = first + count
    while first < last:
        command = [sys.executable, "-m", __package__, "--batch", generator, str(first), str(last - first)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=ONE_THREAD | os.environ)
        for line in ran.stdout.splitlines():
            if line.startswith('{"generator"'):
                first += 1
                yield Verdict(**json.loads(line))
        if first < last:
            yield Verdict(generator, first, "crashes", f"exit code {ran.returncode}\n{ran.stderr[-2000:]}")
            first += 1


def _judge_batch(generator: str, first: int, count: int) -> int:
    if first // BATCH % WELL:
        kernels.MANY = 0
    for seed in range(first, first + count):
        print(json.dumps(asdict(judge(generator, seed))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
