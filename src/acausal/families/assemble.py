"""Assembly: a component tree becomes a `System` of families. The stages of translation, in order."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.component import Component
from ..language.declarations import Discrete, Variable
from ..language.expression import (
    Constant,
    Continuation,
    Derived,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Slot,
    Sum,
    Time,
    leaves,
    transform,
)
from ..language.medium import known_media
from ..language.reading import one_at_a_time
from ..language.tables import SplineFunction
from ..records import dataclass
from .affine import is_unknown, unknowns_of
from .aliases import Aliases, AliasGraph, broadcast_rows
from .alike import SameButFor
from .apart import refuse_different
from .balance import local_balance
from .canonical import slot_kind
from .census import Census
from .circuits import media_in
from .conflicts import assigned_twice
from .connections import Joints, Nodes
from .contribution import Contribution
from .definitions import Definition, eliminate, seen_from_elsewhere
from .hoist import DerivedCells, hoisted
from .hybrid import ROLES, Freezer, Hybrid, Part, Rule, RuleBlock, between_events, is_plain_condition
from .modes import take_modes
from .nets import StateTables, state_tables
from .plant import CONTINUATION, INITIAL, LIVE, ONE, TIME, ZERO, Kind, Plant, Quantity
from .rows import Rows, template_of, templates_of
from .states import add_guesses, add_transitions, transition_problems
from .streams import MOST_WRITTEN_OUT, Mixing, mixture, pairwise
from .sums import split_sums, summed_last, written_out
from .system import RowBlock, System, eliminated_mask
from .template import Family, Template, merged_families
from .trace import find_independent, trace
from .traced import Traced, TracedEquation
from .unit_check import check_units


@dataclass(slots=True, eq=False)
class Source:
    """What the classes of a plant contribute, before anything is made of it: kinds, declared quantities, traced equations."""

    plant: Plant
    traced: list[Traced]
    quantities: list[dict[str, Quantity]]  # of each kind, as declared
    named: list[dict[str, Expression]]
    counts: tuple[int, int]  # of variables and of known cells

    def pristine(self) -> Source:
        """Kinds as they were read, without what an assembly added to them."""
        for kind, quantities, named in zip(self.plant.kinds, self.quantities, self.named, strict=True):
            kind.quantities, kind.named = dict(quantities), dict(named)
        self.plant.variable_count, self.plant.known_count = self.counts
        return self


def read(root: Component) -> Source:
    """Count the components below `root` and let each kind state its equations. Components are read, not changed."""
    with one_at_a_time, known_media(media_in(root)):
        census = Census(root, SameButFor())
        plant = census.plant
        refuse_different(plant.root, census.without_parts())
        for kind in plant.kinds:
            find_independent(kind, census)
        traced = [trace(kind, census) for kind in plant.kinds]
        counts = (plant.variable_count, plant.known_count)
    declared = [dict(kind.quantities) for kind in plant.kinds]
    return Source(plant, traced, declared, [dict(kind.named) for kind in plant.kinds], counts)


def assemble(
    source: Source, *, units: bool = True, sliding: Collection[tuple[int, str]] = (), broken: Collection[SplineFunction] = ()
) -> System:
    """Connect, reduce, and make families; `units`: whether they are checked; `sliding`: relations (number of the kind, text)
    on whose surface the solution may slide; `broken`: tables that are taken piece by piece."""
    plant, traced = source.plant, [one.own() for one in source.traced]
    wrong = [problem for one in traced for problem in transition_problems(one)]
    if wrong:
        raise ModelError(*wrong)
    for one in traced:
        take_modes(plant, one)
    contributions = [Contribution(one.kind.representative, [e.residual for e in one.equations]) for one in traced]
    if units:
        check_units(traced, plant.independent[1], contributions)
    complaints = local_balance(traced)
    for one in traced:
        _freeze(one, Freezer(plant, one.kind, [text for kind, text in sliding if kind == one.kind.index], broken))
        _take_out_sums(plant, one)
    states = state_tables(plant, traced)
    joints = Joints(plant)
    for one in traced:
        joints.add(one)
    nodes = joints.nodes()
    for one in traced:
        _mark_driven_inputs(plant, one, nodes)
    definitions = _eliminate(traced, contributions, nodes)
    graph = AliasGraph(plant, nodes)
    for one in traced:
        graph.take_from(one)
    aliases = graph.solve(eliminated_mask(plant, definitions))
    return _Builder(plant, traced, nodes, definitions, graph, aliases, states, contributions).system(complaints)


def _freeze(traced: Traced, freezer: Freezer) -> None:
    """Relations in equations become cells; what the kind says about events becomes rules."""
    plain: dict[Expression, Expression] = {}
    if freezer.sliding:  # what is only another name for a relation slides with it
        plain = {t: v for t, v, _, _ in traced.assigned if is_plain_condition(t, v)}
    for equation in traced.equations:
        residual = transform(equation.residual, lambda n: plain.get(n)) if plain else equation.residual
        equation.residual = freezer.freeze(residual, equation.text, equation.location)
    for target, value, text, location in traced.assigned:
        freezer.assigned(target, value, text, location)
    freezer.add(traced.statements)
    add_transitions(freezer, traced)
    add_guesses(freezer, traced)
    for equation in traced.initial:
        equation.residual = freezer.as_written(equation.residual, equation.text, equation.location)
    traced.rules += freezer.rules
    for rule in traced.rules:
        rule.residual = between_events(rule.residual)
    for name in traced.kind.stated:  # so that what a result shows at an event is what the equations meant
        traced.kind.named[name] = freezer.frozen_already(traced.kind.named[name])
    for residual, text, location in freezer.slides:
        traced.equations.append(TracedEquation(residual, residual.shape, text, location))


def _take_out_sums(plant: Plant, traced: Traced) -> None:
    kind = traced.kind
    extra: list[TracedEquation] = []
    known: dict[Sum, Expression] = {}

    def new_unknown(node: Sum) -> Expression:
        if node not in known:
            name = kind.free_name("sum")
            declaration = Variable(shape=node.shape, doc=f"sum({node.args[0]})")
            declaration.name, declaration.auxiliary = name, True
            plant.add_quantity(kind, Quantity(name, declaration, node.shape))
            known[node] = Reference(kind.representative, kind.representative, name, node.shape)
            rest, terms = split_sums(known[node] - node, node.shape, new_unknown)
            extra.append(TracedEquation(rest, node.shape, f"{name} == {node}", None, terms))
        return known[node]

    for equation in [*traced.equations, *traced.initial]:
        equation.residual, equation.terms = split_sums(equation.residual, equation.shape, new_unknown)
    freezer = Freezer(plant, kind)

    def new_cell(node: Sum) -> Expression:
        """A sum that is evaluated when an event is dealt with, as often as what is summed changes."""
        if node not in cells:
            cells[node] = freezer.auxiliary("total", Discrete(0.0), node.shape)
            terms = transform(summed_last(node), lambda n: new_cell(n) if isinstance(n, Sum) else None)
            freezer.rules.append(Rule("update", Constant(0.0), node.shape, str(node), None, cells[node], terms=[terms]))
        return cells[node]

    cells: dict[Sum, Reference] = {}
    for rule in traced.rules:
        watched = rule.role in ("relation", "crossing", "timed", "corner", "slide_slope", "slide_share")
        rule.residual = transform(rule.residual, written_out)
        rule.residual = transform(
            rule.residual,
            lambda n, w=watched: None if not isinstance(n, Sum) else new_unknown(n) if w and unknowns_of(n) else new_cell(n),  # type: ignore[misc]
        )
    traced.rules += freezer.rules
    traced.equations += extra


def _mark_driven_inputs(plant: Plant, traced: Traced, nodes: Nodes) -> None:
    """A sub-component's input that an equation of its surroundings states (`self.room.gain == …`) is as good as connected."""
    for equation in traced.equations:
        for stated in _stated_inputs(equation.residual, traced.kind.representative):
            numbers = plant.numbers(traced.kind, stated).ravel()
            nodes.connected[numbers] = nodes.stated[numbers] = True


