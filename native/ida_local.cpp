// Relations that are searched step by step, and events that change few unknowns within a step (local.h).
#include "ida.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr int64_t whole_row = 512; // columns: wider rows are not stored at events that change few of them

bool Ida::searches() const {
    return switches && switches->local && switches->handles && switches->joint() && switches->kept_apart && switches->nets.empty() &&
           !watch && !recorder && !untested && !system->step_cells.size();
}

double Ida::step_end() const {
    double end = 0;
    IDAGetCurrentTime(mem, &end);
    return origin + end;
}

// The differences that IDAS keeps are what it combines when it interpolates.
History Ida::history() {
    History step;
    IDAGetLastOrder(mem, &step.order);
    if (!differences) IDAGetDky(mem, mesh[0] - origin, 0, y_out), differences = last_combined();
    int count = std::min(step.order + 1, settings.max_order);
    for (int j = 0; j <= count; ++j) step.differences.push_back(NV_DATA_S(differences[j]));
    step.times = mesh;
    step.times.push_back(mesh.back() - (mesh[mesh.size() - 2] - mesh.back())); // as far before the start as the first step was long
    return step;
}

// IDAS takes a stop that is closer to the end of its step than it moves for reached, and forgets it: the session is there then, not at the
// end of the step, or the next step would pass what happens at the stop.
Status Ida::search_step() {
    double end = step_end(), reached = std::max(t, end);
    if (end > mesh[0]) mesh.insert(mesh.begin(), end);
    if (mesh.size() > 8) mesh.pop_back();
    Status status = search(std::min(end, horizon));
    if (status == Status::Finished && t != reached) go_back(reached);
    return status;
}

Status Ida::search(double until) {
    if (!(until > searched)) return Status::Finished;
    root_row = -1;
    if (t != until) go_back(until);
    if (!set_time(t, w.get(), input_time)) return Status::Finished; // what went wrong is kept
    if (!local) local = std::make_unique<Local>(system, switches, scales, [this](double time, double *v) { return set_time(time, v, local_time); });
    local->enter(history());
    local_time = nowhere;
    bool any = root_time.time([&] { return local->look(w.get(), searched, until, *gaps); });
    if (!any) return searched = until, Status::Finished;
    double time;
    std::vector<int32_t> rows;
    while (local->next(time, rows)) {
        bool room = outputs.width() > whole_row || room_for_event(sheet.capacity, sheet.count);
        *sheet.written = write_rows(std::nextafter(time, searched), sheet.times, sheet.count, sheet.rows, *sheet.written);
        if (!cancelled && room && local->attempt(rows, time)) {
            take_course(time);
            if (!switches->records.alarm) continue;
            go_back(time);
            return searched = time, Status::Paused;
        }
        auto in_vain = [&](int32_t row) { // nothing came of it when it was last looked at
            bool known = time <= left_at && std::find(left_rows.begin(), left_rows.end(), row) != left_rows.end();
            if (known) switches->leave_out(row);
            return known;
        };
        rows.erase(std::remove_if(rows.begin(), rows.end(), in_vain), rows.end());
        if (!rows.empty()) return go_to_root(rows, time, until), Status::Root;
    }
    t = searched = until;
    return Status::Finished;
}

// Where IDAS' own interpolation is beyond the switching point, too.
void Ida::go_to_root(const std::vector<int32_t> &rows, double time, double until) {
    double further = 16 * std::numeric_limits<double>::epsilon() * (std::fabs(until) + std::fabs(until - searched));
    for (int attempt = 0; attempt < 40; ++attempt, further *= 2) {
        go_back(time);
        if (!set_time(t, w.get(), input_time)) break;
        system->assign(w.get());
        bool beyond = !(switches->nearest(w.get()) > 0) || system->rests(rows[0], switches->relation.values[rows[0]], w.get());
        if (beyond || !(time < until)) break;
        time = std::min(time + further, until);
    }
    root_row = rows[0], left_rows = rows, searched = left_at = time;
}

// An event that was found to be local, and what is stored of it.
void Ida::take_course(double time) {
    bool noteworthy = local->noteworthy(), rows = noteworthy && outputs.width() <= whole_row;
    t = time;
    if (rows && last_stored < t) store_row(sheet.rows, *sheet.written);
    local->commit(w.get(), w_out.get());
    switches->restart = false;
    switches->jumped = local->jumps();
    if (switches->jumped) switches->records.alarm |= switches->haste.jump(t, switches->causes);
    if (noteworthy) switches->note(w.get(), t, *sheet.written + event_rows - 1);
    if (rows) store_row(sheet.rows, *sheet.written);
    ++switches->records.handled, ++switches->records.rounds;
}

} // namespace acausal
