"""Streams: what a flow carries, where connectors meet; as integer arrays and one template for each number of connectors.

*Problem.* At a node meet connectors j with flows m_j (positive into their components; they sum to zero) and values h_j that would
leave them. What would enter connector i is the mixture of what leaves the others,

    h_in,i = Σ_{j≠i} w_j h_j / Σ_{j≠i} w_j,   w_j = max(-m_j, 0).

So the flow carries as much out of the node as into it, Σ m_j h_j = 0 with h_j what actually passes: for every i into which it
flows w_i is zero, and all of them get the same mixture (Franke et al., Stream connectors, Modelica conference 2009).

- *One* connector: nothing passes; what would enter is what would leave.
- *Two*: what enters one is what leaves the other. These are aliases: no unknown, no equation, and no flow in them.
- *Three or more*: one row for each connector. Where nothing leaves the others, σ_i = Σ_{j≠i} w_j = 0, the quotient says nothing,
  and each of them counts alike: w_j + ε (1 - s(σ_i / ε)), where the smooth step s is exactly 1 from ε on; and w_j itself leaves
  zero without a corner, and is exactly -m_j from ε on. Above that flow (1e-10 of its typical size) mixing is exact; at zero it is
  regular. No event is made: what passes, m h, is continuous.

*Why ε cannot be zero.* Let two connectors give a and b, and one take a + b. Nothing is lost if and only if h_in is
(a h_1 + b h_2)/(a + b), whose limit for a, b → 0 is any value between h_1 and h_2, as a/b is: no function that is continuous at
zero flow is exact everywhere around it. What is left open is bounded: below ε a flow carries a mixture that is wrong by at most
Δh = max h - min h, so that a node loses or gains less than ε Δh, 1e-10 of what it passes when the plant runs.

*Why ε can be so small.* Mixtures are explicit variables, in algebraic loops, too (`explicit.py`): no iteration has to find them,
they lie between what leaves whatever the flows are, and how steeply they turn at zero flow matters for m h alone, where m is
small. An unknown that is solved for needed 1e-6, and lost what the tolerance of the iteration left of its equation.

*Where it flows into the node.* What would enter a connector i that gives, m_i < 0, is carried by no flow, and any mean will do. But
components look at it: near zero flow what they feel lies between both ends. With weights alone it would turn from one neighbour to
another within 1e-12 kg/s while 1e-7 kg/s pass the node, and no step came past that. So there ε grows with what connector i gives,
ε_i = ε + max(-m_i, 0): what would enter changes no faster than what passes.

The connector of a composite has two sides. Seen from the node inside, what leaves it into the node is what enters it from outside,
and its flow counts with the opposite sign.

Nodes of more than `MOST_WRITTEN_OUT` connectors are rows to which each pair adds (w_j + ε/100 (1 - s(m_i / ε))) (h_in,i - h_j):
since σ_i ≥ m_i, mixing is exact again for everyone into whom more than ε flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..language.expression import Constant, Expression, Slot, apply
from ..records import dataclass

if TYPE_CHECKING:
    from .plant import Kind, Plant, Quantity

MOST_WRITTEN_OUT = 8
LEAST = 0.01  # of that: with what each of very many counts that does not leave
SMALL = 1e-10  # of the flow's typical size: below it, nothing can be said to flow


@dataclass(slots=True, eq=False)
class Meetings:
    """The ends of flows (outside their component, or inside it) and the nodes at which they meet."""

    label: np.ndarray  # of each end, its node
    flow: np.ndarray  # its variable
    sign: np.ndarray  # so that sign · flow goes into what is connected there
    inside: np.ndarray  # whether it is the inner side of a composite's connector


@dataclass(slots=True, eq=False)
class Mixing:
    """Rows for nodes of `size` connectors: what enters the first of each row, from what leaves the others."""

    size: int
    inflow: np.ndarray  # (row,)
    outflow: np.ndarray  # (other, row)
    flow: np.ndarray  # (connector, row): the one that is entered comes first
    sign: np.ndarray  # (connector, row)
    small: np.ndarray  # (row,) ε

    @property
    def count(self) -> int:
        return len(self.inflow)


def meeting_streams(plant: Plant, ends: Meetings, connected: np.ndarray) -> tuple[list[Mixing], np.ndarray]:
    """Rows of mixing for all nodes of three and more, and pairs of variables that are equal at smaller ones."""
    mixed: list[Mixing] = []
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for name, elements in dict.fromkeys(_streams(plant)):
        flow, out, into, small = _tables(plant, name, elements)
        connected[out.ravel()] = connected[into.ravel()] = True
        row_of = np.full(plant.variable_count, -1, dtype=np.int64)
        row_of[flow] = np.arange(len(flow))
        here = np.flatnonzero(row_of[ends.flow] >= 0)
        here = here[np.argsort(ends.label[here], kind="stable")]
        row, inner = row_of[ends.flow[here]], ends.inside[here, None]
        leaves, enters = np.where(inner, into[row], out[row]), np.where(inner, out[row], into[row])
        _, size = np.unique(ends.label[here], return_counts=True)
        first = np.cumsum(size) - size
        for number in np.unique(size).tolist():
            chosen = first[size == number][:, None] + np.arange(number)  # (node, end)
            if number == 1:
                pairs.append(np.stack([enters[chosen[:, 0]].ravel(), leaves[chosen[:, 0]].ravel()], axis=1))
            elif number == 2:
                for a, b in ((0, 1), (1, 0)):
                    pairs.append(np.stack([enters[chosen[:, a]].ravel(), leaves[chosen[:, b]].ravel()], axis=1))
            else:
                mixed.append(_mixing(chosen, enters, leaves, ends.flow[here], ends.sign[here], small[row]))
    return mixed, np.concatenate(pairs)


def _mixing(
    chosen: np.ndarray, enters: np.ndarray, leaves: np.ndarray, flow: np.ndarray, sign: np.ndarray, small: np.ndarray
) -> Mixing:
    """Each end of each node in turn, with the others beside it; elements of an array stream one after the other."""
    number, elements = chosen.shape[1], enters.shape[1]
    turned = np.stack([np.roll(np.arange(number), -k) for k in range(number)])  # (turn, place): the one that is entered comes first
    order = chosen[:, turned].reshape(-1, number)  # (node and turn, place)

    def repeated(values: np.ndarray) -> np.ndarray:
        return np.repeat(values, elements, axis=-1)

    return Mixing(
        number,
        enters[order[:, 0]].ravel(),
        leaves[order[:, 1:]].transpose(1, 0, 2).reshape(number - 1, -1),
        repeated(flow[order].T),
        repeated(sign[order].T),
        repeated(small[order].max(axis=1)),
    )


def _streams(plant: Plant) -> list[tuple[str, int]]:
    """Members of connectors that are streams, by the name they have in their own connector, for one within another meets plain
    ones, and by their size: compositions of two circuits have the same name and different lengths."""
    return [
        _stream_of(kind, quantity)
        for kind in plant.kinds
        for quantity in kind.quantities.values()
        if quantity.connector is not None and quantity.declaration.stream == "outflow" and kind.count * quantity.size
    ]


def _stream_of(kind: Kind, quantity: Quantity) -> tuple[str, int]:
    """The name of a stream in its own connector, and how many elements one flow carries."""
    assert quantity.connector is not None
    flow = kind.quantities[f"{quantity.connector.name}.{quantity.declaration.with_}"]
    return quantity.name.split(".")[-2], quantity.size // flow.size


def _tables(plant: Plant, name: str, elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every connector with this stream: its flow, what leaves and what enters (connector, element), and ε."""
    flows, outs, ins, smalls = [], [], [], []
    for kind in plant.kinds:
        for quantity in kind.quantities.values():
            port = quantity.connector
            if port is None or quantity.declaration.stream != "outflow" or not kind.count * quantity.size:
                continue
            if _stream_of(kind, quantity) != (name, elements):
                continue
            flow = kind.quantities[f"{port.name}.{quantity.declaration.with_}"]
            into = kind.quantities[f"{quantity.name.removesuffix('outflow')}inflow"]
            count, numbers = kind.count * flow.size, np.arange(kind.count * quantity.size)
            flows.append(np.arange(flow.base, flow.base + count))
            outs.append((quantity.base + numbers).reshape(count, elements))
            ins.append((into.base + numbers).reshape(count, elements))
            nominal = flow.declaration.nominal
            typical = abs(float(nominal)) if isinstance(nominal, (int, float)) and nominal else 1.0
            smalls.append(np.full(count, SMALL * typical))
    return np.concatenate(flows), np.concatenate(outs), np.concatenate(ins), np.concatenate(smalls)


