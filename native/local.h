// Events that change the equations of a few unknowns, or set a few states, within a step of all the others.
//
// A restart costs as many steps of the whole plant as it takes to reach a high order again. Where an event changes the slopes of few
// unknowns, nothing is wrong with the history of the rest: it is kept, and the few are given another one. From the event on they obey
// other equations; these are solved over the step by collocation (the others as the step has them), the polynomial that comes out is
// extended back over the points of the history, and its differences are written into IDAS' array. The next step's error test judges
// all unknowns alike, so that nothing is believed that is not seen.
//
// Which unknowns are few is found by trying: those of the rows that read what changed, then those in whose rows the new course of the
// former leaves a defect that matters, and so on; if they become many, or anything else is unusual, the event is for Switches, and a
// restart. Only what reads something that changed is evaluated: kernels are called for single rows of their tables.
#pragma once

#include "gaps.h"
#include "scales.h"
#include "switches.h"
#include "system.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace acausal {

constexpr int points = 5; // of the collocation, so that a course has the degree of the highest order
constexpr size_t most_cells = 256; // that one row may be computed from

// The last step as IDAS has it: times of its points, the last one first, and the differences over them.
struct History {
    std::vector<double> times;
    std::vector<double *> differences;
    int order = 0; // of the formula; one more difference is kept
};

class Local {
  public:
    using SetTime = std::function<bool(double, double *)>; // time and inputs in a workspace

    Local(std::shared_ptr<System> system, std::shared_ptr<Switches> switches, const Scales &scales, SetTime set_time);

    void enter(History step); // courses within the same step are kept
    void forget();
    // Unknowns that took another course in the step that ended at `end`, at a time within it: differences of a low order interpolate
    // between the points of the history, not between event and end.
    void show(double end, double t, double *y, double *yp) const;
    // Relations that change sides in (from, until]; w is at `until`, and its cells are computed: those that relations read or,
    // where one changes sides, all. False: none does.
    bool look(double *w, double from, double until, Gaps &gaps);
    bool next(double &t, std::vector<int32_t> &rows); // the first of them, with all that do so at the same time; the last one at t
    // What the event changes at which these relations change sides, without a change of anything yet; false: not for here.
    bool attempt(const std::vector<int32_t> &rows, double t);
    bool noteworthy() const { return shown; }
    bool jumps() const { return jumped; } // a state gets another value
    void commit(double *w, double *w_out); // … and now it counts; goes on to look for what follows
    int64_t handled = 0, left = 0;

  private:
    enum Role : uint8_t { Relation, Size, Update, Residual, Assignment, Reinit, Snapshot, Foreign, Roles };
    struct Node {
        const Family *family;
        int32_t column;
        Role role;
    };
    // All that is evaluated for one row: computed cells in order, with what makes each, and the unknowns at the leaves.
    struct Closure {
        bool bounded = true;
        std::vector<int32_t> values, slopes, computed, nodes;
    };
    struct Table { // lists of nodes, one for each row or cell
        std::vector<int32_t> start, nodes;
    };
    struct Weights {
        double value[8], slope[8], along;
    };
    struct Unknown {
        int32_t number, row;
        bool differential;
        double since, begin, tolerance;        // the time of the event, and its value then
        double value, slope;                   // where it is evaluated now
        double coefficient[8];                 // of its course, in parts of the step from its beginning on
    };
    struct Crossing {
        double t;
        int32_t row;
        int64_t version;
        bool operator<(const Crossing &other) const { return t > other.t; }
    };
    struct Reached { // from cells that change
        std::vector<int32_t> rows, relations, updates, reinits;
        bool foreign = false, bounded = true;
    };

