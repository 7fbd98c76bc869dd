"""Connections that were probably forgotten.

A connector may be left open: an insulated wall, the free end of a shaft. But a component through which nothing can pass any more
because one of its connectors is open has no part in the plant: a resistor with one end in the air, a volume to which nothing leads.
"""

from __future__ import annotations

import numpy as np

from .plant import ZERO
from .system import System


def useless_connectors(system: System, most: int) -> list[str]:
    """Open connectors of components all of whose flows are zero because of it, by path; the first `most`."""
    plant, aliases, found = system.plant, system.aliases, list[str]()
    is_open = np.zeros(plant.variable_count, dtype=bool)
    is_open[system.open_flows] = True
    nothing = is_open | (aliases.known & (aliases.index == ZERO))[: plant.variable_count]
    for kind in plant.kinds:
        flows = [q for q in kind.quantities.values() if q.flow_sign and q.connector is not None]
        if kind is plant.root.kind or not flows:
            continue
        blocks = [q.base + np.arange(kind.count * q.size).reshape(kind.count, q.size) for q in flows]
        idle = np.logical_and.reduce([nothing[block].all(axis=1) for block in blocks])
        for block in blocks:
            for number in block[idle][is_open[block[idle]]][:most]:
                name = plant.name_of(int(number)).rpartition(".")[0]
                if name not in found:
                    found.append(name)
    return found[:most]
