#include "guard.h"

#include "features.h"
#include "scores.h"

#include <algorithm>
#include <numeric>

namespace gyre::attention {
using namespace Halide;
namespace {

/// True if some row of the task does not see some key of block b.
Expr is_cut(const Stages &s, const Inputs &in, const Expr &hides) {
    const Expr end = min(s.b * s.sizes.key_block + s.sizes.key_block, in.keys);
    const Expr by_position = end - 1 > in.last_visible || s.b * s.sizes.key_block < in.tokens - 1 + in.first_visible;
    if (!hides.defined()) return by_position;
    return in.score ? Internal::const_true() : by_position || hides;
}

/// The first key of block b that some row of the task may not see. Where more than the last keys are hidden it is the block's first.
Expr first_hidden(const Stages &s, const Inputs &in, const Expr &hides) {
    const Expr begin = s.b * s.sizes.key_block, at_begin = begin < in.tokens - 1 + in.first_visible;
    Expr anywhere = at_begin;
    if (hides.defined()) anywhere = in.score ? Internal::const_true() : at_begin || hides;
    return select(anywhere, 0, max(in.last_visible + 1 - begin, 0));
}

/// The bits in f32 of a value.
Expr value_bits(const Stages &s, const Expr &feature, const Expr &key, const Expr &t) {
    const Expr value = OperandStages::at(s.operands.v_rows, feature, key, s.b, t);
    return value.type().is_float() ? reinterpret<uint32_t>(value) : cast<uint32_t>(value) << 16;
}

/// Values that are looked at together, several vectors of them: a maximum waits for the one before.
struct Together {
    int features, keys; // neighbours
};
Together values_together(const Stages &s, int lanes, int step) {
    const Sizes &z = s.sizes;
    int all = 8 * lanes;
    if (z.padded) { // as few features as a call may have
        const int features = std::gcd(lanes, z.feature_step);
        return {features, std::gcd(all / features, step)};
    }
    while (z.v_head_dim % all != 0) all /= 2;
    return {all, 1};
}

/// How often so many features are those that a call has, or more.
Expr chunks_of_features(const Stages &s, const Inputs &in, int features) {
    const Sizes &z = s.sizes;
    if (!z.padded || counts_features(s)) return s.v_features / features;
    return unsafe_promise_clamped((in.v_head_dim + (features - 1)) / features, 1, z.v_head_dim / features);
}

} // namespace

void define_guarded(Stages &s, const Inputs &in, int vector_lanes, int step, bool by_flag, const Expr &hides) {
    const Sizes &z = s.sizes;
    const Var &l = s.l, &b = s.b;
    const auto [features, keys] = values_together(s, vector_lanes, step);
    const int lanes = s.guard_lanes = features * keys;
    Expr cut = is_cut(s, in, hides), first = first_hidden(s, in, hides);
    if (by_flag && hides.defined()) {
        s.cut = Func("cut");
        s.cut(b) = select(cut, first + 1, 0);
        cut = s.cut(b) != 0;
        first = s.cut(b) - 1;
    }
    const bool own_keys = s.operands.key_heads.defined();
    std::vector<Range> looked_at{{0, chunks_of_features(s, in, features)}, {0, z.key_block / keys}};
    if (own_keys) looked_at.emplace_back(0, in.key_heads);
    const int vector = std::min(vector_lanes, lanes);
    RDom values(looked_at, "guard_values"), all(0, vector, "guard_lanes");
    values.where(cut && b * z.key_block + values.y * keys < in.keys); // keys after the last one are rows like the last
    values.where(values.y * keys + (keys - 1) >= first);
    all.where(cut);
    s.value_peaks = Func("value_peaks");
    s.joined_peaks = Func("joined_peaks");
    s.guarded = Func("guarded");
    // The first row of each key head.
    const Expr tile =
        own_keys ? unsafe_promise_clamped(values.z * (in.heads / unsafe_promise_clamped(in.key_heads, 1, z.task_tiles)),
                                          0, z.task_tiles - 1)
                 : Expr(0);
    const Expr bits = value_bits(s, values.x * features + l % features, values.y * keys + l / features, tile);
    // The exponent alone: LLVM makes an absolute value of all bits but the sign, and forms that of an f16 in f16, which ARMv8.0 cannot.
    const Expr infinity = Expr(0x7f800000u);
    s.value_peaks(l, b) = Expr(0u);
    s.guarded(b) = 0;
    s.value_peaks(l, b) = max(s.value_peaks(l, b), bits & infinity);
    Expr joined = s.value_peaks(l, b);
    for (int other = vector; other < lanes; other += vector) joined = max(joined, s.value_peaks(other + l, b));
    s.joined_peaks(l, b) = joined;
    s.guarded(b) = max(s.guarded(b), select(s.joined_peaks(all, b) >= infinity, 1, 0));
    s.peak_chunk = values.x;
    s.peak_key = values.y;
    if (own_keys) s.peak_head = values.z;
    s.peak_lane = all;
}

void define_guarded_product(Stages &s, Func product, const Visible &visible, bool from_first, const ProductPlace &at,
                            const std::function<Expr(const Expr &key)> &weight, const SumsInTurn &turns) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &d = s.d, &j = s.j, &t = s.t, &b = s.b;
    // By bits: the compiler may take 0 times a number for 0. A function of its own, so that what schedules read as vectors for
    // the usual product is not read so for this one.
    const Expr kept = select(is_masked(s.masked(r, j, t, b)), Expr(0u), Expr(~0u));
    Func seen("seen_product");
    seen(r, d, j, t, b) = weight(j) * reinterpret<float>(value_bits(s, d, j, t) & kept);

