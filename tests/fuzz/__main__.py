"""`python -m tests.fuzz --count 1000 --seed 0 --only circuits`: random models, judged; what is not good is printed."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .verdict import GENERATORS, judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="models of each generator")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=GENERATORS, action="append", help="these generators alone")
    asked = parser.parse_args()
    bad = 0
    for generator in asked.only or GENERATORS:
        said: Counter[str] = Counter()
        for seed in range(asked.seed, asked.seed + asked.count):
            verdict = judge(generator, seed)
            said[verdict.said] += 1
            if not verdict.good:
                bad += 1
                print(f"{generator} {seed}: {verdict.said}: {verdict.why}", flush=True)
        print(f"{generator}: " + ", ".join(f"{n} {what}" for what, n in said.most_common()), flush=True)
    return 1 if bad else 0


sys.exit(main())
