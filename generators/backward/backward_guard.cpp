#include "backward_guard.h"

namespace gyre::backward {
using namespace Halide;
namespace {

Expr magnitude_bits(const Expr &x) { return reinterpret<uint32_t>(x) & Expr(0x7fffffffu); }

} // namespace

void define_guarded(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &l = s.l;
    const Expr by_position = in.keys - 1 > in.last_visible || in.rows - 1 + in.first_visible > 0;
    const Expr is_cut = z.general ? by_position || in.has_bias : by_position;
    const auto peaks = [&](Func &peak, const char *name, int count, const Expr &extent,
                           const std::vector<Func> &operands, int n) {
        RDom all(0, in.features / z.features, 0, z.tile, 0, count / z.tile, name);
        all.where(is_cut && all.z * z.tile < extent);
        peak = Func(name);
        peak(l) = Expr(0u);
        Expr largest = peak(l);
        for (const Func &of : operands)
            largest = max(largest, magnitude_bits(of(all.x * z.features + l, all.y, all.z)));
        peak(l) = largest;
        s.peak_chunk[n] = all.x;
        s.peak_row[n] = all.y;
        s.peak_tile[n] = all.z;
    };
    peaks(s.row_peaks, "row_peaks", z.rows, in.rows, {in.q, in.out_grad}, 0);
    peaks(s.key_peaks, "key_peaks", z.keys, in.keys, {in.k}, 1);
    RDom lanes(0, z.features, "guard_lanes");
    lanes.where(is_cut);
    s.guarded = Func("guarded");
    s.guarded() = 0;
    s.guarded() = max(s.guarded(), select(max(s.row_peaks(lanes), s.key_peaks(lanes)) >= Expr(0x7f800000u), 1, 0));
}

Expr if_weighted(const Expr &weight, const Expr &x) {
    const Expr kept = select(magnitude_bits(weight) == Expr(0u), Expr(0u), Expr(~0u));
    return reinterpret<float>(reinterpret<uint32_t>(x) & kept);
}

} // namespace gyre::backward