    // The last dimension is a loop that does not run where the block is not guarded.
    RDom again(0, 1, "again");
    again.where(again < s.guarded(b));
    std::vector<Expr> place;
    for (const Var &v : product.args()) place.emplace_back(v);
    product(place) = cast<float>(again);
    if (turns.keys > 0) {
        const Var h("h"), g("g");
        RDom own(0, turns.keys / turns.sums, "own_keys"), groups(0, z.key_block / turns.keys, 0, 1, "guarded_groups");
        const Expr of_group = own * turns.sums + h, key = g * turns.keys + of_group;
        if (from_first) own.where(b * z.key_block + key >= visible.tile_first);
        own.where(b * z.key_block + key <= visible.tile_last);
        groups.where(groups.y < s.guarded(b));
        s.guarded_sums = Func("guarded_sums");
        std::vector<Expr> sum = place, total = place;
        sum.insert(sum.begin() + 1, {h, g});
        const Expr key_of_turn = turns.key_of_turn ? g * turns.keys + turns.key_of_turn(g, of_group) : key;
        s.guarded_sums(sum) += seen(at.row, at.feature, key_of_turn, t, b);
        s.guarded_key = own;
        s.guarded_j = groups.x;
        s.guarded_turn = groups.y;
        Expr all;
        for (int n = 0; n < turns.sums; n++) {
            std::vector<Expr> of_turn = place;
            of_turn.insert(of_turn.begin() + 1, {n, groups.x});
            all = all.defined() ? all + s.guarded_sums(of_turn) : Expr(s.guarded_sums(of_turn));
        }
        product(place) += all;
        return;
    }
    RDom keys(0, z.key_block, 0, 1, "guarded_keys");
    if (from_first) keys.where(b * z.key_block + keys.x >= visible.tile_first);
    keys.where(b * z.key_block + keys.x <= visible.tile_last);
    keys.where(keys.y < s.guarded(b));
    s.guarded_j = keys.x;
    s.guarded_turn = keys.y;
    product(place) += seen(at.row, at.feature, keys.x, t, b);
}

void schedule_guard(Stages &s, int lanes) {
    if (!s.guarded.defined()) return;
    for (Func *one_block : {&s.value_peaks, &s.joined_peaks, &s.guarded})
        one_block->compute_at(s.state, s.block).bound_storage(s.b, 1);
    if (s.cut.defined()) s.cut.compute_at(s.state, s.block).bound_storage(s.b, 1);
    const int together = s.guard_lanes, vector = std::min(lanes, together);
    s.value_peaks.bound(s.l, 0, together).vectorize(s.l, vector).unroll(s.l);
    if (s.operands.key_heads.defined())
        s.value_peaks.update().reorder(s.l, s.peak_chunk, s.peak_key, s.peak_head);
    else
        s.value_peaks.update().reorder(s.l, s.peak_chunk, s.peak_key);
    s.value_peaks.update().vectorize(s.l, vector).unroll(s.l);
    s.joined_peaks.vectorize(s.l, vector);
    s.guarded.update().unscheduled();
}

} // namespace gyre::attention
