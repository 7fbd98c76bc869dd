// Fluid properties over (p, h): evaluation of the tables that src/acausal/media/build.py makes (docs/media.md has the layout).
//
// Tensor-product B-splines of degree 5 in regions, each in coordinates of its own:
//   vapour V        ln p and y = (h - hv(p)) / (hmax(p) - hv(p)); density is stored as rho / p
//   liquid L        h and z = (p - pl(h)) / (pmax - pl(h))
//   near- and supercritical R   ln p and y = (h - h_edge) / (hmax(p) - h_edge), used from p_low and h_split on
//   thin gas T      below the lowest saturation pressure: p, y = (h - h(p, Tmin)) / (hmax(p) - h(p, Tmin))
//   dome            the chord between the single-phase surfaces at hl(p) and hv(p): no property jumps at a border
// L and R are blended in h between h_split and h_join, V and R in p between p_low and p_high, twice continuously differentiable.
//
// This file, with all it includes, is compiled twice, for any processor and for those with AVX2 (media.cpp, media_avx2.cpp);
// everything stands in an unnamed namespace, so that the linker cannot take one for the other. Nothing is written but the results, and
// what each thread keeps for itself (media_levels.h): any number of threads.
#pragma once
#include "media_inverses.h"

namespace {

using acausal::media::Functions;
using acausal::media::KINDS;

constexpr Function first[KINDS] = {state_ph<1>, more_ph<1>, saturation_p<1, true>, saturation_more_p<1>, h_pT, h_ps, p_Tx, ph_rho_T, ph_rho_u, borders_p<1>, h_px, saturation_p<1, false>, bordered_ph<1>, boiling_ph<1>};
constexpr Function second[KINDS] = {state_ph<2>, more_ph<2>, saturation_p<2, true>, saturation_more_p<2>, h_pT, h_ps, p_Tx, ph_rho_T, ph_rho_u, borders_p<2>, h_px, saturation_p<2, false>, bordered_ph<2>, boiling_ph<2>};
constexpr Functions functions = {first, second};

}  // namespace
