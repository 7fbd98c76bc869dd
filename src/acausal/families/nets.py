"""Nets of states: what input states are, given the states of everything connected to them (WinDali 6.2).

A *net* is a set of sources, the state variables that components own, with the *followers* that all of these reach: input states,
and outputs that composites hand on. How many sources of a net are in the state of each name decides what a follower is in: AND, OR,
or otherwise (`structure/resolution.py`). Two variables may order the same names differently, so names are numbered once for the
whole plant.

Connections have a direction: who has states provides them, who has not takes them. Two inputs that share one source (a central
switch) may have others for themselves; so nets are not just what hangs together. What a composite takes it provides inside, and
what it takes from inside it provides outside; such variables are replaced by what they take. Only the output of a composite that
has rules of its own (`ac.OutputStates(on="any", off="all")`) is a follower inside and a source outside; hence nets have levels.
Everything is integer arrays; to bring 10 000 inputs up to date are a few numpy calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

import numpy as np

from ..errors import Diagnostic, Location, ModelError
from ..language.expression import Reference
from ..language.states import InputStates, OutputStates, StateDeclaration, States
from ..records import dataclass
from ..structure.resolution import RULES, ambiguous
from ..structure.unions import components
from .connections import joined_numbers
from .plant import Kind, Plant, Quantity
from .traced import Traced, TracedConnection

Floats = np.ndarray
_MOST = 6  # problems of one sort that are told
_DEEPEST = 100  # composites within composites that hand states on


@dataclass(slots=True, eq=False)
class Level:
    """Nets whose sources do not depend on one another's followers."""

    nets: int
    source: np.ndarray  # known cells
    source_net: np.ndarray
    source_row: np.ndarray  # which state variable of which class
    follower: np.ndarray  # known cells
    key: np.ndarray  # (follower, state): which counter
    many: np.ndarray  # (follower, 1): sources of its net
    rule: np.ndarray  # (follower, state): number of the rule in RULES, -1 beyond its last state


@dataclass(slots=True, eq=False)
class StateTables:
    """All state variables of a plant, and how those that follow others do so."""

    variables: list[tuple[Kind, Quantity]]
    names: np.ndarray  # (variable, state): number of the state's name
    name_count: int
    combined: np.ndarray  # known cells of outputs combined from local states …
    combined_of: np.ndarray  # … the local ones …
    combined_row: np.ndarray
    combined_table: np.ndarray  # (variable, local state): combined state
    levels: list[Level] = field(default_factory=list)
    changing: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # cells that transitions or statements assign

    def follow(self, w: Floats, first: int = 0) -> None:
        """Bring everything that follows others up to date; `w[first:]` are known values."""
        if len(self.combined):
            local = w[first + self.combined_of].astype(np.intp)
            w[first + self.combined] = self.combined_table[self.combined_row, local]
        for level in self.levels:
            state = w[first + level.source].astype(np.intp)
            name = self.names[level.source_row, state]
            counts = np.bincount(level.source_net * (self.name_count + 1) + name, minlength=level.nets * (self.name_count + 1))
            present = counts[level.key]
            met = ((level.rule == 0) & (present == level.many)) | ((level.rule == 1) & (present > 0))
            met |= (level.rule == 2) & ~met.any(axis=1, keepdims=True)
            w[first + level.follower] = met.argmax(axis=1)

    @property
    def followers(self) -> np.ndarray:
        """Known cells that are computed here."""
        return np.concatenate([self.combined, *(level.follower for level in self.levels)])

    def cells(self) -> Iterator[tuple[np.ndarray, StateDeclaration]]:
        for kind, quantity in self.variables:
            assert isinstance(quantity.declaration, StateDeclaration)
            yield quantity.base + np.arange(kind.count * quantity.size), quantity.declaration


def state_tables(plant: Plant, traced: list[Traced]) -> StateTables | None:
    """The nets of a plant; None when nothing in it has states."""
    variables = [(kind, q) for kind in plant.kinds for q in kind.quantities.values() if isinstance(q.declaration, StateDeclaration)]
    return _Nets(plant, traced, variables).tables() if variables else None


