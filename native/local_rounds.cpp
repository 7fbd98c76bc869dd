// The rounds of an event that happens within a step (local.h): those of Switches, for what reads something that changes.
//
// Relations that cross, and states that are set, are known from the start; what equations make of them is solved for when the rounds
// are over. So whoever acts by what is solved for, and might have acted otherwise, leaves the event to Switches.
#include "local.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr int most_rounds_here = 50, most_sweeps_here = 100;

void Local::set(int32_t cell, double value) {
    old.emplace_back(cell, v[cell]);
    v[cell] = value;
}

void Local::undo() {
    for (size_t k = old.size(); k--;) v[old[k].first] = old[k].second;
    for (const Unknown &u : few) place[u.number] = -1;
    old.clear(), few.clear();
}

bool Local::of_type(int32_t update, double value) const {
    const Switches &s = *switches;
    if (!std::isfinite(value)) return false;
    if ((size_t)update < s.typed.size() && s.typed[update] && value != std::rint(value)) return false;
    return !((size_t)update < s.truths.size() && s.truths[update] && value != 0 && value != 1);
}

// Whether what a row says now is what it would say of solved equations, as far as is known yet. In the first round it sees unknowns as
// they were, unless equations read what changes in that round: those who see solutions are remembered for then.
bool Local::may_act(Role role, int32_t row, bool first) {
    const Closure &found = closure(role, row);
    bool of_states = found.slopes.empty() && std::all_of(found.values.begin(), found.values.end(), [&](int32_t u) { return has_slope[u]; });
    if (of_states) return true;
    acted.push_back((int64_t)role << 40 | row);
    return first;
}

// Assignments until they agree; `pending` are cells and states that have changed.
bool Local::sweep(std::vector<int32_t> pending, double t, bool first) {
    for (int k = 0; k < most_sweeps_here && !pending.empty(); ++k) {
        Reached found = reached(pending);
        if (!found.bounded) return false;
        std::vector<std::pair<int32_t, double>> values;
        for (int32_t row : found.updates) {
            if (!closure(Update, row).bounded) return false;
            double value = evaluate(Update, row, t);
            if (value == v[switches->update.targets[row]]) continue;
            if (!of_type(row, value) || !may_act(Update, row, first)) return false;
            values.emplace_back(switches->update.targets[row], value);
        }
        pending.clear();
        for (auto [cell, value] : values) set(cell, value), pending.push_back(cell);
    }
    return pending.empty();
}

// Whether a relation has the value that goes with the unknowns.
bool Local::holds(int32_t relation, double t) {
    return closure(Relation, relation).bounded && !(switches->side(v.data(), relation) * evaluate(Relation, relation, t) < 0);
}

// The other value of a relation, and a band behind it.
void Local::flip(int32_t row, double t) {
    Switches &s = *switches;
    int32_t cell = s.relation.targets[row];
    set(cell, 1.0 - v[cell]);
    double width = std::max(s.narrow[row], s.band * std::fabs(evaluate(Size, row, t)));
    set(s.bands[row], -s.side(v.data(), row) * width);
    if (std::find(flipped.begin(), flipped.end(), row) == flipped.end()) flipped.push_back(row);
}

// Relations that see a state which was set, or a value before that is another one now: those that it is clearly on the other side of
// change sides (Switches::decide has the rules for what is next to its switching point).
bool Local::cross(std::vector<int32_t> &pending, double t) {
    Switches &s = *switches;
    Reached found = reached(pending);
    if (!found.bounded || found.foreign) return false;
    for (int32_t row : found.relations) {
        const Closure &read = closure(Relation, row);
        if (!read.bounded || !closure(Size, row).bounded || s.edges[row] != row) return false;
        double g = evaluate(Relation, row, t), distance = std::fabs(g + v[s.bands[row]]);
        if (!std::isfinite(g)) return false;
        bool wrong = s.side(v.data(), row) * g < 0, is_new = std::find(event_rows.begin(), event_rows.end(), row) == event_rows.end();
        bool near = !(distance > std::max(s.width(v.data(), row), s.narrow[row])) || (!is_new && !(distance > s.soft[row]));
        if (near && (wrong || is_new)) return false;
        if (!wrong) continue;
        if (!may_act(Relation, row, false)) return false;
        flip(row, t);
        pending.push_back(s.relation.targets[row]);
    }
    return true;
}

