"""The examples in the docstrings."""

import doctest
from importlib import import_module

import pytest

from .graphs import ENGINES, using

MODULES = ["blocks", "dulmage_mendelsohn", "incidence", "matching", "native", "pantelides", "unions"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODULES)
def test_examples(name, engine):
    with using(engine):
        outcome = doctest.testmod(import_module(f"acausal.structure.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