    static int32_t target_of(const Family &family, int64_t output, int32_t column) {
        return family.targets.data[output * family.count() + column];
    }
    void build();
    void add_nodes(const std::vector<Family> &families, Role role);
    Table table_of(Role role, int64_t count) const;
    void match(const double *w);
    bool augment(int32_t row, std::vector<int32_t> &seen, int depth);
    const Closure &closure(Role role, int32_t row);
    bool gather(Closure &found, int32_t node, int depth);
    void call(const Node &node, double *out);
    double part_of(int32_t node, int32_t target);
    double evaluate(Role role, int32_t row, double t, double ahead = 0); // `ahead`: of t, along the slopes there
    double evaluate_wholly(int32_t relation, double t);
    const Weights &weights_at(double t);
    void forget_weights();
    double past(const Weights &at, int32_t unknown) const;
    double past_slope(const Weights &at, int32_t unknown) const;
    double value_at(const Weights &at, int32_t unknown) const;
    double slope_at(const Weights &at, int32_t unknown) const;
    Reached reached(const std::vector<int32_t> &cells);
    void set(int32_t cell, double value);
    void undo();
    bool discrete(double t);
    bool sweep(std::vector<int32_t> pending, double t, bool first);
    bool of_type(int32_t update, double value) const;
    bool holds(int32_t relation, double t);
    void flip(int32_t relation, double t);
    bool cross(std::vector<int32_t> &pending, double t);
    bool find_new_states(const std::vector<int32_t> &cells, double t, bool first);
    bool may_act(Role role, int32_t row, bool first);
    bool move(int32_t state, double value, double t);
    std::vector<int32_t> changed_since(size_t first) const;
    void see_changes();
    bool stays(const Reached &jumped, double t);
    bool leaves(int32_t relation, double t);
    bool comes_back(int32_t relation, double t, double rate, double rate_before);
    double rate(int32_t relation, double t, double ahead);
    bool continuous(double t);
    bool solve(double t);
    bool jump(double t);
    bool collocate(double t);
    bool add_unknown(int32_t row, double t);
    bool add_neighbours(double t, bool &added);
    bool fits() const;
    void rewrite(const Unknown &u);
    double collocation_time(int point) const;
    void integrate(Unknown &u, const double *at, size_t stride, double t);
    void follow_former(Unknown &u, double t);
    bool balance(double t);
    double former_residual(int32_t row, double t);
    bool exchanges(const Unknown &u);
    double rounding_of_slope(const Unknown &u, double t);
    double weight_of_slope(Unknown &u, double t);
    void place_at(double t);
    bool factor(double t);
    void back_substitute(double *x) const;
    double residual(size_t k, double t) { return evaluate(Residual, few[k].row, t); }
    double &solved_for(Unknown &u) { return u.differential ? u.slope : u.value; }
    double scale_of(const Unknown &u) const { return u.differential ? u.tolerance / length() : u.tolerance; }
    double length() const { return history.times[0] - history.times[1]; }
    double along(double t) const { return (t - history.times[1]) / length(); }
    double course(const Unknown &u, double x) const;
    double course_slope(const Unknown &u, double x) const;
    void see_crossing(int32_t relation, double from, double until);
    void see_dip(int32_t relation, double from, double until);
    void aim(int32_t relation);
    void search_on(int32_t relation);
    bool see_hop(int32_t relation);
    void see_slopes(const double *w, double until);
    bool may_dip(size_t relation, double length) const;
    bool suspect(size_t relation, double length, bool known) const;
    double end_of_gap(int32_t relation, double with_value, double without);
    double fine() const;
    double aimed(int32_t relation, double t);

    std::shared_ptr<System> system;
    std::shared_ptr<Switches> switches;
    const Scales &scales;
    SetTime set_time;
    int64_t n;
    bool built = false, shown = false;
    std::vector<double> v; // a workspace of which only what is needed is up to date
    std::vector<Node> nodes;
    Table producers[Roles], readers;
    std::vector<int32_t> for_relations; // assignments whose cells relations and the sizes of their terms read
    std::unordered_map<int64_t, Closure> closures;
    std::vector<int32_t> owner, row_of, entry_start, entry_row, stamp, cell_number, partner_number;
    int32_t stamped = 0;
    std::vector<char> has_slope;
    History history;
    std::unordered_map<int64_t, Weights> weights;
    std::vector<int32_t> place; // of an unknown among the few, or -1
    std::vector<Unknown> few;
    std::vector<int32_t> beside; // rows of states that hardly see the few
    std::vector<int32_t> taken; // … and among those that took another course in this step
    std::vector<Unknown> courses;
    std::vector<double> matrix;
    std::vector<int32_t> pivots;
    std::vector<std::pair<int32_t, double>> old;      // cells that were changed, and their values before
    std::vector<int32_t> changed_cells;
    std::priority_queue<Crossing> queue;
    std::vector<int64_t> version;
    std::vector<double> probe, values, slopes, values_before, slopes_before; // of relations, at both ends of what is searched
    double looked_until = -1e300, looked_from = -1e300;
    std::vector<char> rests; // relations that are exactly on their switching points, with another value than is written
    std::vector<int32_t> crossings, hops;             // of each relation in this step; those at which a state jumped
    std::vector<int32_t> snapshot_of;                 // the row of a cell that keeps a value of before the event, or -1
    double event_time = 0, searched_until = 0;
    bool jumped = false, unsolved = false;            // `unsolved`: equations read what the first round of the event changed
    std::vector<int32_t> event_rows, flipped;         // relations that crossed; all those that changed sides
    std::vector<std::pair<int32_t, double>> moved;    // states and their new values, in this round
    std::vector<int64_t> acted;                       // rows that changed something they might see solutions of
    std::vector<double> rates_before;                 // of the functions of relations that crossed
    Reached effect;
};

} // namespace acausal