// States that get other values in this round.
bool Local::find_new_states(const std::vector<int32_t> &cells, double t, bool first) {
    Switches &s = *switches;
    moved.clear();
    Reached found = reached(cells);
    if (!found.bounded) return false;
    for (int32_t row : found.reinits) {
        if (!closure(Reinit, row).bounded) return false;
        int32_t state = s.reinit.targets[row];
        double value = s.signs[row] * evaluate(Reinit, row, t), now = value_at(weights_at(t), state);
        if (value == now) continue;
        if (!std::isfinite(value) || !has_slope[state] || row_of[state] < 0 || !may_act(Reinit, row, first)) return false;
        for (auto [other, given] : moved)
            if (other == state && given != value) return false; // two values for one state are for Python to tell
        moved.emplace_back(state, value);
    }
    return true;
}

bool Local::move(int32_t state, double value, double t) {
    if (!add_unknown(row_of[state], t) || place[state] < 0) return false;
    Unknown &u = few[place[state]];
    u.begin = u.value = value, u.tolerance = scales.tolerance(state, value);
    return jumped = true;
}

// Cells that have another value than before the round, of those that were written since.
std::vector<int32_t> Local::changed_since(size_t first) const {
    const Switches &s = *switches;
    std::vector<int32_t> changed;
    for (size_t k = first; k < old.size(); ++k) {
        int32_t number = cell_number[old[k].first];
        if (number >= 0 && v[s.cells[number]] != v[s.partners[number]]) changed.push_back(s.cells[number]);
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    return changed;
}

bool Local::discrete(double t) {
    Switches &s = *switches;
    std::vector<int32_t> pending;
    for (int round = 0; round < most_rounds_here; ++round) {
        size_t first = old.size();
        if (round && !cross(pending, t)) return false;
        for (size_t k = 0; !round && k < event_rows.size(); ++k) {
            if (!closure(Relation, event_rows[k]).bounded || !closure(Size, event_rows[k]).bounded) return false;
            flip(event_rows[k], t), pending.push_back(s.relation.targets[event_rows[k]]);
        }
        if (!sweep(pending, t, !round)) return false;
        std::vector<int32_t> changed = changed_since(first);
        Reached found = reached(changed);
        if (!found.bounded || found.foreign) return false;
        for (int32_t relation : found.relations) // those that have changed sides, too: they may read what they change
            if (!holds(relation, t)) return false;
        pending.insert(pending.end(), changed.begin(), changed.end());
        if (!find_new_states(pending, t, !round)) return false;
        if (changed.empty() && moved.empty()) return true;
        pending.clear();
        for (int32_t cell : changed) {
            int32_t number = cell_number[cell];
            if (s.timed[number] || s.planned[number]) return false;
            unsolved |= !round && s.read[number];
            changed_cells.push_back(number);
            set(s.partners[number], v[cell]);
            pending.push_back(s.partners[number]);
        }
        for (auto [state, value] : moved) {
            if (!move(state, value, t)) return false;
            pending.push_back(state);
        }
    }
    return false;
}

// Whether nobody acts once more when equations are solved, nor would have acted otherwise.
bool Local::stays(const Reached &seen, double t) {
    const Switches &s = *switches;
    auto has_acted = [&](Role role, int32_t row) {
        return unsolved && std::find(acted.begin(), acted.end(), (int64_t)role << 40 | row) != acted.end();
    };
    for (int32_t relation : seen.relations)
        if (!holds(relation, t)) return false;
    for (int32_t row : seen.updates)
        if (has_acted(Update, row) || !closure(Update, row).bounded || evaluate(Update, row, t) != v[s.update.targets[row]]) return false;
    for (int32_t row : seen.reinits) {
        int32_t state = s.reinit.targets[row];
        if (has_acted(Reinit, row) || !closure(Reinit, row).bounded) return false;
        if (s.signs[row] * evaluate(Reinit, row, t) != value_at(weights_at(t), state)) return false;
    }
    return true;
}

// What the event changed in the end, and whether anybody is to know.
void Local::see_changes() {
    const Switches &s = *switches;
    auto before = [&](int32_t cell) {
        auto first = std::find_if(old.begin(), old.end(), [&](const auto &each) { return each.first == cell; });
        return first == old.end() ? v[cell] : first->second;
    };
    std::sort(changed_cells.begin(), changed_cells.end());
    changed_cells.erase(std::unique(changed_cells.begin(), changed_cells.end()), changed_cells.end());
    auto is_back = [&](int32_t number) { return before(s.cells[number]) == v[s.cells[number]]; };
    changed_cells.erase(std::remove_if(changed_cells.begin(), changed_cells.end(), is_back), changed_cells.end());
    shown = !few.empty();
    for (int32_t number : changed_cells) shown |= (bool)s.visible[number];
}

} // namespace acausal
