"""Is there an equation for every unknown? If not: the component whose own count is off, and the variables left over."""

from __future__ import annotations

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.expression import Expression, Reference, walk
from ..structure.dulmage_mendelsohn import conflict, freedom
from ..structure.incidence import Incidence
from ..structure.matching import Matching, match
from .pattern import Pattern
from .plant import Kind
from .system import System
from .trace import Traced

_MOST = 6


def check_structure(system: System, pattern: Pattern) -> None:
    """Raise with everything that can be said about missing and surplus equations; also when counts agree but structure does not."""
    incidence = _incidence(system, pattern, pattern.by_value | pattern.by_slope)
    matching = match(incidence)
    if len(matching.unmatched_equations) or len(matching.unmatched_unknowns):
        raise ModelError(*_singular(system, incidence, matching, system.complaints))


def _incidence(system: System, pattern: Pattern, keep: np.ndarray) -> Incidence:
    column = np.repeat(np.arange(system.size), np.diff(pattern.indptr))
    return Incidence.from_pairs(pattern.indices[keep], column[keep], system.equation_count, system.size)


def _singular(system: System, incidence: Incidence, matching: Matching, local: list[Diagnostic]) -> list[Diagnostic]:
    n, m = system.size, system.equation_count
    found = list(local)
    for equation in matching.unmatched_equations[:_MOST]:
        piece = conflict(incidence, matching, int(equation))
        found.append(_too_many(system, piece.equations, piece.unknowns))
    for unknown in matching.unmatched_unknowns[:_MOST]:
        piece = freedom(incidence, matching, int(unknown))
        found.append(_too_few(system, piece.equations, piece.unknowns))
    head = f"The model has {m} equation{'' if m == 1 else 's'} for {n} unknown{'' if n == 1 else 's'}" if n != m else "The equations do not determine the unknowns"
    cause = " This is caused by the structure of the model, not by its numbers."
    return [Diagnostic(f"{head}.{cause}", remedy="Start with the first of the complaints below."), *found]


def _too_many(system: System, equations: np.ndarray, unknowns: np.ndarray) -> Diagnostic:
    first = system.describe_equation(int(equations[0]))
    names = [system.name_of_unknown(int(u)) for u in unknowns[:_MOST]]
    surplus = len(equations) - len(unknowns)
    return Diagnostic(
        f"Too many equations: {len(equations)} equations contain only {len(unknowns)} unknowns{_list(names, len(unknowns))}.",
        component=first.component,
        equation=first.equation,
        location=first.location,
        details=tuple(_equation_lines(system, equations[1:])),
        remedy=f"Remove {'one' if surplus == 1 else surplus} of these equations: a value given twice, two sources at one node, "
        "a closed loop of flows.",
    )


def _too_few(system: System, equations: np.ndarray, unknowns: np.ndarray) -> Diagnostic:
    names = [system.name_of_unknown(int(u)) for u in unknowns[:_MOST]]
    missing = len(unknowns) - len(equations)
    return Diagnostic(
        f"Too few equations: {len(unknowns)} unknown{'s' if len(unknowns) > 1 else ''}{_list(names, len(unknowns))} "
        f"stand{'' if len(unknowns) > 1 else 's'} in only {len(equations)} equation{'' if len(equations) == 1 else 's'}.",
        details=tuple(_equation_lines(system, equations)),
        remedy=_remedy_for(system, unknowns, missing),
    )


def _remedy_for(system: System, unknowns: np.ndarray, missing: int) -> str:
    """The most likely fix first: a potential that nothing holds, then a missing equation."""
    plant = system.plant
    for unknown in unknowns:
        number = int(system.aliases.representative[unknown])
        if plant.quantity_at(number)[1].is_potential:
            name = plant.name_of(number)
            return f"Nothing holds the level of `{name}`: connect a ground, a boundary or a store there, or check its connections."
    count = "one more equation" if missing == 1 else f"{missing} more equations"
    return f"State {count} for these unknowns, or give one of them as a parameter or input."


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
    (Modelica's rule; WinDali 6 counts connection pairs, which is the same).
    """
    found = []
    for one in traced:
        kind = one.kind
        if _is_composite(kind) or one.connections:
            continue
        wanted = sum(
            q.size for q in kind.quantities.values() if q.role == "variable" and (q.connector is None or q.declaration.flow)
        )
        stated = sum(int(np.prod(e.shape)) for e in one.equations)
        if wanted != stated:
            found.append(_local_diagnostic(kind, one, wanted, stated))
    return found


def _is_composite(kind: Kind) -> bool:
    from .plant import children

    return any(True for _ in children(kind.representative))


def _local_diagnostic(kind: Kind, traced: Traced, wanted: int, stated: int) -> Diagnostic:
    own = [q.name for q in kind.quantities.values() if q.is_own_unknown]
    used = {leaf.name for e in traced.equations for leaf in _references(e.residual, *e.terms)}
    unused = [name for name in own if name not in used]
    potentials = [q.name for q in kind.quantities.values() if q.is_potential]
    unused += [name for name in potentials if name not in used]
    details = (f"in no equation: {', '.join(unused)}",) if unused else ()
    word = "few" if stated < wanted else "many"
    where = next((e.location for e in traced.equations if e.location), None)
    return Diagnostic(
        f"{kind.name} states too {word} equations: {stated}, but it has {wanted} unknowns of its own ({', '.join(own)}).",
        component=kind.name,
        location=where,
        details=details,
        remedy=f"A component needs one equation for each own variable and each flow of its connectors: "
        f"{'add' if stated < wanted else 'remove'} {abs(wanted - stated)}.",
    )


def _references(*expressions: Expression) -> list[Reference]:
    return [n for n in walk(*expressions) if isinstance(n, Reference)]
