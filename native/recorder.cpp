#include "recorder.h"

#include <cstring>

namespace acausal {

void Recorder::add(double t, int k, const double *w, const double *yyp) {
    time.push_back(t);
    order.push_back(k);
    values.insert(values.end(), yyp, yyp + 2 * n);
    for (int32_t cell : varying) values.push_back(w[2 * n + cell]);
}

void Recorder::step(double t, int k, const double *w, double t_start, const double *start) {
    if (begins) {
        starts.push_back(points());
        known.insert(known.end(), w + 2 * n, w + 2 * n + known_size);
        add(t_start, 0, w, start);
        begins = bends = false;
    }
    if (!(t > time.back())) return;
    add(t, bends ? -k : k, w, w);
    bends = false;
}

void Recorder::load(int64_t k, int64_t time_index, double *w) const {
    const double *from = point(k);
    std::memcpy(w, from, sizeof(double) * 2 * n);
    for (size_t j = 0; j < varying.size(); ++j) w[2 * n + varying[j]] = from[2 * n + j];
    w[time_index] = time[k];
}

} // namespace acausal
