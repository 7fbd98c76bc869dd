"""Is there an equation for every unknown? If not: the component whose own count is off, and the variables left over."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.expression import Expression, Reference, walk
from ..structure.dulmage_mendelsohn import conflict, freedom
from ..structure.incidence import Incidence
from ..structure.matching import Matching, match
from .connections import connected_variables
from .pattern import Pattern
from .plant import Kind
from .slips import equation_without_yield, forgotten_base
from .system import System
from .traced import Traced

_MOST = 6


def check_structure(system: System, pattern: Pattern) -> None:
    """Raise with everything that can be said about missing and surplus equations; also when counts agree but structure does not."""
    if pattern.solution(system.equation_count, system.differential) is not None:
        return
    incidence = pattern.by_rows(system.equation_count)[0]
    matching = match(incidence)
    if len(matching.unmatched_equations) or len(matching.unmatched_unknowns):
        raise ModelError(*_singular(system, incidence, matching, system.complaints))


def _singular(system: System, incidence: Incidence, matching: Matching, local: list[Diagnostic]) -> list[Diagnostic]:
    """The most likely culprit first; where a class does not balance in itself, what follows for the model is told below it."""
    found = []
    for equation in matching.unmatched_equations[:_MOST]:
        piece = conflict(incidence, matching, int(equation))
        found.append(_too_many(system, piece.equations, piece.unknowns))
    for unknown in matching.unmatched_unknowns[:_MOST]:
        piece = freedom(incidence, matching, int(unknown))
        found.append(_too_few(system, piece.equations, piece.unknowns))
    if local:
        return [*local, _consequence(system, found)]
    return [replace(found[0], details=(*found[0].details, f"in all:    {_head(system)}")), *found[1:]]


def _head(system: System) -> str:
    n, m = system.size, system.equation_count
    counts = f"The model has {_count(m, 'equation')} for {_count(n, 'unknown')}."
    counts = counts if n != m else "The equations do not determine the unknowns, although there are as many of one as of the other."
    return f"{counts} This is caused by the structure of the model, not by its numbers."


def _consequence(system: System, found: list[Diagnostic]) -> Diagnostic:
    """Complaints about the whole model that may all have their cause in one class."""
    lines = [line for d in found[:2] for line in (d.what, *_as_line(d), *d.details)]
    more = [f"… and {len(found) - 2} more such complaints"] if len(found) > 2 else []
    return Diagnostic(_head(system), details=(*lines, *more), remedy="Mend the first complaint; this one may go with it.")


def _as_line(d: Diagnostic) -> list[str]:
    return [f"in:        {d.component}: {d.equation}" + (f"  ({d.location})" if d.location else "")] if d.equation else []


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def _too_many(system: System, equations: np.ndarray, unknowns: np.ndarray) -> Diagnostic:
    first = system.describe_equation(int(equations[0]))
    names = [system.name_of_unknown(int(u)) for u in unknowns[:_MOST]]
    surplus = len(equations) - len(unknowns)
    flow = _open_flow(system, int(equations[0])) if len(equations) == 1 and not len(unknowns) else ""
    if flow:
        port = flow.rpartition(".")[0]
        return replace(
            first,
            what=f"`{port}` is not connected to anything, so `{flow}` is 0, but an equation gives it another value.",
            remedy=f"Connect `{port}`, or remove its component.",
        )
    contain = "contains" if len(equations) == 1 else "contain"
    return Diagnostic(
        f"Too many equations: {_count(len(equations), 'equation')} {contain} only {_count(len(unknowns), 'unknown')}"
        f"{_list(names, len(unknowns))}.",
        component=first.component,
        equation=first.equation,
        location=first.location,
        details=tuple(_equation_lines(system, equations[1:])),
        remedy=f"Remove {'one' if surplus == 1 else surplus} of these equations: a value given twice, two sources at one node, "
        "a closed loop of flows.",
    )


def _open_flow(system: System, row: int) -> str:
    """The flow of a connector without any connection that stands in an equation; empty if there is none."""
    block = system.block_of(row)
    if block.kind is None or block.equation is None:
        return ""
    local = row - block.start if block.picked is None else int(block.picked[row - block.start])
    instance = local // max(int(np.prod(block.equation.shape)), 1)
    for node in walk(block.equation.residual):
        if isinstance(node, Reference) and not node.declaration.is_known:
            numbers = system.plant.numbers(block.kind, node)[instance].ravel()
            found = numbers[np.isin(numbers, system.open_flows)]
            if len(found):
                return system.plant.name_of(int(found[0]))
    return ""


def _too_few(system: System, equations: np.ndarray, unknowns: np.ndarray) -> Diagnostic:
    """The most likely cause first: a port that was forgotten, a potential that nothing holds, a missing equation."""
    names = [system.name_of_unknown(int(u)) for u in unknowns[:_MOST]]
    missing = len(unknowns) - len(equations)
    count = "one more equation" if missing == 1 else f"{missing} more equations"
    what, remedy = "Too few equations", f"State {count} for these unknowns, or give one of them as a parameter or input."
    level, port, unit = _potential(system, unknowns)
    if level:
        what = f"Nothing holds the level of `{level}`"
        place = level.rpartition(".")[0]
        remedy = f"To hold it, connect a ground, a boundary or a store to `{place}`, or check what it is connected to."
        if unit == "Pa":  # a fluid's: grounds are for wires
            remedy = (
                f"Nothing in this circuit holds fluid. Connect a boundary or a store to `{place}`: a volume, a tank, a vessel, an "
                "exchanger or a pipe of cells."
            )
    if port:
        what, remedy = f"{what}, and `{port}` is not connected to anything", f"Connect `{port}`, or remove its component."
    return Diagnostic(
        f"{what}: {_count(len(unknowns), 'unknown')}{_list(names, len(unknowns))} "
        f"stand{'' if len(unknowns) > 1 else 's'} in only {_count(len(equations), 'equation')}.",
        details=tuple(_equation_lines(system, equations)),
        remedy=remedy,
    )


def _potential(system: System, unknowns: np.ndarray) -> tuple[str, str, str]:
    """A potential among the unknowns, the port that it belongs to if nothing is connected there, and its unit."""
    plant, aliases = system.plant, system.aliases
    connected = connected_variables(plant, system.traced)
    levels: list[tuple[str, str]] = []
    for unknown in unknowns[:50]:
        for number in np.flatnonzero((aliases.index == unknown) & ~aliases.known)[:50]:
            quantity = plant.quantity_at(int(number))[1]
            if quantity.is_potential:
                levels.append((plant.name_of(int(number)), quantity.declaration.unit or ""))
                if not connected[number]:
                    return levels[0][0], levels[-1][0].rpartition(".")[0], levels[0][1]
    return (levels[0][0], "", levels[0][1]) if levels else ("", "", "")


def _equation_lines(system: System, equations: np.ndarray) -> list[str]:
    lines = []
    for row in equations[:_MOST]:
        d = system.describe_equation(int(row))
        lines.append(f"in:        {d.component}: {d.equation}" + (f"  ({d.location})" if d.location else ""))
    if len(equations) > _MOST:
        lines.append(f"           … and {len(equations) - _MOST} more")
    return lines


def _list(names: list[str], total: int) -> str:
    if not names:
        return ""
    return " (" + ", ".join(names) + (f", … {total - len(names)} more" if total > len(names) else "") + ")"


# --- local balance ------------------------------------------------------------------------------------------------------
def local_balance(traced: list[Traced]) -> list[Diagnostic]:
    """Component classes whose own equations do not match their own unknowns.

    A component without sub-components needs one equation for each variable of its own and one for each flow of its connectors
    (Modelica's rule; WinDali 6 counts connection pairs, which is the same). Where a connector has more potentials than flows, or
    fewer, the two sides of a connection share what is left between them, one more and one less: only what passes through, from a
    connector that is positive into the component to one out of it, has to be balanced in itself.
    """
    found = []
    for one in traced:
        if _is_composite(one.kind) or one.connections:
            continue
        least, most = _owed(one.kind)
        stated = sum(prod(e.shape) for e in one.equations)
        if not least <= stated <= most:
            found.append(_local_diagnostic(one.kind, one, least if stated < least else most, stated))
    return found


def _owed(kind: Kind) -> tuple[int, int]:
    """How many equations a component may state, at least and at most."""
    quantities = [q for q in kind.quantities.values() if q.role == "variable"]
    own = sum(q.size for q in quantities if q.connector is None or q.declaration.stream == "outflow")
    quantities = [q for q in quantities if not q.declaration.stream]
    sides: dict[tuple[str, ...], Counter[int]] = {}
    sizes: dict[tuple[str, ...], tuple[int, int]] = {}
    for port in dict.fromkeys(q.connector for q in quantities if q.connector is not None):
        members = [q for q in quantities if q.connector == port]
        alike = tuple(f"{q.declaration.name} {q.size}" for q in members)
        flows = sum(q.size for q in members if q.declaration.flow)
        sizes[alike] = flows, sum(q.size for q in members) - flows
        sides.setdefault(alike, Counter())[port.sign] += 1
    least = most = own
    for alike, count in sides.items():
        flows, potentials = sizes[alike]
        if not flows or not potentials:  # nothing to share: the rule for flows
            shares = (flows * count.total(),) * 2
        else:
            through, ends = min(count[1], count[-1]), abs(count[1] - count[-1])
            both = through * (flows + potentials)
            shares = both + ends * min(flows, potentials), both + ends * max(flows, potentials)
        least, most = least + shares[0], most + shares[1]
    return least, most


def _is_composite(kind: Kind) -> bool:
    return bool(kind.representative.children)


def _local_diagnostic(kind: Kind, traced: Traced, wanted: int, stated: int) -> Diagnostic:
    own = [q.name for q in kind.quantities.values() if q.is_own_unknown]
    used = {leaf.name for e in traced.equations for leaf in _references(e.residual, *e.terms)}
    unused = [name for name in own if name not in used]
    potentials = [q.name for q in kind.quantities.values() if q.is_potential]
    unused += [name for name in potentials if name not in used]
    details = (f"in no equation: {', '.join(unused)}",) if unused else ()
    word = "few" if stated < wanted else "many"
    where = next((e.location for e in traced.equations if e.location), None)
    has = f"it has {_count(wanted, 'unknown')} of its own ({', '.join(own)})"
    rule = "a component needs one equation for each own variable and each flow of its connectors"
    if wanted != sum(kind.quantities[name].size for name in own):  # connectors with more potentials than flows
        has = f"what passes through it needs {wanted}"
        rule = "every quantity that its connectors pass on needs an equation that says what becomes of it"
    what = f"{kind.name} states too {word} equations: {stated}, but {has}."
    found = Diagnostic(what, component=kind.name, location=where, details=details)
    if stated > wanted:
        return replace(found, remedy=f"Remove {stated - wanted}: {rule}.")
    slip = equation_without_yield(kind.methods)
    if slip is not None:
        return replace(found, equation=slip.source, location=slip, remedy=f"This line is not stated: `yield {slip.source}`.")
    base = forgotten_base(kind.methods, [e.location for e in traced.equations])
    if base:
        return replace(found, remedy=f"The equations of {base} are missing: begin with `yield from super().equations()`.")
    return replace(found, remedy=f"Add {wanted - stated}: {rule}.")


def _references(*expressions: Expression) -> list[Reference]:
    return [n for n in walk(*expressions) if isinstance(n, Reference)]
