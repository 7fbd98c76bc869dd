// What happens at an ordinary state event, without Python: relations, assignments, re-initialised states, until nothing changes.
//
// The rounds are those of runtime/events/handler.py, which is the reference and deals with everything unusual: whatever does not
// come to a plain end here is undone, so that it can begin from where the event was found.
#pragma once

#include "nets.h"
#include "schedule.h"
#include "system.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace acausal {

// Expressions of one role, one row each: their kernels, and the cells of w (of "reinit" and "guess": the unknowns) that they are for, -1 for none.
struct Rules {
    std::vector<Family> families;
    std::vector<int32_t> targets;
    std::vector<double> values;

    void resize(int64_t count) { values.assign(count, 0.0); }
    bool empty() const { return values.empty(); }
    std::vector<double> &evaluate(const double *w);
};

// Events since they were last taken, and the times of all rows stored meanwhile.
struct EventRecords {
    std::vector<double> times, change_values, row_times;
    std::vector<int64_t> rows, cause_events, cause_rows, change_events, change_cells; // `rows`: of the stored row before the event
    std::vector<bool> restarts, jumps; // `jumps`: a state was set, without a restart
    int64_t handled = 0, timed = 0, restarted = 0, rounds = 0, sweeps = 0; // `timed`: of those handled, at a time that was known
    bool alarm = false; // events come so fast that someone should look
    nb::dict as_dict() const;
    void clear() { *this = EventRecords{}; }
};

// When events are too fast: `window` restarts within `shortest`, or `shrunk` intervals of one cause, each at most `shrinking` of the last.
class Haste {
  public:
    void set(int64_t causes, int64_t window, double shortest, double shrinking, int64_t shrunk, double near);
    bool restart(double t, const std::vector<int32_t> &causes);
    // The same within a step, where events cost little: too fast is what piles up in a small part, `near`, of the time since it began.
    bool jump(double t, const std::vector<int32_t> &causes);

  private:
    struct Cause {
        double first = 0, last = -1e300, gap = 0, ratio = 1; // of the last two gaps
        int64_t run = 0;
        bool see(double t, double shrinking);
    };
    std::vector<Cause> own;
    std::vector<double> times;
    size_t next = 0;
    double shortest = 0, shrinking = 0, near = 0;
    int64_t shrunk = 0;
};

class Switches {
  public:
    using Solve = std::function<bool()>; // consistent y and y' in w, states held

    explicit Switches(std::shared_ptr<System> system) : system(std::move(system)) {}

    Rules relation, size, update, reinit, guess, snapshot, stop, assertion; // `size`: of the terms of a relation
    std::vector<int32_t> cells, partners; // all discrete values in w, and those of before the event
    std::vector<int32_t> bands;           // of the relations
    std::vector<double> sense, narrow;    // of the relations; how wide a band is by nominal values
    std::vector<char> exact;              // of the relations: nothing that is solved for at events takes part
    // width of a band in sizes of terms; how far away one is next to nothing, in bands; and how wide it is then, in nominal ones;
    // what is zero but for rounding, in sizes of terms; a time after which it is seen what moves, and the part of the run that this is
    double band = 0, away = 0, idle = 0, rounding = 0, soon = 0, soon_of_run = 0;
    std::vector<double> signs, guess_signs; // of re-initialised states; of guesses
    Nets nets;
    std::vector<char> strict;             // of the relations: > and <
    std::vector<double> soft;             // of the relations: by so much a crossing may be wrong where values are interpolated
    std::vector<char> fired;              // of the relations: those that crossed at this event
    std::vector<int32_t> edges;           // of the relations: the other edge of the same stair, or the row itself
    std::vector<int32_t> directions;      // of crossings, whose root functions come after those of the relations; 0: both
    // of the cells: equations read it; the user declared it; a time to come depends on it; relations read it
    std::vector<char> read, visible, timed, followed;
    std::vector<char> planned; // of the cells: where steps have to end depends on it, and Python knows where
    std::vector<char> typed, truths; // of the assignments: whole numbers; those of them that are 0 or 1
    bool mixed = false; // what is decided at events depends on unknowns that are solved for
    std::vector<char> differential;
    std::vector<double> nominal;
    bool local = false;      // events that change few unknowns do so within the step (local.h)
    bool kept_apart = true;  // values that `pre` keeps of unknowns are for statements alone: nothing sees them between events
    bool handles = true;     // false: roots are searched in the same way, but events are Python's
    double restart_step = 0; // first step after a restart, in steps before it
    double flight = 1e300;   // after this event: until the first of the relations that it turned back is back
    Haste haste;
    Schedule schedule;       // of relations of time and clocks
    double now = 0;          // the time of the event …
    bool due = false;        // … and whether clocks may tick then
    EventRecords records;

