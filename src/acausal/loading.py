"""`ac.load`: a file that this program wrote tells itself what it is, a result or a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .arguments import checked
from .container import opened
from .economy import uncollected

if TYPE_CHECKING:
    from .model.model import Model
    from .program.pack import Pack
    from .results.store import LoadedResult


@checked
def load(path: str | os.PathLike[str]) -> Model | LoadedResult | Pack:
    """What `result.save`, `model.save` or `ac.pack` wrote: a result, a model, or component classes. Nothing in the file is
    executed, and no source is needed.

    model = ac.load("plant.acm")
    result = ac.load("run.acausal")
    Compressor = ac.load("vendor.acp").Compressor
    """
    with opened(path, "acausal model", "acausal result", "acausal components") as archive:
        kind = archive.about["format"]
    with uncollected():  # a hundred modules, and all that the file holds
        if kind == "acausal components":
            from .program.pack import load as load_components

            return load_components(path)
        if kind == "acausal model":
            from .model.model import load_model

            return load_model(path)
        from .results.store import load as load_result

        return load_result(path)