def _stated_inputs(residual: Expression, own: object) -> list[Reference]:
    """Inputs of parts that are a side of an equation; of one that differs from state to state, of any of its branches.

    `u == 0` has one side, u itself, and `u == -x` has become u + x; of two inputs that sum to zero nobody can tell which is meant.
    An equation in which nothing else is unknown (`2*u == a`) states the input, whatever its form.
    """
    name = residual.operator.name if isinstance(residual, Operation) else ""
    if isinstance(residual, Operation) and name == "where":
        return [found for branch in residual.args[1:] for found in _stated_inputs(branch, own)]
    sides = residual.args if isinstance(residual, Operation) and name in ("sub", "neg", "add") else (residual,)
    free = [leaf for leaf in leaves(residual) if is_unknown(leaf) or not isinstance(leaf, (Reference, Time))]
    alone = free if len(free) == 1 else []
    found = {s for s in (*alone, *sides) if isinstance(s, Reference) and s.declaration.role == "input" and s.owner is not own}
    return list(found) if len(found) < 2 or name != "add" else []


def _eliminate(traced: list[Traced], contributions: list[Contribution], nodes: Nodes) -> dict[tuple[int, str], Definition]:
    elsewhere = seen_from_elsewhere(traced)
    found: dict[tuple[int, str], Definition] = {}
    for one, contribution in zip(traced, contributions, strict=True):
        for definition in eliminate(one, elsewhere, nodes.connected, contribution):
            found[one.kind.index, definition.name] = definition
    return found


