// What a fluid's table consists of, and the functions over it. See media_tables.h for the mathematics.
#pragma once
#include <cstdint>
#include <vector>

namespace acausal::media {

// The knots of one coordinate, the last of them at infinity, and, for each span between them, the basis functions as polynomials
// (8 lanes, 6 used). A point finds its span through buckets of equal width, in each of which there is one knot at most.
struct Axis {
    const double *knots, *inverse, *basis;
    int64_t spans;
    double per_unit, last;        // buckets per unit of x, number of the last one
    std::vector<int32_t> bucket;  // the span in which it begins

    int64_t bucket_of(double x) const {
        const double u = (x - knots[0]) * per_unit, inside = u > 0 ? u : 0;  // not a number: the first
        return static_cast<int64_t>(inside < last ? inside : last);
    }
};

struct Table {
    double p_min, p_max, p_critical, p_low, p_high;  // p_low … p_high: where the region around the critical point takes over
    double h_min, h_split, h_join, h_unit;           // h_split, h_join: hl(p_low), hl(p_high); h_unit: a typical difference
    double h_edge;                                   // where the region around the critical point begins
    double p_gas, h_gas;                             // lowest pressure of gas; its lowest enthalpy where it meets liquid, at p_min
    double T_min, T_max, gas_constant;
    int64_t vapour_ny, liquid_nz, region_ny;
    Axis dome_x, vapour_y, liquid_h, liquid_z, region_x, region_y, top_x, thin_x;
    // Curves, as polynomials of each span.
    const double *dome;         // [x] hv, hmax, hl, sigma^(1/1.26)
    const double *top;          // [x] mean of hl and hv, square of half their difference, sigma^(1/1.26), -
    const double *liquid_p;     // [h] pl
    const double *region_hmax;  // [x]
    const double *thin_h;       // [x] lowest and highest h, -, -, below p_min
    const double *vapour[2], *liquid[2], *region[2], *thin[2];
    // What the first rows of `vapour` and `liquid` give, along ln p and h: at a border no basis functions are asked for.
    const double *vapour_border[2], *liquid_border[2];
    uint64_t serial = 0;  // no two tables of a process have the same
};

// A function with several results: out holds the values of all results, then their derivatives by the first argument, by the
// second …, then the second derivatives (11, 12, …, 22, …), each time of all results.
using Function = void (*)(const void* table, const double* arguments, double* out);

enum Kind { STATE_PH, MORE_PH, SATURATION_P, SATURATION_MORE_P, H_PT, H_PS, P_TX, PH_RHO_T, PH_RHO_U, BORDERS_P, H_PX, SATURATED_P, BORDERED_PH, BOILING_PH, KINDS };

// By kind; `first` write no second derivatives.
struct Functions {
    const Function *first, *second;
};
Functions functions_for_any_processor();
Functions functions_for_avx2();

}  // namespace acausal::media