    int64_t workspace_size() const { return system->layout.workspace(); }
    size_t system_size() const { return (size_t)system->layout.size; }
    Family family(uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) const {
        return make_family(system->layout, address, slots, rows, functions, "rows");
    }
    void check();
    Rules &rules(const std::string &role);
    // The event at which `roots` were found, in w. False: unusual, and w is as it was.
    bool handle(double *w, const int32_t *roots, const Solve &solve);

    // Relations as one root function, positive while all of them have their values: it becomes negative where the first one changes.
    // To search one function instead of thousands is most of what a root costs.
    bool joint() const { return directions.empty() && !relation.empty(); }
    void aim(double *w);                        // at the present values; rows that are beyond their switching point already are left out
    bool left_out = false, loose = false;       // `loose`: some bands are wider than they need be for long
    double sharpened(size_t row, double way, double terms, double along) const;
    void see_bands(const double *w);
    void look(double *w);                       // whether rows that were left out are back; bands become narrow
    double nearest(const double *w) { return least(relation.evaluate(w).data()); }
    double least(const double *g) const; // of functions of relations; one without a value is none
    void leave_out(int32_t row) { aims[row] = 0, left_out = true; } // until it is on its side again
    int32_t heading(int32_t row) const { return aims[row] > 0 ? -1 : 1; }
    void crossed(const double *w, int32_t *found); // which rows have changed sides, as IDAS tells it

    // What it did.
    bool restart = false, jumped = false, noteworthy = false, replan = false; // `jumped`: within a step
    std::vector<int32_t> causes;  // rows of relations, then of crossings, as root functions are numbered
    std::vector<int32_t> changed; // numbers of cells
    void show(const double *w, double *other) const; // the change, in another workspace
    void note(const double *w, double t, int64_t row);

  private:
    friend class Local;
    int32_t first_of_time() const { return (int32_t)(bands.size() + directions.size()); } // causes are numbered role by role
    bool iterate(double *w, const int32_t *roots, const Solve &solve);
    bool round(double *w, const int32_t *crossed, const Solve &solve, bool &over);
    void brace(double *w, const int32_t *roots);
    void note_crossings(const int32_t *roots);
    // Relations, assignments and unknowns that agree, given the values before the round; false: unusual, as below.
    bool settle(double *w, const int32_t *crossed, const Solve &solve);
    void decide(double *w, const int32_t *crossed, bool jumped);
    void close(double *w); // bands of relations that changed in the round
    bool sweep(double *w);
    bool swing(const double *w);
    bool of_their_type(const std::vector<double> &values) const;
    bool find_new_states(const double *w);
    bool see_changes(const double *w, bool &any); // false: something that only Python follows
    bool unsolved(const double *w) const;
    bool resolve(double *w, const Solve &solve);
    bool seen_before();
    const std::vector<double> &later(const double *w);
    void sharpen(double *w);
    bool turns_in_sight(double *w, const Solve &solve); // switches_turns.cpp
    std::vector<double> rates(const double *w, const double *bend = nullptr, std::vector<double> *bends = nullptr);
    bool rests(const double *w); // something stays on its switching point with another value than is written
    void keep(const double *w);
    void undo(double *w);
    double side(double value, size_t row) const { return value > 0 ? sense[row] : -sense[row]; }
    double side(const double *w, size_t row) const { return side(w[relation.targets[row]], row); }
    double width(const double *w, size_t row) const { return std::fabs(w[bands[row]]); }

    std::shared_ptr<System> system;
    std::vector<double> before, before_partners, present, kept;
    std::vector<std::pair<int32_t, double>> moved; // unknowns and their new values
    std::vector<uint64_t> seen;
    std::vector<double> old, at_solution;   // values of relations when the round began, and when equations were last solved in it
    std::vector<int32_t> swings;            // how often they changed from one to the next
    std::vector<double> latest, solved_with; // cells at the last look in this round; those that equations were solved with
    std::vector<uint64_t> looks;            // configurations of this round
    std::vector<std::pair<int32_t, double>> old_bands; // those that were changed, in order
    std::vector<double> distances, distances_before; // of relations from their switching points; those in the last round
    std::vector<double> wide; // of relations: as far as their bands reach at least, after this event
    std::vector<double> probe;
    std::vector<std::pair<int32_t, double>> near; // relations within their bands, and how far they are on their sides
    std::vector<double> sides_before; // of relations, before the event
    std::vector<double> aims; // factors that make a relation's function positive, and comparable with others; 0: left out
    uint64_t configuration = 0;
    bool is_kept = false, states_set = false;
    int64_t rounds = 0, sweeps = 0;
};

} // namespace acausal
