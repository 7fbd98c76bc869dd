// Switches (switches.h) as Python sees them: everything is checked here, so that nothing need be later.
#include "switches.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace acausal {

namespace {

using namespace nb::literals;

template <typename T> nb::object numpy(const std::vector<T> &values, const char *dtype) {
    nb::object result = nb::module_::import_("numpy").attr("empty")(values.size(), "dtype"_a = dtype);
    Array<T, 1> array(result, "result");
    std::copy(values.begin(), values.end(), array.data);
    return result;
}

std::vector<int32_t> indices(nb::handle values, int64_t limit, const char *name) {
    Integers given(values, name);
    if (largest_index(given.data, given.size(), false, name) >= limit)
        throw nb::value_error((std::string("`") + name + "` points outside the workspace").c_str());
    return {given.data, given.data + given.size()};
}

std::vector<double> doubles(nb::handle values, const char *name, size_t size) {
    Doubles given(values, name);
    require_size(given, (int64_t)size, name);
    return {given.data, given.data + given.size()};
}

std::vector<char> mask(nb::handle values, const char *name, size_t size) {
    Array<const bool, 1> given(values, name);
    require_size(given, (int64_t)size, name);
    return {given.data, given.data + given.size()};
}

} // namespace

nb::dict EventRecords::as_dict() const {
    nb::dict d;
    d["times"] = numpy(times, "float64");
    d["rows"] = numpy(rows, "int64");
    d["restarts"] = numpy(restarts, "bool");
    d["jumps"] = numpy(jumps, "bool");
    d["cause_events"] = numpy(cause_events, "int64");
    d["cause_rows"] = numpy(cause_rows, "int64");
    d["change_events"] = numpy(change_events, "int64");
    d["change_cells"] = numpy(change_cells, "int64");
    d["change_values"] = numpy(change_values, "float64");
    d["row_times"] = numpy(row_times, "float64");
    d["handled"] = handled;
    d["timed"] = timed;
    d["restarted"] = restarted;
    d["rounds"] = rounds;
    d["sweeps"] = sweeps;
    d["alarm"] = alarm;
    return d;
}

Rules &Switches::rules(const std::string &role) {
    const std::pair<const char *, Rules *> all[] = {{"relation", &relation}, {"size", &size}, {"update", &update},     {"reinit", &reinit}, {"guess", &guess},
                                                    {"snapshot", &snapshot}, {"stop", &stop}, {"assertion", &assertion}};
    for (auto [name, rules] : all)
        if (role == name) return *rules;
    throw nb::value_error(("there are no rules of the role `" + role + "`").c_str());
}

void Switches::check() {
    for (const Rules *rules : {&relation, &size, &update, &reinit, &guess, &snapshot, &stop, &assertion})
        for (const Family &family : rules->families)
            if (family.largest_target >= (int64_t)rules->values.size()) throw nb::value_error("a kernel has more rows than its role");
    for (const Rules *rules : {&relation, &update, &reinit, &guess, &snapshot})
        if (rules->targets.size() != rules->values.size()) throw nb::value_error("each row needs a target");
    if ((int64_t)(bands.size() + directions.size()) != system->root_count)
        throw nb::value_error("the root functions are those of relations and crossings");
    if (differential.size() != (size_t)system->layout.size) throw nb::value_error("set_unknowns() was not called");
    std::vector<char> kept(workspace_size(), 0);
    for (int32_t cell : snapshot.targets) kept[cell] = 1;
    kept_apart = true;
    for (size_t k = 0; k < cells.size(); ++k) kept_apart &= !kept[cells[k]] || !(read[k] || followed[k]);
}

