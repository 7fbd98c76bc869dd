// Crossing functions that have no value for a while, as `sqrt(x - 0.5) - 0.1` has none below x = 0.5.
//
// Whoever searches for roots sees such a function on the side on which it was last: that of the frozen value of its relation. Where it
// loses its value within a step, it keeps the last one from there on, so that a crossing before that is found. Where it gets a value within
// a step, and that is beyond the switching point, it has crossed there, whatever it does in the rest of the step.
//
// One that comes to rest exactly at zero (an input that rises to 1 and stays there, in `u >= 1`) has crossed as well, if the relation has another
// value than is written for that point.
#pragma once

#include "system.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace acausal {

class Gaps {
  public:
    // Brings unknowns, derivatives, time and inputs of a workspace to a time within the last step; false: it cannot.
    using Go = std::function<bool(double time, double *w)>;
    struct Silent { // a relation without a value at both ends of a stretch, and a workspace within it
        int32_t row;
        double time;
        std::vector<double> w;
    };

    explicit Gaps(std::shared_ptr<System> system) : system(std::move(system)) {}
    void forget() { from = rest_from = nowhere; } // something else has changed than time
    // All root functions at a time; those without a value are given one. What is before `low` has been dealt with; w holds the known values.
    void fill(double *g, double low, double time, const double *w, const Go &go);
    bool any_crossed(const double *g, const double *w) const; // whether a relation is on another side than its frozen value says
    void note(int32_t row, double time, const double *w); // one that has no value
    std::vector<Silent> take();
    bool seen() const { return !silent.empty(); }

  private:
    static constexpr double nowhere = -1e300;
    struct Gap {
        bool begins, crossed; // it loses its value at that time, or gets one; and is beyond its switching point where it gets it
        double time, value;   // … the last one, or the first
    };
    double side(int32_t row, const double *w) const;
    void leave_zero(double *g, double low, double time, const double *w);
    double filled(int32_t row, double g, double time, const double *w) const;
    bool evaluate(double time, std::vector<double> &values);
    void open_stretch(double low, const double *w);
    void look(const double *g, double time, const double *w);
    void narrow(const std::vector<int32_t> &rows, bool begins, double low, const std::vector<double> &at_low, double high, const std::vector<double> &at_high);

    std::shared_ptr<System> system;
    const Go *go = nullptr;
    double from = nowhere, rest_from = nowhere, furthest = nowhere;
    std::vector<int32_t> resting; // where the stretch was last seen to end: on their switching points
    bool open = false, searchable = false; // some function had no value lately; values at the beginning of the stretch are known
    std::vector<double> probe, beginning, last; // a workspace; functions where the stretch begins; of crossings the side they were on
    std::unordered_map<int32_t, Gap> gaps;      // in this stretch
    std::vector<char> told;
    std::vector<Silent> silent;
};

nb::list as_list(std::vector<Gaps::Silent> silent); // of (row, time, workspace)

} // namespace acausal
