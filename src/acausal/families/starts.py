"""Start values, nominal values and bounds of the unknowns, gathered from all the variables that each unknown stands for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..errors import Diagnostic
from ..language.declarations import Modification
from ..records import dataclass
from .numbers import BY_CONNECTOR, DECLARED, MODIFIED, Attributes, Numbers, Values, range_text
from .system import System, eliminated_mask


@dataclass(slots=True, eq=False)
class Starts:
    """Per unknown. `given`: somebody wrote a start value down; `level`: who (see `numbers.Values`); `voices`: for how many of the
    variables that it stands for."""

    start: np.ndarray
    given: np.ndarray
    fixed: np.ndarray
    nominal: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    level: np.ndarray
    voices: np.ndarray


class StartReader:
    """Evaluates what depends on parameters whenever asked."""

    def __init__(self, system: System, numbers: Numbers) -> None:
        self.system, self.attributes, self.fixed = system, Attributes(system.plant), numbers.fixed
        self.start, self.nominal = numbers.start.own_if_bound(), numbers.nominal.own_if_bound()
        self.minimum, self.maximum = numbers.minimum.own_if_bound(), numbers.maximum.own_if_bound()
        bound = [values for values in (self.start, self.nominal, self.minimum, self.maximum) if values.bindings]
        self.depends_on_parameters = bool(bound)
        self._bound, self._only = bound, None if bound else self._read()

    def starts(self, known: np.ndarray) -> Starts:
        """With these parameters; the same object each time where they make no difference."""
        if self._only is not None:
            return self._only
        for values in self._bound:
            self.attributes.evaluate(values.bindings, values.cells, known)
        return self._read()

    def _read(self) -> Starts:
        fixed = (self.fixed.cells != 0).astype(np.int8)
        n = self.system.aliases.unknown_count
        said = self.living_members(self.start.given)
        of, who = self.system.aliases.index.take(said), self.start.given.take(said)
        start = self._chosen(self.start, 0.0, said, who + 4 * fixed.take(said), signed=True)
        level = np.zeros(n, dtype=np.int64)
        for one in (BY_CONNECTOR, DECLARED, MODIFIED):  # who counts more is written later
            level[of[who == one]] = one
        voices = np.bincount(of[who == level.take(of)], minlength=n)
        sized = self.living_members(self.nominal.given)
        nominal = self._chosen(self.nominal, 1.0, sized, self.nominal.given.take(sized), signed=False)
        low, high = self._bounds()
        held = np.zeros(n, dtype=bool)
        chosen = self.living_members(fixed)
        held[self.system.aliases.index[chosen]] = True
        return self._with_derivatives(Starts(start, level > 0, held, np.abs(nominal), low, high, level, np.maximum(voices, 1.0)))

    def _with_derivatives(self, starts: Starts) -> Starts:
        """Derivatives that index reduction made unknowns: no start, no bounds, the size of what they derive from."""
        added = self.system.derivatives
        if added is None:
            return starts
        count = len(added.of_unknown)
        return Starts(
            np.append(starts.start, np.zeros(count)),
            np.append(starts.given, np.zeros(count, dtype=bool)),
            np.append(starts.fixed, np.zeros(count, dtype=bool)),
            np.append(starts.nominal, starts.nominal[added.of_unknown]),
            np.append(starts.minimum, np.full(count, -np.inf)),
            np.append(starts.maximum, np.full(count, np.inf)),
            np.append(starts.level, np.zeros(count, dtype=np.int64)),
            np.append(starts.voices, np.ones(count)),
        )

    def state_preference(self) -> np.ndarray:
        """Per original unknown, how eagerly it becomes a dummy: large numbers for `avoid`, small ones for `prefer`."""
        weight = {"always": 1e-6, "prefer": 1e-3, "default": 1.0, "avoid": 1e3, "never": 1e6}
        chosen = np.ones(self.system.aliases.unknown_count)
        for kind in self.system.plant.kinds:
            for quantity in kind.quantities.values():
                for member in kind.members:
                    changed = member.modifications.get(quantity.name) or Modification()
                    state = changed.get("state", quantity.declaration.state)
                    if state != "default":
                        first = quantity.base + member.first * quantity.size
                        last = first + member.count * quantity.size
                        members = first + np.flatnonzero(self.living[first:last])
                        chosen[self.system.aliases.index[members]] = weight[state]
        return chosen

    def living_members(self, chosen: np.ndarray) -> np.ndarray:
        """Those of the chosen variables that live in an unknown."""
        return np.flatnonzero((chosen != 0) & self.living)

    @cached_property
    def living(self) -> np.ndarray:
        """Which variables live in an unknown."""
        return ~(eliminated_mask(self.system.plant, self.system.definitions) | self.system.aliases.known)

    def _chosen(self, values: Values, default: float, members: np.ndarray, priority: np.ndarray, signed: bool) -> np.ndarray:
        """The value with the highest priority among an unknown's members; of equals the first."""
        aliases = self.system.aliases
        chosen = np.full(aliases.unknown_count, default)
        place, number = aliases.index.take(members), values.cells.take(members)
        if signed:
            number *= aliases.sign.take(members)
        for one in range(1, int(priority.max(initial=0)) + 1):  # written in this order, and the first behind: the last one stays
            here = np.flatnonzero(priority == one)[::-1]
            if len(here):
                chosen[place.take(here)] = number.take(here)
        return chosen

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        aliases = self.system.aliases
        low, high = np.full(aliases.unknown_count, -np.inf), np.full(aliases.unknown_count, np.inf)
        members = self.living_members(self.minimum.given | self.maximum.given)
        place, minus = aliases.index[members], aliases.sign[members] < 0
        small, large = self.minimum.cells[members], self.maximum.cells[members]
        np.maximum.at(low, place, np.where(minus, -large, small))
        np.minimum.at(high, place, np.where(minus, -small, large))
        return low + 0.0, high + 0.0  # no zero with a minus sign

    def who_bounds(self, unknown: int, upper: bool, bound: float) -> tuple[str, float]:
        """Of the variables that are one unknown, the one whose bound this is, and its sign."""
        aliases = self.system.aliases
        members = self.living_members(self.minimum.given | self.maximum.given)
        members = members[aliases.index[members] == unknown]
        sign = aliases.sign[members]
        own = np.where((sign > 0) == upper, self.maximum.cells[members], self.minimum.cells[members])
        stated, label = members[sign * own == bound], int(aliases.label[unknown])
        number = label if label in stated or not len(stated) else int(stated[0])
        return self.system.plant.name_of(number), float(aliases.sign[number])

    def contradictions(self) -> list[Diagnostic]:
        """Unknowns for which two of their variables are fixed at different values."""
        aliases = self.system.aliases
        members = self.living_members(self.fixed.cells)
        place, value = aliases.index[members], aliases.sign[members] * self.start.cells[members]
        low, high = np.full(self.system.size, np.inf), np.full(self.system.size, -np.inf)
        np.minimum.at(low, place, value)
        np.maximum.at(high, place, value)
        found = []
        for unknown in np.flatnonzero(high > low)[:8]:
            names = [self.system.plant.name_of(int(m)) for m in members[place == unknown]]
            found.append(
                Diagnostic(
                    f"{', '.join(f'`{n}`' for n in names[:4])} are one unknown, but fixed at different start values.",
                    details=(f"values:    {low[unknown]:g} … {high[unknown]:g}", *self._each_start(members[place == unknown])),
                    remedy="Fix only one of them, or give both the same value.",
                )
            )
        return found

    def _each_start(self, members: np.ndarray) -> list[str]:
        return [f"           {self.system.plant.name_of(int(m))} = {self.start.cells[m]:g}" for m in members[:4]]

    def outside_bounds(self, starts: Starts) -> list[Diagnostic]:
        wrong = np.flatnonzero(starts.given & ((starts.start < starts.minimum) | (starts.start > starts.maximum)))
        return [self._outside(int(k), starts) for k in wrong[:8]]

    def _outside(self, unknown: int, starts: Starts) -> Diagnostic:
        number, plant = self._number_with_start(unknown, starts), self.system.plant
        kind, quantity, _ = plant.quantity_at(number)
        name, path = plant.name_of(number), plant.name_of(number).rpartition(".")[0]
        upper = bool(starts.start[unknown] > starts.maximum[unknown])
        owner, _ = self.who_bounds(unknown, upper, float((starts.maximum if upper else starts.minimum)[unknown]))
        return Diagnostic(
            f"`{name}` starts at {starts.start[unknown]:g}, outside its bounds: "
            f"it must be {range_text(float(starts.minimum[unknown]), float(starts.maximum[unknown]))}.",
            component=f"{path or 'the model'} ({kind.name})",
            location=quantity.declaration.location,
            details=() if owner == name else (f"bounded:   `{owner}`, which is the same but perhaps for its sign",),
            remedy="Give a start value within the bounds: ac.start(…). Numbers are in the declared unit; "
            'with another one they are texts: ac.start("20 degC").',
        )

    def _number_with_start(self, unknown: int, starts: Starts) -> int:
        """Of the variables that are one unknown, the one whose start was written down."""
        aliases = self.system.aliases
        members = self.living_members(self.start.given)
        value = aliases.sign[members] * self.start.cells[members]
        stated = members[(aliases.index[members] == unknown) & (value == starts.start[unknown])]
        return int(stated[0]) if len(stated) else int(aliases.label[unknown])
