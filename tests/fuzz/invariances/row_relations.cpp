#include "../valid/trial.h"
#include "present.h"
#include "relation.h"
#include "support/element.h"
#include "support/random.h"
#include "support/tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {
namespace {

using test::Dense;
using test::Tensor;

/// Rows that are rotated, and where they stand.
struct Rows {
    gyre_dtype dtype;
    Dense x, y; // y: other heads of the same tokens
    gyre_rope rope = gyre_rope_defaults();
    int64_t offset = 0;
};

Dense numbers(ByteReader &r, gyre_dtype dtype, int64_t batch, int64_t tokens, int64_t heads, int64_t dim) {
    Dense x(batch, tokens, heads, dim);
    x.data = test::normal_numbers(r.number<uint16_t>(), (int64_t)x.data.size());
    for (double &number : x.data) number = test::rounded(dtype, number);
    return x;
}

Rows random_rows(ByteReader &r) {
    Rows rows;
    rows.dtype = r.pick<gyre_dtype>({GYRE_F32, GYRE_F16, GYRE_BF16});
    const int64_t batch = r.between(1, 3), tokens = r.between(1, 120), dim = r.pick<int64_t>({64, 128, 80, 2, 34, 192});
    rows.x = numbers(r, rows.dtype, batch, tokens, r.between(1, 6), dim);
    rows.y = numbers(r, rows.dtype, batch, tokens, r.between(1, 3), dim);
    rows.rope.pairing = r.rarely(2) ? GYRE_INTERLEAVED : GYRE_HALF;
    rows.rope.rotary_dim = (int32_t)(2 * r.between(1, dim / 2));
    rows.rope.theta = r.pick<double>({10000, 100, 1e6});
    rows.offset = r.pick<int64_t>({0, 1, 1000, 130000, 1000000});
    return rows;
}

std::vector<int64_t> shape_of(const Dense &x) { return {x.batch, x.seqlen, x.heads, x.dim}; }

struct Rotated {
    std::string wrong;
    std::vector<double> out;
};

Rotated rotate(gyre_context *context, const Rows &rows, const Dense &x, int64_t offset, int32_t reverse = 0) {
    relation_tally().calls++;
    Tensor in(rows.dtype, shape_of(x)), out(rows.dtype, shape_of(x));
    in.set_values(x.data);
    out.poison();
    gyre_rotary_args a = gyre_rotary_defaults();
    a.x = in.view();
    a.out = out.view();
    a.rope = rows.rope;
    a.reverse = reverse;
    a.position_offset = offset;
    if (gyre_rotary(context, &a) != GYRE_OK) return {gyre_last_error(), {}};
    return {out.surroundings_intact() ? "" : "memory beside out was written", out.values()};
}

/// There and back. Cosines and sines are exact to 2e-6, each of the two steps is rounded to the type, and either feature of a pair
/// takes what both are off by.
std::string there_and_back(const TargetContexts &on, const Rows &rows, uint16_t) {
    const Rotated there = rotate(on.several, rows, rows.x, rows.offset);
    if (!there.wrong.empty()) return there.wrong;
    Dense rotated = rows.x;
    rotated.data = there.out;
    const Rotated back = rotate(on.alone, rows, rotated, rows.offset, 1);
    if (!back.wrong.empty()) return back.wrong;
    std::vector<double> allowed(rows.x.data.size());
    for (size_t n = 0; n < allowed.size(); n++) {
        const size_t row = n / (size_t)rows.x.dim * (size_t)rows.x.dim;
        double largest = 0; // of the head: wherever the other of the pair is
        for (size_t d = row; d < row + (size_t)rows.x.dim; d++) largest = std::max(largest, std::fabs(rows.x.data[d]));
        const double size = 2 * largest;
        allowed[n] = size * (2 * 2 * 2e-6 + 8 * 0x1p-24) + 3 * test::rounding_of(rows.dtype, size);
    }
    return find_difference("there and back", back.out, rows.x.data, allowed, rows.dtype);
}

/// Tokens in pieces, each from its position on.
std::string in_pieces(const TargetContexts &on, const Rows &rows, uint16_t seed) {
    const Rotated whole = rotate(on.alone, rows, rows.x, rows.offset);
    const int64_t at = 1 + seed % rows.x.seqlen;
    Dense all = rows.x;
    all.data = whole.out;
    for (const auto &[from, to] : {std::pair(INT64_C(0), at), std::pair(at, rows.x.seqlen)}) {
        const Rotated piece = rotate(on.several, rows, tokens_of(rows.x, from, to), rows.offset + from);
        if (!piece.wrong.empty()) return piece.wrong;
        if (!same_bits(piece.out, tokens_of(all, from, to).data)) return "other bits";
    }
    return whole.wrong;
}

/// Queries and keys in one call, and in two.
std::string both_at_once(const TargetContexts &on, const Rows &rows, uint16_t) {
    relation_tally().calls++;
    Tensor q(rows.dtype, shape_of(rows.x)), k(rows.dtype, shape_of(rows.y));
    q.set_values(rows.x.data);
    k.set_values(rows.y.data);
    gyre_rotary_qk_args a = gyre_rotary_qk_defaults();
    a.q = a.q_out = q.view();
    a.k = a.k_out = k.view();
    a.rope = rows.rope;
    a.position_offset = rows.offset;
    if (gyre_rotary_qk(on.several, &a) != GYRE_OK) return gyre_last_error();
    const Rotated x = rotate(on.alone, rows, rows.x, rows.offset), y = rotate(on.alone, rows, rows.y, rows.offset);
    if (!x.wrong.empty() || !y.wrong.empty()) return x.wrong + y.wrong;
    return same_bits(q.values(), x.out) && same_bits(k.values(), y.out) ? "" : "other bits";
}

/// A cache that is filled at once, or in two pieces, has the rows that gyre_rotary() gives.
std::string cached(const TargetContexts &on, const Rows &rows, uint16_t seed) {
    const int64_t at = seed % (rows.y.seqlen + 1), batch = rows.y.batch;
    Tensor k(rows.dtype, shape_of(rows.y)), k_cache(rows.dtype, shape_of(rows.y)), v_cache(k_cache);
    k_cache.poison();
    v_cache.poison();
    for (const auto &[from, to] : {std::pair(INT64_C(0), at), std::pair(at, rows.y.seqlen)}) {
        const Dense piece = tokens_of(rows.y, from, to);
        Tensor now(rows.dtype, shape_of(piece)), held(GYRE_I32, {batch});
        now.set_values(piece.data);
        held.fill((double)from);
        const gyre_tensor held_view = held.view();
        gyre_cache_append_args a = gyre_cache_append_defaults();
        a.k = a.v = now.view();
        a.k_cache = k_cache.view();
        a.v_cache = v_cache.view();
        a.cache_seqlens = &held_view;
        a.rope = &rows.rope;
        relation_tally().calls++;
        if (gyre_cache_append(on.several, &a) != GYRE_OK) return gyre_last_error();
    }
    const Rotated whole = rotate(on.alone, rows, rows.y, 0);
    if (!whole.wrong.empty()) return whole.wrong;
    if (!same_bits(k_cache.values(), whole.out)) return "keys have other bits than gyre_rotary() gives";
    return same_bits(v_cache.values(), rows.y.data) ? "" : "values are not copied";
}

struct Relation {
    const char *name;
    std::string (*holds)(const TargetContexts &, const Rows &, uint16_t seed);
};

constexpr Relation relations[] = {
    {"rotated there and back", there_and_back},
    {"rotated in pieces", in_pieces},
    {"queries and keys rotated at once", both_at_once},
    {"a cache filled in two pieces", cached},
};

} // namespace

std::string try_rows(ByteReader &r) {
    const Relation &relation = relations[r.below(std::size(relations))];
    const Rows rows = random_rows(r);
    const auto seed = r.number<uint16_t>();
    const std::string wrong = on_each_target([&](const TargetContexts &on) { return relation.holds(on, rows, seed); });
    if (wrong.empty()) return "";
    return std::string(relation.name) + ": " + wrong + "\ndtype " + std::to_string(rows.dtype) + " tokens " +
           std::to_string(rows.x.seqlen) + " dim " + std::to_string(rows.x.dim) + " rotary_dim " +
           std::to_string(rows.rope.rotary_dim) + " offset " + std::to_string(rows.offset) + "\n";
}

} // namespace gyre::fuzz
