"""The examples of docs/diagnosis.md are what is printed."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "diagnosis.md"


def test_examples() -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = PAGE.read_text(encoding="utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, "diagnosis", str(PAGE), 0)
    assert len(examples.examples) >= 7
    told: list[str] = []
    results = doctest.DocTestRunner(optionflags=options).run(examples, out=told.append)
    assert results.failed == 0, "".join(told)
