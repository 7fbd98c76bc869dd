// Who reads what, row by row, and what a row is computed from; which row determines which unknown. For local.cpp.
#include "local.h"

#include <algorithm>
#include <iterator>

namespace acausal {

constexpr size_t most_nodes = 512; // that may be reached by one event

static int32_t folded(int32_t cell) { return cell ^ (cell >> 31); }

void Local::add_nodes(const std::vector<Family> &families, Role role) {
    for (const Family &family : families)
        for (int32_t column = 0; column < (int32_t)family.count(); ++column) nodes.push_back({&family, column, role});
}

Local::Table Local::table_of(Role role, int64_t count) const {
    Table table;
    table.start.assign(count + 1, 0);
    auto each = [&](auto &&visit) {
        for (size_t k = 0; k < nodes.size(); ++k)
            if (nodes[k].role == role)
                for (int64_t o = 0; o < nodes[k].family->targets.shape[0]; ++o) visit(target_of(*nodes[k].family, o, nodes[k].column), (int32_t)k);
    };
    each([&](int32_t target, int32_t) { ++table.start[target + 1]; });
    for (int64_t k = 0; k < count; ++k) table.start[k + 1] += table.start[k];
    table.nodes.resize(table.start[count]);
    std::vector<int32_t> next(table.start.begin(), table.start.end() - 1);
    each([&](int32_t target, int32_t node) { table.nodes[next[target]++] = node; });
    return table;
}

void Local::build() {
    Switches &s = *switches;
    add_nodes(s.relation.families, Relation), add_nodes(s.size.families, Size), add_nodes(s.update.families, Update);
    add_nodes(system->residuals, Residual), add_nodes(system->assignments, Assignment);
    add_nodes(s.reinit.families, Reinit), add_nodes(s.snapshot.families, Snapshot);
    for (const Rules *rules : {&s.guess, &s.stop, &s.assertion}) add_nodes(rules->families, Foreign);
    add_nodes(s.schedule.families, Foreign);
    std::vector<int32_t> of_values = system->assignments_for(s.relation.families), of_sizes = system->assignments_for(s.size.families);
    std::set_union(of_values.begin(), of_values.end(), of_sizes.begin(), of_sizes.end(), std::back_inserter(for_relations));
    int64_t cells = system->layout.workspace();
    producers[Relation] = table_of(Relation, (int64_t)s.relation.values.size());
    producers[Size] = table_of(Size, (int64_t)s.size.values.size());
    producers[Update] = table_of(Update, (int64_t)s.update.values.size());
    producers[Reinit] = table_of(Reinit, (int64_t)s.reinit.values.size());
    producers[Snapshot] = table_of(Snapshot, (int64_t)s.snapshot.values.size());
    producers[Residual] = table_of(Residual, n);
    producers[Assignment] = table_of(Assignment, system->computed);
    readers.start.assign(cells + 1, 0);
    auto each = [&](auto &&visit) {
        for (size_t k = 0; k < nodes.size(); ++k)
            if (nodes[k].role != Size)
                for (int64_t i = 0; i < nodes[k].family->slots.shape[0]; ++i)
                    visit(folded(nodes[k].family->slots.data[i * nodes[k].family->count() + nodes[k].column]), (int32_t)k);
    };
    each([&](int32_t cell, int32_t) { ++readers.start[cell + 1]; });
    for (int64_t k = 0; k < cells; ++k) readers.start[k + 1] += readers.start[k];
    readers.nodes.resize(readers.start[cells]);
    std::vector<int32_t> next(readers.start.begin(), readers.start.end() - 1);
    each([&](int32_t cell, int32_t node) { readers.nodes[next[cell]++] = node; });
    cell_number.assign(cells, -1), partner_number.assign(cells, -1);
    for (size_t k = 0; k < s.cells.size(); ++k) cell_number[s.cells[k]] = (int32_t)k, partner_number[s.partners[k]] = (int32_t)k;
    snapshot_of.assign(cells, -1);
    for (size_t k = 0; k < s.snapshot.targets.size(); ++k) snapshot_of[s.snapshot.targets[k]] = (int32_t)k;
    stamp.assign(std::max<size_t>(nodes.size(), cells), 0);
    place.assign(n, -1), taken.assign(n, -1);
    version.assign(s.bands.size(), 0), crossings.assign(s.bands.size(), 0), hops.assign(s.bands.size(), 0);
    v.assign(cells, 0.0);
    built = true;
}

// Which row determines which unknown, where y of the states is given: a matching in dF/dy' of the states and dF/dy of the others.
void Local::match(const double *w) {
    std::vector<double> parts(2 * system->value_count());
    system->partials(w, parts.data());
    const double *by_value = parts.data(), *by_slope = parts.data() + system->value_count();
    const int32_t *start = system->indptr.data, *row = system->indices.data;
    has_slope.assign(n, 0);
    std::vector<std::pair<int32_t, int32_t>> entries;
    for (int32_t c = 0; c < n; ++c) {
        has_slope[c] = switches->differential[c] && std::any_of(by_slope + start[c], by_slope + start[c + 1], [](double d) { return d != 0; });
        for (int32_t k = start[c]; k < start[c + 1]; ++k)
            if ((has_slope[c] ? by_slope : by_value)[k] != 0) entries.emplace_back(row[k], c);
    }
    std::sort(entries.begin(), entries.end());
    entry_start.assign(n + 1, 0), entry_row.resize(entries.size());
    for (auto [r, c] : entries) ++entry_start[r + 1];
    for (int64_t k = 0; k < n; ++k) entry_start[k + 1] += entry_start[k];
    for (size_t k = 0; k < entries.size(); ++k) entry_row[k] = entries[k].second;
    owner.assign(n, -1), row_of.assign(n, -1);
    for (int32_t r = 0; r < n; ++r)
        for (int32_t k = entry_start[r]; k < entry_start[r + 1] && owner[r] < 0; ++k)
            if (row_of[entry_row[k]] < 0) owner[r] = entry_row[k], row_of[entry_row[k]] = r;
    std::vector<int32_t> seen(n, -1);
    for (int32_t r = 0; r < n; ++r)
        if (owner[r] < 0) ++stamped, augment(r, seen, 0);
}

bool Local::augment(int32_t row, std::vector<int32_t> &seen, int depth) {
    if (depth > 500) return false; // what is not matched is left to others
    for (int32_t k = entry_start[row]; k < entry_start[row + 1]; ++k) {
        int32_t c = entry_row[k];
        if (seen[c] == stamped) continue;
        seen[c] = stamped;
        if (row_of[c] >= 0 && !augment(row_of[c], seen, depth + 1)) continue;
        owner[row] = c, row_of[c] = row;
        return true;
    }
    return false;
}

bool Local::gather(Closure &found, int32_t node, int depth) {
    const Family &family = *nodes[node].family;
    int64_t first = system->layout.workspace() - system->computed;
    if (family.slots.shape[0] > (int64_t)most_cells || family.targets.shape[0] > (int64_t)most_cells) return false;
    for (int64_t i = 0; i < family.slots.shape[0]; ++i) {
        int32_t cell = folded(family.slots.data[i * family.count() + nodes[node].column]);
        if (stamp[cell] == stamped) continue;
        stamp[cell] = stamped;
        if (cell < n) found.values.push_back(cell);
        else if (cell < 2 * n) found.slopes.push_back(cell - (int32_t)n);
        else if (cell >= first || snapshot_of[cell] >= 0) {
            const Table &makers = producers[cell >= first ? Assignment : Snapshot];
            int32_t number = cell >= first ? cell - (int32_t)first : snapshot_of[cell];
            if (depth > 100) return false;
            for (int32_t k = makers.start[number]; k < makers.start[number + 1]; ++k)
                if (!gather(found, makers.nodes[k], depth + 1)) return false;
            found.computed.push_back(cell);
        }
        if (found.values.size() + found.slopes.size() + found.computed.size() > most_cells) return false;
    }
    return true;
}

const Local::Closure &Local::closure(Role role, int32_t row) {
    auto [place_, is_new] = closures.try_emplace((int64_t)role << 40 | row);
    Closure &found = place_->second;
    if (!is_new) return found;
    ++stamped;
    const Table &table = producers[role];
    found.nodes.assign(table.nodes.begin() + table.start[row], table.nodes.begin() + table.start[row + 1]);
    for (int32_t node : found.nodes)
        if (!gather(found, node, 0)) return found.bounded = false, found;
    return found;
}

Local::Reached Local::reached(const std::vector<int32_t> &cells) {
    Reached found;
    std::vector<int32_t> waiting = cells;
    int64_t first = system->layout.workspace() - system->computed;
    size_t seen = 0;
    ++stamped;
    std::vector<int32_t> rows, relations, updates;
    while (!waiting.empty()) {
        int32_t cell = waiting.back();
        waiting.pop_back();
        for (int32_t k = readers.start[cell]; k < readers.start[cell + 1]; ++k) {
            int32_t node = readers.nodes[k];
            if (stamp[node] == stamped) continue;
            stamp[node] = stamped;
            if (++seen > most_nodes) return found.bounded = false, found;
            const Family &family = *nodes[node].family;
            if (nodes[node].role == Foreign) found.foreign = true;
            for (int64_t o = 0; o < family.targets.shape[0]; ++o) {
                int32_t target = target_of(family, o, nodes[node].column);
                if (nodes[node].role == Residual) found.rows.push_back(target);
                if (nodes[node].role == Relation) found.relations.push_back(target);
                if (nodes[node].role == Update) found.updates.push_back(target);
                if (nodes[node].role == Reinit) found.reinits.push_back(target);
                if (nodes[node].role == Assignment) waiting.push_back((int32_t)first + target);
                if (nodes[node].role == Snapshot) waiting.push_back(switches->snapshot.targets[target]);
            }
        }
    }
    for (auto *list : {&found.rows, &found.relations, &found.updates, &found.reinits}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    return found;
}

} // namespace acausal