class _Nets:
    """Collects connections, sorts sources from followers, checks, and makes tables."""

    def __init__(self, plant: Plant, traced: list[Traced], variables: list[tuple[Kind, Quantity]]) -> None:
        self.plant, self.traced, self.variables = plant, traced, variables
        self.declared: list[StateDeclaration] = [q.declaration for _, q in variables]  # type: ignore[misc]
        counts = [kind.count * q.size for kind, q in variables]
        self.cell = np.concatenate([q.base + np.arange(n) for (_, q), n in zip(variables, counts, strict=True)])
        self.row = np.repeat(np.arange(len(variables)), counts)
        self.place = np.full(plant.known_count, -1, dtype=np.int64)
        self.place[self.cell] = np.arange(len(self.cell))
        self.problems: list[Diagnostic] = []
        self.joined: list[tuple[Kind, TracedConnection]] = []
        self._names()

    def _names(self) -> None:
        number: dict[str, int] = {}
        for declaration in self.declared:
            for name in declaration.states:
                number.setdefault(name, len(number))
        width = max(len(d.states) for d in self.declared)
        self.names = np.full((len(self.declared), width), len(number), dtype=np.int64)
        self.rule = np.full((len(self.declared), width), -1, dtype=np.int64)
        for row, d in enumerate(self.declared):
            self.names[row, : len(d.states)] = [number[s] for s in d.states]
            self.rule[row, : len(d.states)] = [RULES.index(d.rules.get(s, "all")) for s in d.states]
        self.name_count = len(number)

    def tables(self) -> StateTables:
        self._refuse_assigned_followers()
        self._connect()
        self._sort()
        tables = self._combined()
        if not self.problems:
            self._check()
        if self.problems:
            raise ModelError(*self.problems)
        tables.changing = self.cell[self.driven]
        tables.levels = self._levels()
        return tables

    # --- connections ----------------------------------------------------------------------------------------------------------
    def _connect(self) -> None:
        """Pairs (provider, taker) and pairs of takers that are the same, as places; with each the connection it comes from."""
        none = np.zeros((0, 2), dtype=np.int64)
        self.given, self.equal = [none], [none]
        self.block: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
        for one in self.traced:
            for connection in one.state_connections:
                self._refuse_local(one.kind, connection)
                self._direct(one.kind, connection)
                self.joined.append((one.kind, connection))

    def _direct(self, kind: Kind, connection: TracedConnection) -> None:
        ends = [end for end in connection.ends if isinstance(end, Reference)]
        roles = [self._provides(end, kind) for end in ends]
        if True not in roles:  # an output of the component itself is a source to its inside if nothing there is
            roles = [True if role is None else role for role in roles]
        providers = [end for end, role in zip(ends, roles, strict=True) if role]
        takers = [end for end, role in zip(ends, roles, strict=True) if not role]
        for taker in takers:
            for provider in providers:
                pairs = self._places(kind, connection, provider, taker)
                self.given.append(pairs)
                self.block.append(np.full(len(pairs), len(self.joined)))
            if not providers and taker is not takers[0]:
                self.equal.append(self._places(kind, connection, takers[0], taker))
        if not takers:
            self._refuse_outputs_only(kind, connection)

    def _provides(self, end: Reference, kind: Kind) -> bool | None:
        """Whether an end has states for the others of its connection; None: an own output that may be handed on from inside."""
        declaration: StateDeclaration = end.declaration
        if end.owner is not kind.representative:
            return not isinstance(declaration, InputStates)
        if isinstance(declaration, InputStates) or declaration.groups:
            return True
        driven = self.driven[self.place[self.plant.numbers(kind, end).ravel()]].any()
        return True if driven else None

    def _places(self, kind: Kind, connection: TracedConnection, a: Reference, b: Reference) -> np.ndarray:
        numbers = joined_numbers(self.plant, kind, connection, a, b)
        return np.stack([self.place[n.ravel()] for n in numbers], axis=1)

    def _refuse_outputs_only(self, kind: Kind, connection: TracedConnection) -> None:
        self.problems.append(
            Diagnostic(
                f"A connection of {kind.name} joins output states only, so that nothing follows them.",
                component=kind.name,
                equation=str(connection),
                location=connection.location,
                remedy="Connect an output with an input: `ac.OutputStates` of one component with `ac.InputStates` of another.",
            )
        )

    def _rows(self, true: Callable[[StateDeclaration], bool]) -> np.ndarray:
        """For each place whether something is true of what is declared there."""
        return np.array([true(d) for d in self.declared], dtype=bool)[self.row]

    def _refuse_local(self, kind: Kind, connection: TracedConnection) -> None:
        for end in connection.ends:
            assert isinstance(end, Reference)
            if isinstance(end.declaration, States):
                name = connection.name_of(end)
                self.problems.append(
                    Diagnostic(
                        f"`{name}` has local states, which others cannot see; a connection of {kind.name} joins it.",
                        component=kind.name,
                        equation=str(connection),
                        location=connection.location,
                        remedy=f"Declare `{end.name}` with `ac.OutputStates`, or combine it into one: "
                        f'`ac.OutputStates(…, of="{end.name}")`.',
                    )
                )

    def _refuse_assigned_followers(self) -> None:
        """Which variables transitions and statements assign; those that follow others cannot be."""
        self.driven = np.zeros(len(self.cell), dtype=bool)
        for one in self.traced:
            for rule in one.rules:
                target = rule.target
                if rule.role not in ("update", "step") or target is None or not isinstance(target.declaration, StateDeclaration):
                    continue
                self.driven[self.place[self.plant.numbers(one.kind, target).ravel()]] = True
                d = target.declaration
                if isinstance(d, InputStates) or d.groups or d.rules:
                    self.problems.append(
                        Diagnostic(
                            f"{one.kind.name} assigns `{target}`, which follows other states.",
                            component=one.kind.name,
                            equation=rule.text,
                            location=rule.location,
                            remedy="Assign what it follows.",
                        )
                    )

    # --- sources and followers ------------------------------------------------------------------------------------------------
    def _sort(self) -> None:
        """Who decides on whom: `source` are places with the net they decide on, one entry for each net; `follower` likewise."""
        given, equal = np.concatenate(self.given), np.concatenate(self.equal)
        takes = np.zeros(len(self.cell), dtype=bool)
        takes[given[:, 1]] = True
        takes[equal.ravel()] = True
        stated = self._rows(lambda d: d.initial is not None)
        is_input = self._rows(lambda d: isinstance(d, InputStates))
        ruled = self._rows(lambda d: isinstance(d, OutputStates) and bool(d.rules))
        outputs = self._rows(lambda d: isinstance(d, OutputStates) and not d.rules and not d.groups)
        handed_on = is_input | (outputs & takes & ~self.driven)  # what stands for its sources
        self.undecided = outputs & ~takes & ~self.driven & ~stated
        self.label = components(len(self.cell), equal[:, 0], equal[:, 1]).astype(np.int64)
        self._unite_relays(given, handed_on)
        self.nets = int(self.label.max()) + 1
        chosen = self._outermost(np.flatnonzero(handed_on & stated & ~self._reached(given)[self.label]), is_input)
        self.source_net, self.source = self._expanded(given, handed_on, chosen)
        followers = ruled | handed_on
        followers[chosen] = False
        self.follower = np.flatnonzero(followers)
        self.follower_net = self.label[self.follower]
        self.ruled = ruled
        self.number = np.bincount(self.source_net, minlength=self.nets)  # of sources

    def _unite_relays(self, given: np.ndarray, handed_on: np.ndarray) -> None:
        """What takes from a single variable that itself is handed on takes the same: one net."""
        pairs = np.unique(np.stack([self.label[given[:, 1]], given[:, 0]], axis=1), axis=0)
        many = np.bincount(pairs[:, 0], minlength=int(self.label.max()) + 1)
        same = pairs[(many[pairs[:, 0]] == 1) & handed_on[pairs[:, 1]]]
        united = components(len(many), same[:, 0], self.label[same[:, 1]])
        self.label = united[self.label].astype(np.int64)

    def _reached(self, given: np.ndarray) -> np.ndarray:
        """Mask of nets to which somebody outside them provides."""
        provided = np.zeros(self.nets, dtype=bool)
        net = self.label[given[:, 1]]
        provided[net[net != self.label[given[:, 0]]]] = True
        return provided

    def _expanded(self, given: np.ndarray, handed_on: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(net, source) pairs: variables that are handed on are replaced by what they take, until none is left."""
        constant = np.zeros(len(self.cell), dtype=bool)
        constant[chosen] = True
        pairs = np.stack([self.label[given[:, 1]], given[:, 0]], axis=1)
        pairs = np.concatenate([pairs, np.stack([self.label[chosen], chosen], axis=1)])
        for _ in range(_DEEPEST):
            pairs = np.unique(pairs, axis=0)
            relay = handed_on[pairs[:, 1]] & ~constant[pairs[:, 1]]
            inside = relay & (self.label[pairs[:, 1]] == pairs[:, 0])
            pairs, relay = pairs[~inside], relay[~inside]
            if not relay.any():
                return pairs[:, 0], pairs[:, 1]
            taken = self.label[pairs[relay, 1]]
            begin, end = np.searchsorted(pairs[:, 0], taken), np.searchsorted(pairs[:, 0], taken, side="right")
            more = np.stack([np.repeat(pairs[relay, 0], end - begin), pairs[_ranges(begin, end), 1]], axis=1)
            pairs = np.concatenate([pairs[~relay], more])
        raise self._circle(int(pairs[handed_on[pairs[:, 1]], 1][0]))

    def _circle(self, place: int) -> ModelError:
        return ModelError(
            f"Connected states depend on themselves in a circle, through `{self._name(place)}`.",
            remedy="Leave one of the connections out, or let a state of its own (with transitions) part them.",
        )

    def _outermost(self, candidates: np.ndarray, is_input: np.ndarray) -> np.ndarray:
        """In nets that nobody decides on: what has a state of its own, an output before an input, the outermost first."""
        depth = np.zeros(len(self.cell), dtype=np.int64)
        for row in np.unique(self.row[candidates]):
            kind, q = self.variables[row]
            for member in kind.members:
                first = q.base + member.first * q.size
                cells = np.arange(first, first + member.count * q.size)
                depth[self.place[cells]] = len(member._steps_from(self.plant.root) or ())
        order = candidates[np.lexsort((depth[candidates], is_input[candidates], self.label[candidates]))]
        return order[np.unique(self.label[order], return_index=True)[1]]

    # --- checks ---------------------------------------------------------------------------------------------------------------
    def _name(self, place: int) -> str:
        return self.plant.name_of(int(self.cell[place]), "known")

    def _where(self, net: int) -> tuple[str, str, Location | None]:
        """Class, text and line of a connection of a net."""
        found = np.flatnonzero(self.label[np.concatenate(self.given)[:, 1]] == net)
        if not len(found):
            return "", "", None
        kind, connection = self.joined[int(np.concatenate(self.block)[found[0]])]
        return kind.name, str(connection), connection.location

    def _check(self) -> None:
        self._check_decided()
        alone = self.number[self.follower_net] == 0
        for row in np.unique(self.row[self.follower[alone]])[:_MOST]:
            self._nothing_connected(self.follower[alone & (self.row[self.follower] == row)], row)
        composition = self._compositions()
        asked = np.flatnonzero(~alone)
        key = composition[self.follower_net[asked]] * len(self.declared) + self.row[self.follower[asked]]
        _, examples = np.unique(key, return_index=True)
        for k in asked[examples]:
            if len(self.problems) < _MOST:
                self._check_follower(int(self.follower[k]), int(self.follower_net[k]))

    def _check_decided(self) -> None:
        for row in np.unique(self.row[self.undecided])[:_MOST]:
            places = np.flatnonzero(self.undecided & (self.row == row))
            kind, declaration = self.variables[row][0], self.declared[row]
            self.problems.append(
                Diagnostic(
                    f"Nothing says what the output states `{self._name(places[0])}`{_more(places)} are: no transition, no local "
                    "states behind them, nothing connected inside.",
                    component=kind.name,
                    equation=declaration.location.source,
                    location=declaration.location,
                    remedy=f"State `transitions`, combine local states (`of=…`), connect an output of a sub-component of "
                    f'{kind.name} to it, or give `initial="{declaration.states[0]}"`, say, if it is to stay there.',
                )
            )

    def _nothing_connected(self, places: np.ndarray, row: int) -> None:
        kind, declaration = self.variables[row][0], self.declared[row]
        what = "input" if isinstance(declaration, InputStates) else "output"
        where = "inside it" if what == "output" else "that has states of its own"
        option = f', or declare it with `default="{declaration.states[-1]}"`' if what == "input" else ""
        self.problems.append(
            Diagnostic(
                f"Nothing {where} is connected to the {what} states `{self._name(places[0])}`{_more(places)}.",
                component=kind.name,
                equation=declaration.location.source,
                location=declaration.location,
                remedy=f"Connect an `ac.OutputStates` ({', '.join(declaration.states)}) to it{option}.",
            )
        )

    def _compositions(self) -> np.ndarray:
        """For each net a number for which and how many sources it has, so that equal nets are looked at once."""
        keys = self.source_net * len(self.declared) + self.row[self.source]
        pairs, counts = np.unique(keys, return_counts=True)
        net, row = np.divmod(pairs, len(self.declared))
        _, sort = np.unique(np.stack([row, counts]), axis=1, return_inverse=True)
        mark = np.random.default_rng(1).integers(2**63, size=len(row) + 1, dtype=np.uint64)
        total = np.zeros(self.nets, dtype=np.uint64)
        np.add.at(total, net, mark[sort.ravel()])  # sums of random numbers differ where the summands do
        return np.unique(total, return_inverse=True)[1]

    def _check_follower(self, place: int, net: int) -> None:
        declaration = self.declared[self.row[place]]
        sources = self.source[self.source_net == net]
        listed = [self.declared[r].states for r in self.row[sources]]
        known = {s for states in listed for s in states}
        rules = {s: declaration.rules.get(s, "all") for s in declaration.states}
        foreign = [k for k, states in enumerate(listed) if not set(states) <= set(rules)]
        never = [s for s, rule in rules.items() if s not in known and rule != "otherwise"]
        if foreign or never:
            self._incompatible(place, net, int(sources[foreign[0] if foreign else 0]), never)
            return
        for occurring in ambiguous(rules, len(sources), [s for s in rules if s in known]):
            witness = combination(occurring, listed[:1000])
            if witness is not None:
                self._ambiguous(place, net, sources, witness, rules)
                return

    def _incompatible(self, place: int, net: int, source: int, never: list[str]) -> None:
        kind, text, location = self._where(net)
        wanted, there = self.declared[self.row[place]], self.declared[self.row[source]]
        details = [
            f"states:    {self._name(source)}: {', '.join(there.states)}",
            f"states:    {self._name(place)}: {', '.join(wanted.states)}",
        ]
        if never:
            details.append(f"never set: {', '.join(never)}")
        self.problems.append(
            Diagnostic(
                f"`{self._name(source)}` and `{self._name(place)}` are connected, but their states differ.",
                component=kind,
                equation=text,
                location=location,
                details=tuple(details),
                remedy="Name the states alike; several states are combined into one with "
                f'`ac.OutputStates({wanted.states[0]}=("…", "…"), …, of="…")`.',
            )
        )

    def _ambiguous(self, place: int, net: int, sources: np.ndarray, states: list[str], rules: dict[str, str]) -> None:
        kind, text, location = self._where(net)
        occurring = set(states)
        met = [s for s in rules if s in occurring and (rules[s] == "any" or (rules[s] == "all" and len(occurring) == 1))]
        met = met or [s for s, rule in rules.items() if rule == "otherwise"]
        shown = [f"{self._name(s)} {state}" for s, state in zip(sources, states, strict=False)]
        combo = ", ".join(shown[:_MOST]) + (", …" if len(sources) > _MOST else "")
        declared = ", ".join(f'{s}="{rule}"' for s, rule in rules.items())
        self.problems.append(
            Diagnostic(
                f"It is open which state `{self._name(place)}` is in when its sources differ: {combo} sets "
                + (f"{' and '.join(met)} at once." if met else "none of its states."),
                component=kind,
                equation=text,
                location=location,
                details=(f"declared:  {self._name(place)}: {declared}",),
                remedy='Say how states combine: "all" (AND) for one, "any" (OR) for the other, as in '
                f'`{_proposal(tuple(rules))}`; "otherwise" is for when no other is set.',
            )
        )

    # --- tables ---------------------------------------------------------------------------------------------------------------
    def _combined(self) -> StateTables:
        none = np.zeros(0, dtype=np.int64)
        cells, local, rows = [none], [none], [none]
        width = self.names.shape[1]
        table = np.zeros((len(self.declared), width), dtype=np.int64)
        for row, ((kind, q), d) in enumerate(zip(self.variables, self.declared, strict=True)):
            if not d.groups:
                continue
            behind = kind.quantities[source_name(d)]
            assert isinstance(behind.declaration, StateDeclaration)
            count = kind.count * q.size
            cells.append(q.base + np.arange(count))
            local.append(behind.base + np.arange(count))
            rows.append(np.full(count, row))
            for number, group in enumerate(d.groups.values()):
                table[row, [behind.declaration.states.index(g) for g in group]] = number
        parts = [np.concatenate(part) for part in (cells, local, rows)]
        return StateTables(self.variables, self.names, self.name_count, parts[0], parts[1], parts[2], table)

    def _levels(self) -> list[Level]:
        """Nets by level: one whose source is resolved from a net inside comes after that net."""
        level = np.zeros(self.nets, dtype=np.int64)
        through = self.ruled[self.source]
        inner, outer = self.label[self.source[through]], self.source_net[through]
        for _ in range(_DEEPEST):
            higher = level.copy()
            np.maximum.at(higher, outer, level[inner] + 1)
            if (higher == level).all():
                break
            level = higher
        else:
            raise self._circle(int(self.source[through][np.argmax(level[inner])]))
        return [self._level(level, number) for number in np.unique(level[self.follower_net])]

    def _level(self, level: np.ndarray, number: int) -> Level:
        follows = level[self.follower_net] == number
        followers, nets = self.follower[follows], self.follower_net[follows]
        used, local = np.unique(nets, return_inverse=True)
        renumber = np.full(self.nets, -1, dtype=np.int64)
        renumber[used] = np.arange(len(used))
        sources = renumber[self.source_net] >= 0
        rows = self.row[followers]
        return Level(
            nets=len(used),
            source=self.cell[self.source[sources]],
            source_net=renumber[self.source_net[sources]],
            source_row=self.row[self.source[sources]],
            follower=self.cell[followers],
            key=local[:, None] * (self.name_count + 1) + self.names[rows],
            many=self.number[nets][:, None],
            rule=self.rule[rows],
        )


def source_name(declaration: StateDeclaration) -> str:
    """The local state variable that states are combined from."""
    return str(getattr(declaration.source, "name", declaration.source))


def combination(occurring: frozenset[str], sources: list[tuple[str, ...]]) -> list[str] | None:
    """A state for each source such that exactly the given states occur; None if they cannot occur together.

    >>> combination(frozenset(["on", "off"]), [("on", "off"), ("off",)])
    ['on', 'off']
    """
    owner: dict[str, int] = {}

    def place(state: str, seen: set[int]) -> bool:
        """Find a source for a state, moving others aside (an augmenting path)."""
        for k, states in enumerate(sources):
            if state in states and k not in seen:
                seen.add(k)
                held = next((s for s, o in owner.items() if o == k), None)
                if held is None or place(held, seen):
                    owner[state] = k
                    return True
        return False

    if not all(place(state, set()) for state in sorted(occurring)):
        return None
    chosen = {k: state for state, k in owner.items()}
    found = [chosen.get(k) or next((s for s in states if s in occurring), "") for k, states in enumerate(sources)]
    return found if all(found) else None


def _ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """begin … end-1 of each pair, one after the other."""
    counts = end - begin
    return np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))


def _more(places: np.ndarray) -> str:
    return f" (and {len(places) - 1} more)" if len(places) > 1 else ""


def _proposal(names: tuple[str, ...]) -> str:
    rules = ["all", "any"] if len(names) == 2 else ["all"] * (len(names) - 1) + ["otherwise"]
    return f"ac.InputStates({', '.join(f'{n}={r!r}' for n, r in zip(names, rules, strict=False))})".replace("'", '"')
