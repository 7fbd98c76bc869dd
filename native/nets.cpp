#include "nets.h"

#include <algorithm>

namespace acausal {

enum Rule : int32_t { All = 0, Any = 1, Otherwise = 2 }; // as in structure/resolution.py

bool Nets::follow(double *w) {
    for (size_t k = 0; k < combined.size(); ++k) {
        double local = w[combined_of[k]];
        if (!(local >= 0 && local < (double)combined_table.columns)) return false;
        w[combined[k]] = combined_table.at(combined_row[k], (int64_t)local);
    }
    return std::all_of(levels.begin(), levels.end(), [&](const Level &level) { return follow(w, level); });
}

bool Nets::follow(double *w, const Level &level) {
    counts.assign(level.nets * (name_count + 1), 0);
    for (size_t k = 0; k < level.source.size(); ++k) {
        double state = w[level.source[k]];
        if (!(state >= 0 && state < (double)names.columns)) return false;
        ++counts[level.source_net[k] * (name_count + 1) + names.at(level.source_row[k], (int64_t)state)];
    }
    for (size_t k = 0; k < level.follower.size(); ++k) w[level.follower[k]] = (double)state_in(level, k);
    return true;
}

// The first state whose rule is met; the one without a rule of its own when no other is.
int64_t Nets::state_in(const Level &level, size_t k) const {
    int64_t otherwise = 0;
    bool has_otherwise = false;
    for (int64_t s = 0; s < level.rule.columns; ++s) {
        int32_t rule = level.rule.at((int64_t)k, s), present = counts[level.key.at((int64_t)k, s)];
        if ((rule == All && present == level.many[k]) || (rule == Any && present > 0)) return s;
        if (rule == Otherwise && !has_otherwise) otherwise = s, has_otherwise = true;
    }
    return otherwise;
}

// ------------------------------------------------------------------------------------------------ tables from Python

static Numbers numbers(nb::handle values, int64_t limit, const char *name) {
    Integers given(values, name);
    if (largest_index(given.data, given.size(), false, name) >= limit)
        throw nb::value_error((std::string("`") + name + "` points outside its table").c_str());
    return {given.data, given.data + given.size()};
}

Nets::Matrix Nets::matrix(nb::handle values, const char *name) {
    Table given(values, name);
    return {{given.data, given.data + given.size()}, given.shape[0], given.shape[1]};
}

void Nets::set_combined(nb::handle cells, nb::handle of, nb::handle row, nb::handle table, int64_t workspace) {
    combined_table = matrix(table, "table");
    combined = numbers(cells, workspace, "cells");
    combined_of = numbers(of, workspace, "of");
    combined_row = numbers(row, combined_table.rows, "row");
    if (combined_of.size() != combined.size() || combined_row.size() != combined.size()) throw nb::value_error("as many cells as rows");
}

void Nets::set_names(nb::handle table, int64_t count) {
    names = matrix(table, "names");
    name_count = count;
    for (int32_t name : names.values)
        if (name < 0 || name > count) throw nb::value_error("`names` holds a number that is no name");
}

void Nets::add_level(int64_t nets, nb::handle source, nb::handle source_net, nb::handle source_row, nb::handle follower, nb::handle key,
                     nb::handle many, nb::handle rule, int64_t workspace) {
    Level level{nets, numbers(source, workspace, "source"), numbers(source_net, nets, "source_net"),
                numbers(source_row, names.rows, "source_row"), numbers(follower, workspace, "follower"), numbers(many, INT32_MAX, "many"),
                matrix(key, "key"), matrix(rule, "rule")};
    size_t sources = level.source.size();
    int64_t followers = (int64_t)level.follower.size();
    if (level.source_net.size() != sources || level.source_row.size() != sources) throw nb::value_error("each source has a net and a row");
    if (level.key.rows != followers || level.rule.rows != followers || (int64_t)level.many.size() != followers ||
        level.key.columns != level.rule.columns)
        throw nb::value_error("each follower has its keys and rules");
    for (int32_t k : level.key.values)
        if (k < 0 || k >= nets * (name_count + 1)) throw nb::value_error("`key` points outside the counters");
    levels.push_back(std::move(level));
}

} // namespace acausal