# --- templates ------------------------------------------------------------------------------------------------------------------


def mixture(others: int) -> Expression:
    """`h_in - Σ w h / Σ w` over slots: h_in, then h and flow of each of the others, then ε."""
    leaves = [Slot(1 + 2 * k, "variable") for k in range(others)]
    flows: list[Expression] = [Slot(2 + 2 * k, "variable") for k in range(others)]
    small = _grown(_sum(flows), Slot(2 * others + 1, "known"))
    weights = [_positive(-flow, small) for flow in flows]
    total = _sum(weights)
    spread = small * _fades(total, small)
    weights = [w + spread for w in weights]
    return Slot(0, "variable") - _sum([w * h for w, h in zip(weights, leaves, strict=True)]) / _sum(weights)


def _grown(given: Expression, small: Expression) -> Expression:
    """ε of a connector that gives so much to the node, or takes it where that is negative."""
    return small + _positive(given, small)


def _positive(flow: Expression, small: Expression) -> Expression:
    """max(flow, 0) without a corner: exact below zero and from `small` on, ``small·u²(2 - u)`` with u = flow/small between them."""
    u = flow / small
    inner = apply("min", apply("max", u, Constant(0.0)), Constant(1.0))
    return small * (apply("max", u, Constant(1.0)) - 1.0 + inner * inner * (2.0 - inner))


def _fades(flow: Expression, small: Expression) -> Expression:
    """1 where nothing flows, 0 from `small` on."""
    ratio = apply("min", apply("max", flow / small, Constant(0.0)), Constant(1.0))
    return 1.0 - ratio * ratio * (3.0 - 2.0 * ratio)


def pairwise() -> Expression:
    """`w (h_in - h)`: what one of many others adds; slots h_in, h, its flow, the flow of the one that is entered, ε."""
    small = _grown(-Slot(3, "variable"), Slot(4, "known"))
    weight = _positive(-Slot(2, "variable"), small) + LEAST * small * _fades(Slot(3, "variable"), small)
    return weight * (Slot(0, "variable") - Slot(1, "variable"))


def _sum(terms: list[Expression]) -> Expression:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
