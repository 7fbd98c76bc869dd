"""A catalogue and a model as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from .. import html
from ..readable import count
from .evaluator import Evaluator

MOST = 60


class Catalogue(dict[str, Any]):
    """`model.catalogue()`: plain data, with a tree that can be unfolded in a notebook."""

    def _repr_html_(self) -> str:
        kinds: list[dict[str, Any]] = self["kinds"]
        rows = list(islice(_nodes(self["tree"], kinds), MOST + 1))
        tree = html.table(["component", "class", "what it is"], rows[:MOST], more=len(rows) - MOST)
        folds = [html.fold(_kind_title(kind), _quantities(kind)) for kind in kinds[:MOST]]
        return html.page(f"{self['title']}: {self['unknowns']} unknowns", tree, *folds)


def _nodes(node: dict[str, Any], kinds: list[dict[str, Any]], path: str = "") -> Iterator[tuple[str, str, str]]:
    kind = kinds[node["kind"]]
    times = f" × {node['instances']}" if node["instances"] > 1 else ""
    yield path or "(the model)", kind["class"] + times, kind["documentation"].split("\n")[0]
    for child in node.get("parts", ()):
        name = str(child["name"])
        yield from _nodes(child, kinds, f"{path}.{name}" if path else name)


def _kind_title(kind: dict[str, Any]) -> str:
    return f"{kind['class']}: {count(len(kind['quantities']), 'quantity', 'quantities')}"


def _quantities(kind: dict[str, Any]) -> str:
    found = kind["quantities"]
    rows = [(q["name"], q["role"], q["unit"], q["documentation"]) for q in found[:MOST]]
    return html.table(["name", "role", "unit", "what it is"], rows, more=len(found) - MOST)


def model_html(model: Any) -> str:
    """Counts, parameters and components of a model."""
    problem = model.problem
    counts = [
        ("unknowns of the solver", problem.size),
        ("of these, states", int(problem.differential.sum())),
        ("computed beside them", len(problem.lowered.explicit.unknown)),
        ("families of equations", len(problem.residual_kernels)),
    ]
    described = Evaluator.of_names(model.system)
    known, names = model._parameters.known({}), model._parameters.names()
    rows = [(name, f"{float(known[cell]):.6g}", described.unit(name)) for name, cell in islice(names, MOST)]
    more = sum(1 for _ in islice(names, 100_000))
    counted = f"{len(rows) + more} parameter{'' if len(rows) + more == 1 else 's'}"
    parameters = html.fold(counted, html.table(["name", "value", "unit"], rows, more=more))
    return html.page(f"Model of {model.title}", html.table(["", ""], counts), parameters)
