"""Random sequences of edits on all examples: `python -m tests.studio.edits --count 10000 --seed 0`."""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import Counter
from pathlib import Path

from acausal.studio.editing import Locked, Source

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def classes(text: str) -> list[str]:
    found = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    return [n.name for n in found if any(isinstance(m, ast.FunctionDef) and m.name == "connections" for m in n.body)]


def ends(source: Source) -> list[list[str]]:
    return [[ast.unparse(e) for e in some] for _, some in source.connections()]


def edit_at_random(text: str, chance: random.Random, steps: int = 8) -> list[str]:
    """A sequence of edits, and which were made; after each the file parses, the class has what was meant, and lines that were not
    touched are there."""
    found = classes(text)
    if not found:
        return []
    name, made = chance.choice(found), list[str]()
    for _ in range(steps):
        source = Source(text, name)
        parts, wires = source.parts(), list(source.connections())
        what = chance.choice(["add", "remove", "connect", "disconnect", "set", "copy", "array"])
        expected = Counter(map(tuple, ends(source)))
        try:
            if what == "add":
                new = source.free_name("HeatCapacitor")
                edits = source.added(new, "HeatCapacitor", "acausal.library.thermal")
            elif what == "remove" and parts:
                gone = chance.choice(sorted(parts))
                edits = source.removed(gone)
            elif what == "connect" and len(parts) > 1:
                a, b = chance.sample(sorted(parts), 2)
                edits = source.connected(f"{a}.p", f"{b}.q")
            elif what == "disconnect" and wires:
                statement, some = chance.choice(wires)
                texts = [ast.unparse(e).removeprefix("self.") for e in some]
                edits = source.disconnected(statement.lineno, texts[0], chance.choice(texts[1:]))
            elif what == "set" and parts:
                edits = source.given(chance.choice(sorted(parts)), "nominal", repr(chance.random()))
            elif what == "copy" and parts:
                edits, called = source.copied(chance.sample(sorted(parts), chance.randint(1, min(3, len(parts)))))
            elif what == "array" and parts:
                many = chance.choice(sorted(parts))
                edits = source.arrayed(many, chance.choice([0, 2, 7]))
            else:
                continue
        except Locked:
            continue
        after = source.apply(edits)
        now = Source(after, name)
        kept = Counter(after.splitlines()) & Counter(text.splitlines())
        touched = Counter(text.splitlines()) - kept
        more = 4 * (what == "disconnect")
        if what == "remove":  # all lines of its statement, and of its wires
            call = parts[gone].call
            more = len(wires) + (call.end_lineno or call.lineno) - call.lineno
        assert sum(touched.values()) <= 1 + len(edits) + more
        if what == "add":
            assert set(now.parts()) == {*parts, new} and Counter(map(tuple, ends(now))) == expected
        elif what == "remove":
            assert set(now.parts()) == set(parts) - {gone} and not any(
                e.startswith(f"self.{gone}.") for some in ends(now) for e in some
            )
        elif what == "copy":
            assert set(now.parts()) == {*parts, *called.values()} and not set(called.values()) & set(parts)
            for old, new in called.items():
                assert ast.unparse(now.parts()[new].call) == ast.unparse(parts[old].call)
            inner = [e for e in ends(source) if all(x.split(".")[1].split("[")[0] in called and x.count(".") > 1 for x in e)]
            assert sum(map(len, ends(now))) == sum(map(len, ends(source))) + sum(map(len, inner))
        elif what == "array":
            assert set(now.parts()) == set(parts) and Counter(map(tuple, ends(now))) == expected
        elif what == "connect":
            assert Counter(map(tuple, ends(now))) == expected + Counter([(f"self.{a}.p", f"self.{b}.q")])
        elif what == "disconnect":
            assert sum(len(e) - 1 for e in ends(now)) == sum(len(e) - 1 for e in ends(source)) - 1
        text = after
        made.append(what)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.studio.edits", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="sequences")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    texts = [(example.name, example.read_text(encoding="utf-8")) for example in EXAMPLES]
    bad, made = 0, Counter[str]()
    for seed in range(asked.seed, asked.seed + asked.count):
        name, text = texts[seed % len(texts)]
        try:
            made.update(edit_at_random(text, random.Random(seed)))
        except Exception as error:
            bad += 1
            print(f"{name} {seed}: {type(error).__name__} {error}", flush=True)
    print(
        f"{asked.count} sequences on {len(texts)} examples, {bad} bad; edits: "
        + ", ".join(f"{n} {w}" for w, n in made.most_common())
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
