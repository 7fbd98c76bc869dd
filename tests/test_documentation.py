"""The examples of the documentation print what the pages say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"

PAGES = [
    ("analysis.md", 8),
    ("cabinet.md", 40),
    ("components.md", 35),
    ("diagnosis.md", 7),
    ("events.md", 40),
    ("guide.md", 20),
    ("media.md", 8),
    ("plants.md", 10),
    ("precompiled.md", 11),
    ("results.md", 12),
    ("studies.md", 12),
    ("tasks.md", 55),
]


@pytest.mark.parametrize(("page", "least"), PAGES)
def test_examples(page: str, least: int) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = (DOCS / page).read_text(encoding="utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, page, str(DOCS / page), 0)
    assert len(examples.examples) >= least
    told: list[str] = []
    results = doctest.DocTestRunner(optionflags=options).run(examples, out=told.append)
    assert results.failed == 0, "".join(told)