class _Builder:
    """Turns what is left after reduction into families."""

    def __init__(
        self,
        plant: Plant,
        traced: list[Traced],
        nodes: Nodes,
        definitions: dict[tuple[int, str], Definition],
        graph: AliasGraph,
        aliases: Aliases,
        states: StateTables | None,
        contributions: list[Contribution],
    ) -> None:
        self.plant, self.traced, self.nodes, self.definitions = plant, traced, nodes, definitions
        self.graph, self.aliases, self.states, self.contributions = graph, aliases, states, contributions
        self.n = aliases.unknown_count
        known = 2 * self.n + np.arange(plant.known_count)
        self.place = np.where(aliases.known, 2 * self.n + aliases.index, aliases.index).astype(np.int32)
        self.signed = np.where(aliases.sign < 0, ~self.place, self.place)
        self.known = known.astype(np.int32)
        self.differential = np.zeros(self.n, dtype=bool)
        self.merged: dict[tuple[Expression, ...], list[tuple[np.ndarray, np.ndarray]]] = {}
        self.templates: list[Template] = []  # that are known already, until there are families of them
        self.derived: dict[tuple[int, Expression], DerivedCells] = {}

    def system(self, complaints: list[Diagnostic]) -> System:
        blocks, count = self._equations([t.equations for t in self.traced], reducible=True)
        count += self._node_sums(blocks, count)
        for mixing in self.nodes.mixed:
            count += self._mixing(blocks, count, mixing)
        families = self._families()
        initial_blocks, initial_count = self._equations([t.initial for t in self.traced], reducible=False)
        initial_families = self._families()
        hybrid = self._hybrid()
        literals = np.concatenate([np.zeros(0), *self.graph.literals])
        self.aliases.literals = literals
        return System(
            plant=self.plant,
            traced=self.traced,
            aliases=self.aliases,
            definitions=self.definitions,
            families=families,
            initial_families=initial_families,
            blocks=blocks,
            initial_blocks=initial_blocks,
            size=self.n,
            equation_count=count,
            initial_count=initial_count,
            known_count=self.plant.known_count + len(literals),
            differential=self.differential,
            open_flows=self.nodes.zero,
            complaints=complaints,
            hybrid=hybrid,
            states=self.states,
            derived=list(self.derived.values()),
        )

    # --- rows -----------------------------------------------------------------------------------------------------------
    def _equations(self, per_kind: list[list[TracedEquation]], reducible: bool) -> tuple[list[RowBlock], int]:
        kept = {id(r.equation): r.kept for r in self.graph.reducible} if reducible else {}
        blocks: list[RowBlock] = []
        count = 0
        for traced, equations, contribution in zip(self.traced, per_kind, self.contributions, strict=True):
            group: list[Rows] = []
            for equation in equations:
                rows, block = self._rows(traced.kind, equation, kept.get(id(equation)), count)
                if block.count:
                    blocks.append(block)
                    group.append(rows)
                    count += block.count
                    self._terms(traced.kind, equation, rows)
            for made in templates_of(group, contribution):
                self._merge(*made)
        return blocks, count

    def _rows(self, kind: Kind, equation: TracedEquation, kept: np.ndarray | None, start: int) -> tuple[Rows, RowBlock]:
        total = kind.count * prod(equation.shape)
        picked = None if kept is None or kept.all() else np.flatnonzero(kept)
        count = total if picked is None else len(picked)
        numbers = np.arange(start, start + count, dtype=np.int32)[None, :]
        rows = Rows(kind, equation.shape, (equation.residual,), numbers, picked, bool(equation.terms))
        return rows, RowBlock(start, count, kind, equation, picked)

    def _terms(self, kind: Kind, equation: TracedEquation | Rule, rows: Rows) -> None:
        """Summands add to the rows of the equation they belong to."""
        for term in equation.terms:
            inner = int(np.prod(term.shape[len(equation.shape) :]))
            repeated = np.repeat(rows.rows, inner, axis=1)
            self._merge(*template_of(Rows(kind, term.shape, (hoisted(term),), repeated, None, summands=True)))

    def _node_sums(self, blocks: list[RowBlock], start: int) -> int:
        nodes = self.nodes
        if not nodes.sum_count:
            return 0
        place = self.place[nodes.sum_flow]
        sign = nodes.sum_sign * self.aliases.sign[nodes.sum_flow]
        live = place != 2 * self.n + ZERO
        signed = np.where(sign > 0, place, ~place).astype(np.int32)
        table = (signed[live][None, :], (start + nodes.sum_node[live]).astype(np.int32)[None, :])
        self.merged.setdefault((Slot(0, "variable"),), []).append(table)
        first = np.zeros(nodes.sum_count, dtype=np.int64)
        first[nodes.sum_node[::-1]] = nodes.sum_flow[::-1]
        blocks.append(RowBlock(start, nodes.sum_count, None, None, nodes=first))
        return nodes.sum_count

    def _mixing(self, blocks: list[RowBlock], start: int, mixing: Mixing) -> int:
        """What enters where three or more connectors meet: one row for each, of one template for each number of them."""
        rows, others = (start + np.arange(mixing.count)).astype(np.int32), mixing.size - 1
        small = 2 * self.n + self.graph.new_cells(np.unique(mixing.small))[np.unique(mixing.small, return_inverse=True)[1]]
        enters, leaves, flow = self._signed(mixing.inflow), self._signed(mixing.outflow), self._signed(mixing.flow, mixing.sign)
        if mixing.size <= MOST_WRITTEN_OUT:
            pairs = np.stack([leaves, flow[1:]], axis=1).reshape(2 * others, -1)
            table = (np.concatenate([enters[None], pairs, small[None]]).astype(np.int32), rows[None, :])
            self.merged.setdefault((mixture(others),), []).append(table)
        else:
            each = [np.broadcast_to(column, leaves.shape).ravel() for column in (enters, leaves, flow[1:], flow[0], small)]
            table = (np.stack(each).astype(np.int32), np.tile(rows, others)[None, :])
            self.merged.setdefault((pairwise(),), []).append(table)
        blocks.append(RowBlock(start, mixing.count, None, None, nodes=mixing.inflow, mixes=True))
        return mixing.count

    def _signed(self, numbers: np.ndarray, sign: np.ndarray | int = 1) -> np.ndarray:
        """Workspace indices of variables, ~i where the sign is minus."""
        place = self.place[numbers]
        return np.where(sign * self.aliases.sign[numbers] > 0, place, ~place)

    # --- events ---------------------------------------------------------------------------------------------------------
    def _hybrid(self) -> Hybrid | None:
        if not any(t.rules for t in self.traced):
            return None
        parts = {role: self._part(role) for role in ROLES}
        wrong = [*assigned_twice(self.plant, parts), *self._not_states(parts["reinit"])]
        if wrong:
            raise ModelError(*wrong)
        return Hybrid(parts, self.plant.discrete_cells(), self.plant.partner_cells())

    def _part(self, role: str) -> Part:
        blocks: list[RuleBlock] = []
        none = np.zeros(0, dtype=np.int64)
        targets, signs, bands, start = [none], [none], [none], 0
        for traced in self.traced:
            for rule in (r for r in traced.rules if r.role == role):
                kind, count = traced.kind, traced.kind.count * int(np.prod(rule.shape))
                rows = np.arange(start, start + count, dtype=np.int32)[None, :]
                own = Rows(kind, rule.shape, (rule.residual,), rows, None, summands=True)
                self._merge(*template_of(own))
                self._terms(kind, rule, own)
                blocks.append(RuleBlock(start, count, kind, rule))
                start += count
                targets.append(self._targets(kind, rule, signs))
                if rule.band is not None:
                    bands.append(self.plant.numbers(kind, rule.band).ravel())
        return Part(self._families(), blocks, np.concatenate(targets), np.concatenate(signs), np.concatenate(bands))

    def _targets(self, kind: Kind, rule: Rule, signs: list[np.ndarray]) -> np.ndarray:
        if rule.target is None:
            return np.zeros(0, dtype=np.int64)
        numbers = self.plant.numbers(kind, rule.target).ravel()
        if rule.role not in ("reinit", "guess"):
            signs.append(np.ones(len(numbers), dtype=np.int64))
            return numbers
        signs.append(self.aliases.sign[numbers].astype(np.int64))
        eliminated = eliminated_mask(self.plant, self.definitions)[numbers]
        return np.where(self.aliases.known[numbers] | eliminated, -1, self.aliases.index[numbers])

    def _not_states(self, part: Part) -> list[Diagnostic]:
        """Targets of `reinit` that nobody differentiates."""
        found = []
        for block in part.blocks:
            targets = part.targets[block.start : block.start + block.count]
            wrong = np.flatnonzero((targets < 0) | ~self.differential[np.maximum(targets, 0)])
            if len(wrong):
                assert block.rule.target is not None
                number = int(self.plant.numbers(block.kind, block.rule.target).ravel()[wrong[0]])
                name = self.plant.name_of(number)
                found.append(
                    Diagnostic(
                        f"`ac.reinit` sets `{name}`, which is not a state: its derivative is in no equation.",
                        component=block.kind.name,
                        equation=block.rule.text,
                        location=block.rule.location,
                        remedy=f"Re-initialise the state that it is computed from, or state an equation with `ac.der` of `{name}`.",
                    )
                )
        return found

    # --- families -------------------------------------------------------------------------------------------------------
    def _merge(self, rows: Rows, outputs: tuple[Expression, ...], leaves: list[Expression]) -> None:
        count = rows.rows.shape[1]
        slots = np.empty((len(leaves), count), dtype=np.int32)
        for k, leaf in enumerate(leaves):
            if isinstance(leaf, Reference) and self._put_plain(slots[k], rows, leaf):
                continue
            column = self._column(rows, leaf)
            slots[k] = column if rows.picked is None or column.ndim == 0 else column[rows.picked]
        self.merged.setdefault(outputs, []).append((slots, rows.rows))
        if rows.template is not None:
            self.templates.append(rows.template)

    def _put_plain(self, column: np.ndarray, rows: Rows, leaf: Reference) -> bool:
        """Write the column of a scalar of the kind itself, which most are: numbers that follow each other. False: it is none."""
        kind = rows.kind
        if leaf.owner is not kind.representative or leaf.order or leaf.shape or rows.shape or rows.picked is not None:
            return False
        quantity = kind.quantities[leaf.name]
        if quantity.size != 1:
            return False
        first = quantity.base
        if quantity.declaration.is_known:
            column[:] = self.known[first : first + kind.count]
        else:
            column[:] = self.signed[first : first + kind.count]
        return True

    def _column(self, rows: Rows, leaf: Expression) -> np.ndarray:
        """Workspace indices of a leaf for every row, ~i where the sign is minus."""
        base = 2 * self.n
        if isinstance(leaf, Time):
            return np.array(base + TIME, dtype=np.int32)
        if isinstance(leaf, Continuation):
            return np.array(base + CONTINUATION, dtype=np.int32)
        if isinstance(leaf, Mark):
            return np.array(base + {"live": LIVE, "initial": INITIAL}[leaf.name], dtype=np.int32)
        if isinstance(leaf, Literal):
            cells = base + self.graph.literal_cells(leaf)
            return broadcast_rows(np.broadcast_to(cells, (rows.kind.count, *leaf.shape)), leaf.shape, rows.shape)
        if isinstance(leaf, Derived):
            cells = base + self._derived_cells(rows.kind, leaf)
            return broadcast_rows(cells.reshape(rows.kind.count, *leaf.shape), leaf.shape, rows.shape)
        assert isinstance(leaf, Reference)
        numbers = broadcast_rows(self.plant.numbers(rows.kind, leaf), leaf.shape, rows.shape)
        if slot_kind(leaf) == "known":
            return base + numbers
        if not leaf.order:
            return self.signed[numbers]
        place, minus = self.place[numbers], self.aliases.sign[numbers] < 0
        place = self._derivative_places(place)
        return np.where(minus, ~place, place)

    def _derived_cells(self, kind: Kind, leaf: Derived) -> np.ndarray:
        """Known cells (instance, element) for what parameters alone determine."""
        key = (kind.index, leaf.expression)
        if key not in self.derived:
            cells = self.graph.new_cells(np.full(kind.count * leaf.size, np.nan)).reshape(kind.count, -1)
            self.derived[key] = DerivedCells(cells, leaf.expression, kind)
        return self.derived[key].cells

    def _derivative_places(self, place: np.ndarray) -> np.ndarray:
        unknown = place < 2 * self.n
        if unknown.all():
            self.differential[place] = True
            return place + self.n
        self.differential[place[unknown]] = True
        cells = place - 2 * self.n
        given, rates = self.plant.rates(np.where(unknown, ZERO, cells).ravel())
        steady = np.where(cells == TIME, ONE, ZERO)
        known = np.where(given.reshape(place.shape), rates.reshape(place.shape), steady)
        return np.where(unknown, place + self.n, 2 * self.n + known)

    def _families(self) -> list[Family]:
        families = merged_families(self.merged)
        self.merged, self.templates = {}, []
        return families
