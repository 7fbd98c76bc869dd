"""The command line: `acausal run | check | info | solvers | bench | demo`. One command a file; `app` puts them together."""

from __future__ import annotations


def main() -> None:
    """The console script."""
    from .app import app

    app()
