// Keeps the values of masked keys out of products on matrix tiles, whatever they hold.
//
// A masked key's weight is 0, and 0 times NaN or infinity is NaN. A tile's product cannot leave single values out. Where a
// task's rows do not all see the same keys, and some value of a key that not all of them see is not finite, the task is
// cleaned: its tiles take 0 for each value that is not finite, and the results of rows that see such a value take it
// afterwards (marks.cpp). Of finite values the bits are the same either way; other tasks do without.
#include "tiles.h"

#include "passes/instructions/tile_products.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// Finite numbers from here on count as not finite at first: a rotation may make infinity of them.
constexpr uint32_t large_f32 = 0x5f800000, large_bf16 = 0x5f80, infinite_f16 = 0x7c00;
constexpr uint32_t exponent_bf16 = 0x7f80;

/// Keys of which some row sees a step's neighbours and some row may not see the key itself: before the first keys that all
/// rows see, and after the last ones; where a mask is read, all that some row sees.
struct CutKeys {
    Expr first, end;
};
std::vector<CutKeys> cut_keys(const Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const int step = tile_depth;
    const Expr last_row = (in.rows + z.row_tile - 1) / z.row_tile * z.row_tile - 1, last_token = last_row / in.heads;
    const CutKeys at_begin{max(in.first_visible, 0) / step * step, min(last_token + in.first_visible, in.keys)};
    const CutKeys at_end{max(in.last_visible + 1, 0),
                         min((last_token + in.last_visible) / step * step + step, in.keys)};
    if (!in.is_general() && !in.is_sloped()) return {at_begin, at_end};
    // A mask or a bias may hide any key of those that some row sees, and so may a slope (changed_scores.cpp).
    const Expr masks = in.is_sloped() ? Internal::const_true() : in.has_mask || in.has_bias;
    const Expr seen_end = max(at_begin.end, min(last_token + in.last_visible + 1, in.keys));
    return {{at_begin.first, select(masks, seen_end, at_begin.end)},
            {select(masks, seen_end, at_end.first), at_end.end}};
}

/// The magnitude of a stored value, as an integer of its size.
Expr magnitude_bits(const Expr &stored) {
    const Type bits = UInt(stored.type().bits());
    return reinterpret(bits, stored) & Internal::make_const(bits, bits.bits() == 16 ? 0x7fff : 0x7fffffff);
}

} // namespace

/// Values that are looked at together, neighbours in memory.
int Tiles::scanned_lanes() const {
    const int of_line = facts.terms == 3 ? 16 : 32; // f32, or 16 bits
    return facts.dense_features > 0 && facts.dense_features % of_line == 0 ? of_line : 16;
}

/// Defines s.cleaned (), from the values as they are stored.
void Tiles::define_cleaned(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &l = s.l;
    const int lanes = scanned_lanes(), depth = tile_depth;
    const Type stored = in.v.elements.type();
    const Type bits = UInt(stored.bits());
    s.cleaned_peaks = Func("cleaned_peaks");
    s.cleaned_peaks(l) = cast(bits, 0);
    const auto larger = [&](const Expr &lane, const Expr &value) {
        s.cleaned_peaks(lane) = max(s.cleaned_peaks(lane), magnitude_bits(value));
    };
    for (const CutKeys &keys : cut_keys(s, in)) {
        const Expr count = max(keys.end - keys.first, 0);
        if (provider->has_value_blocks()) { // with what is in slots of the same block
            const Expr first = keys.first / depth, blocks = select(count > 0, (keys.end - 1) / depth - first + 1, 0);
            RDom r(0, z.v_head_dim, first, blocks, "scanned");
            larger(l, provider->stored_value(in, r.y * depth + l, r.x));
            s.scanned.push_back({r.x, r.y});
            continue;
        }
        const Expr features = facts.dense_features > 0 ? Expr(facts.dense_features) : in.v_head_dim;
        RDom r(0, features / lanes, keys.first, count, "scanned");
        larger(l, provider->stored_value(in, r.y, r.x * lanes + l));
        s.scanned.push_back({r.x, r.y});
        if (facts.dense_features > 0 && facts.dense_features % lanes == 0) continue;
        RDom rest(0, features % lanes, keys.first, count, "scanned_rest");
        larger(0, provider->stored_value(in, rest.y, features / lanes * lanes + rest.x));
        s.scanned.push_back({});
    }
    RDom all(0, lanes, "scanned_lanes");
    const uint32_t limit = stored.is_float() && stored.bits() == 16 && !stored.is_bfloat() ? infinite_f16
                           : stored.bits() == 16                                           ? large_bf16
                                                                                           : large_f32;
    s.cleaned = Func("cleaned");
    s.cleaned() = 0;
    s.cleaned() = max(s.cleaned(), select(s.cleaned_peaks(all) >= Internal::make_const(bits, limit), 1, 0));
}

Expr finite_pair(const Expr &pair) {
    const auto kept = [&](uint32_t exponent, uint32_t number) {
        return select((pair & Expr(exponent)) == Expr(exponent), Expr(0u), Expr(number));
    };
    return pair & (kept(exponent_bf16, 0xffffu) | kept(exponent_bf16 << 16, 0xffff0000u));
}

Expr finite_number(const Expr &number) {
    const Expr exponent = Internal::make_const(UInt(16), exponent_bf16);
    return select((number & exponent) == exponent, cast<uint16_t>(0), number);
}

void Tiles::schedule_cleaned() {
    s.cleaned.compute_root().update().unscheduled();
    const int lanes = scanned_lanes();
    s.cleaned_peaks.compute_root().bound(s.l, 0, lanes).vectorize(s.l);
    for (size_t n = 0; n < s.scanned.size(); n++) {
        Stage update = s.cleaned_peaks.update(static_cast<int>(n));
        if (s.scanned[n].empty())
            update.unscheduled();
        else
            update.reorder(s.l, s.scanned[n][0], s.scanned[n][1]).vectorize(s.l);
    }
}

} // namespace gyre::attention