void bind_switches(nb::module_ &m) {
    nb::class_<Switches>(m, "Switches", "What an ordinary state event does; see switches.h. Cells are indices into w.")
        .def(nb::init<std::shared_ptr<System>>(), "system"_a)
        .def("set_rules",
             [](Switches &s, const std::string &role, int64_t count, nb::handle targets) {
                 Rules &rules = s.rules(role);
                 rules.resize(count);
                 Integers given(targets, "targets");
                 rules.targets.assign(given.data, given.data + given.size());
                 for (int32_t target : rules.targets)
                     if (target < (role == "guess" ? -1 : 0) || target >= s.workspace_size())
                         throw nb::value_error("`targets` points outside the workspace");
             },
             "role"_a, "count"_a, "targets"_a)
        .def("set_combined_states",
             [](Switches &s, nb::handle cells, nb::handle of, nb::handle row, nb::handle table) {
                 s.nets.set_combined(cells, of, row, table, s.workspace_size());
             },
             "cells"_a, "of"_a, "row"_a, "table"_a)
        .def("set_state_names", [](Switches &s, nb::handle names, int64_t count) { s.nets.set_names(names, count); }, "names"_a, "count"_a)
        .def("add_nets",
             [](Switches &s, int64_t nets, nb::handle source, nb::handle source_net, nb::handle source_row, nb::handle follower, nb::handle key,
                nb::handle many, nb::handle rule) {
                 s.nets.add_level(nets, source, source_net, source_row, follower, key, many, rule, s.workspace_size());
             },
             "nets"_a, "source"_a, "source_net"_a, "source_row"_a, "follower"_a, "key"_a, "many"_a, "rule"_a)
        .def("add_rules",
             [](Switches &s, const std::string &role, uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) {
                 s.rules(role).families.push_back(s.family(address, slots, rows, functions));
             },
             "role"_a, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("set_cells",
             [](Switches &s, nb::handle cells, nb::handle partners, nb::handle read, nb::handle visible, nb::handle timed,
                nb::handle followed, nb::handle planned, bool mixed) {
                 s.cells = indices(cells, s.workspace_size(), "cells");
                 s.partners = indices(partners, s.workspace_size(), "partners");
                 if (s.partners.size() != s.cells.size()) throw nb::value_error("each cell has a partner");
                 s.read = mask(read, "read", s.cells.size());
                 s.visible = mask(visible, "visible", s.cells.size());
                 s.timed = mask(timed, "timed", s.cells.size());
                 s.followed = mask(followed, "followed", s.cells.size());
                 s.planned = mask(planned, "planned", s.cells.size());
                 s.mixed = mixed;
             },
             "cells"_a, "partners"_a, "read"_a, "visible"_a, "timed"_a, "followed"_a, "planned"_a, "mixed"_a)
        .def("set_types",
             [](Switches &s, nb::handle typed, nb::handle truths) {
                 s.typed = mask(typed, "typed", s.update.values.size());
                 s.truths = mask(truths, "truths", s.update.values.size());
             },
             "typed"_a, "truths"_a)
        .def("set_bands",
             [](Switches &s, double band, double away, double idle, double rounding, double soon, double soon_of_run) {
                 s.band = band, s.away = away, s.idle = idle, s.rounding = rounding, s.soon = soon, s.soon_of_run = soon_of_run;
             },
             "band"_a, "away"_a, "idle"_a, "rounding"_a, "soon"_a, "soon_of_run"_a)
        .def("set_relations",
             [](Switches &s, nb::handle bands, nb::handle sense, nb::handle strict, nb::handle exact, nb::handle narrow, nb::handle soft,
                nb::handle edges, nb::handle directions) {
                 s.bands = indices(bands, s.workspace_size(), "bands");
                 s.sense = doubles(sense, "sense", s.bands.size());
                 s.strict = mask(strict, "strict", s.bands.size());
                 s.exact = mask(exact, "exact", s.bands.size());
                 s.narrow = doubles(narrow, "narrow", s.bands.size());
                 for (double &width : s.narrow) width = std::max(width, 1e-200); // its inverse is a number
                 s.soft = doubles(soft, "soft", s.bands.size());
                 s.edges = indices(edges, (int64_t)s.bands.size(), "edges");
                 if (s.edges.size() != s.bands.size()) throw nb::value_error("each relation has one other edge, or itself");
                 Integers given(directions, "directions");
                 s.directions.assign(given.data, given.data + given.size());
             },
             "bands"_a, "sense"_a, "strict"_a, "exact"_a, "narrow"_a, "soft"_a, "edges"_a, "directions"_a)
        .def("set_unknowns",
             [](Switches &s, nb::handle differential, nb::handle nominal, nb::handle signs, nb::handle guess_signs,
                double restart_step) {
                 s.differential = mask(differential, "differential", s.system_size());
                 s.nominal = doubles(nominal, "nominal", s.system_size());
                 s.signs = doubles(signs, "signs", s.reinit.values.size());
                 s.guess_signs = doubles(guess_signs, "guess_signs", s.guess.values.size());
                 s.restart_step = restart_step;
             },
             "differential"_a, "nominal"_a, "signs"_a, "guess_signs"_a, "restart_step"_a)
        .def("set_schedule",
             [](Switches &s, nb::handle targets, nb::handle sense, nb::handle strict, nb::handle slope) {
                 s.schedule.is = true;
                 s.schedule.targets = indices(targets, s.workspace_size(), "targets");
                 s.schedule.sense = doubles(sense, "sense", s.schedule.targets.size());
                 s.schedule.strict = mask(strict, "strict", s.schedule.targets.size());
                 s.schedule.slope = doubles(slope, "slope", s.schedule.targets.size());
             },
             "targets"_a, "sense"_a, "strict"_a, "slope"_a, "Keep the times of relations of time and of clocks here.")
        .def("add_timed",
             [](Switches &s, uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) {
                 s.schedule.families.push_back(s.family(address, slots, rows, functions));
                 if (s.schedule.families.back().largest_target >= (int64_t)s.schedule.targets.size())
                     throw nb::value_error("a kernel has more rows than its role");
             },
             "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("set_clocks",
             [](Switches &s, nb::handle cells, const std::vector<int64_t> &next, const std::vector<int64_t> &period, int64_t first,
                int64_t base, int64_t denominator) {
                 Schedule &schedule = s.schedule;
                 schedule.tick_cells = indices(cells, s.workspace_size(), "cells");
                 if (next.size() != schedule.tick_cells.size() || period.size() != next.size() || base < 1 || denominator < 1)
                     throw nb::value_error("each clock has one next tick and one period");
                 for (int64_t p : period)
                     if (p < 1) throw nb::value_error("a period is a whole number of base ticks");
                 schedule.next = next, schedule.period = period;
                 schedule.first = first, schedule.base = base, schedule.denominator = denominator;
             },
             "cells"_a, "next"_a, "period"_a, "first"_a, "base"_a, "denominator"_a)
        .def_rw("local", &Switches::local, "Let events that change few unknowns do so within a step of the others; see local.h.")
        .def_rw("handles", &Switches::handles, "False: roots are searched in the same way, but all events are left to the caller.")
        .def("set_haste",
             [](Switches &s, int64_t window, double shortest, double shrinking, int64_t shrunk, double near) {
                 s.haste.set((int64_t)(s.bands.size() + s.directions.size()), window, shortest, shrinking, shrunk, near);
             },
             "window"_a, "shortest"_a, "shrinking"_a, "shrunk"_a, "near"_a);
}

} // namespace acausal
