#include "operands.h"

#include "math/storage.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/swizzle.h"

namespace gyre::attention {
using namespace Halide;

namespace {

constexpr int pairs_of_run = cuda::warp_lanes;

Expr stored(const Expr &value, const Type &type) { return narrow(value, type, Bf16::as_casts); }
Expr loaded(const Expr &value) { return widen(value, Bf16::as_casts); }

/// Within the tensor, which tokens of packed sequences are by what the device's lists hold.
Expr query_token(const CudaInputs &in, const Expr &token) {
    return unsafe_promise_clamped(clamp(token, 0, in.sequences.queries - 1), 0, in.sequences.queries - 1);
}

/// The place of a feature of a sequence's key.
std::vector<Expr> key_element(const CudaInputs &in, const CudaSizes &sizes, const CudaTile &tile, const Expr &feature,
                              const Expr &head, const Expr &key) {
    const auto within = [](const Expr &index, const Expr &extent) {
        return unsafe_promise_clamped(index, 0, extent - 1);
    };
    const Expr token = tile.first_key(tile.t) + key;
    if (!sizes.paged && !sizes.may_be_paged()) return {feature, head, within(token, in.key_tokens), tile.z};
    const Expr bits = cast<uint32_t>(in.page_bits); // so that no shift asks for its sign
    const Expr slot = key & ((1 << bits) - 1), page = within(key >> bits, in.most_pages);
    const Expr entry = in.page_table(page, tile.of_sequence(tile.t));
    if (sizes.may_be_paged())
        return {feature, head, within(select(in.has_pages, slot, token), in.key_tokens),
                within(clamp(cuda::choose(in.has_pages, entry, tile.seen(tile.t, tile.z, tile.h)[3]), 0, in.pages - 1),
                       in.pages)};
    return {feature, head, within(slot, in.key_tokens), within(clamp(entry, 0, in.pages - 1), in.pages)};
}

} // namespace

RowOfHeads row_of_heads(const CudaInputs &in, const CudaSizes &sizes, const CudaTile &tile, const Expr &i,
                        const Expr &h) {
    const Expr row = tile.existing_row(tile.t, i);
    if (!sizes.partial) return {row, h};
    const Expr group = in.sequences.group, last_head = in.key_heads * group - 1;
    return {cuda::opaque_quotient(row, group),
            unsafe_promise_clamped(h * group + cuda::opaque_remainder(row, group), 0, last_head)};
}

std::function<Tuple(Expr)> query_angle(const CudaTile &tile, const CudaInputs &in, const cuda::AngleSource &angles,
                                       const Expr &of, const Expr &row, const Expr &token) {
    return [=](const Expr &pair) {
        const Expr query = tile.query(row);
        const Expr given = token.defined() ? token : query_token(in, tile.first_query(of) + query);
        return cuda::angle_at(angles, in.q_positions, pair, given, tile.entry,
                              tile.keys(of) - tile.queries(of) + query);
    };
}

// Rows and keys that are not there are the last ones that are.
void define_operands(CudaStages &s, const CudaInputs &in, const Type &type) {
    const CudaSizes &sizes = s.sizes;
    const CudaTile &tile = s.tile;
    const int block = sizes.key_block;
    const Var &d = s.d, &h = s.h, &z = s.z, &i = s.i, &t = s.t, &j = s.j, &b = s.b;
    const Expr keys = tile.keys(t);
    const Expr key_head = unsafe_promise_clamped(tile.seen(t, z, h)[2], 0, in.key_heads - 1);
    s.q_staged = Func("q_staged");
    s.q_rows = Func("q_rows");
    const Expr last_row = tile.existing_row(t, i);
    const RowOfHeads of_row = row_of_heads(in, sizes, tile, i, h);
    Expr token = query_token(in, tile.first_query(t) + of_row.query);
    if (sizes.loads_queries) {
        s.row_tokens = Func("row_tokens");
        s.row_tokens(i, t, h, z) = token;
        token = unsafe_promise_clamped(s.row_tokens(i, t, h, z), 0, in.sequences.queries - 1);
    }
    s.q_staged(d, i, t, h, z) = in.q(d, of_row.head, token, tile.entry);
    const auto query = [&](const Expr &feature) { return loaded(s.q_staged(feature, i, t, h, z)); };
    // Both features of a pair in one turn, with one angle, of rows that are there. Runs of pairs, whose order does not matter.
    const int runs = (sizes.head_dim / 2 + pairs_of_run - 1) / pairs_of_run;
    RDom rotated_pairs(0, 2, 0, runs, 0, pairs_of_run, "rotated_pairs");
    s.second_of_pair = rotated_pairs.x;
    s.run_of_pairs = rotated_pairs.y;
    s.pair_of_run = rotated_pairs.z;
    const Expr pair = rotated_pairs.y * pairs_of_run + rotated_pairs.z, second = rotated_pairs.x;
    rotated_pairs.where(in.rope.count > 0 && tile.first_row(t) + i < tile.row_count(t) && pair < in.rope.count);
    const auto angle = query_angle(tile, in, in.angles, t, last_row, sizes.loads_queries ? token : Expr());
    const Var n("n");
    s.query_angles = Func("query_angles");
    s.query_angles(n, i, t, h, z) = angle(clamp(n, 0, max(in.rope.count, 1) - 1));
    const Expr rotated =
        stored(rotated_in_pair(in.rope, pair, second, sizes.head_dim, s.query_angles(pair, i, t, h, z), query), type);
    const Expr rotated_place = feature_of_pair(in.rope, pair, second, sizes.head_dim);
    const Type bits = UInt(type.bits());
    const Expr sign = Internal::make_const(bits, uint64_t{1} << (type.bits() - 1)),
               nothing = Internal::make_const(bits, 0);
    const auto with_sign = [&](const Expr &value) {
        return reinterpret(type, reinterpret(bits, value) ^ select(in.sign < 0.0f, sign, nothing));
    };
    const Expr as_they_are = s.q_staged(d, i, t, h, z);
    const Expr key = min(b * block + j, keys - 1);
    const std::vector<Expr> element = key_element(in, sizes, tile, d, key_head, key);
    if (sizes.loads_queries) {
        s.q_rows(d, i, t, h, z) = with_sign(as_they_are);
        s.q_rows(rotated_place, i, t, h, z) = with_sign(rotated);
        // One allocation, in the place of queries as they were.
        s.kv_rows = Func("kv_rows");
        s.kv_rows(d, j, s.w, b, t, h, z) = select(s.w == 0, in.k(element), in.v(element));
        return;
    }
    if (sizes.warpgroups) {
        const Expr feature = cuda::swizzled(d, j) + s.w * cuda::panel_columns;
        const std::vector<Expr> of_panel = key_element(in, sizes, tile, feature, key_head, key);
        s.k_rows = Func("k_rows");
        s.v_rows = Func("v_rows");
        s.k_rows(d, j, s.w, b, t, h, z) = in.k(of_panel);
        s.v_rows(d, j, s.w, b, t, h, z) = in.v(of_panel);
    }
    s.q_rotated = Func("q_rotated");
    s.q_rotated(d, i, t, h, z) = as_they_are;
    s.q_rotated(rotated_place, i, t, h, z) = rotated;
    if (sizes.swizzled_queries) {
        const Expr of = cuda::swizzled(d, i) + s.w * cuda::panel_columns;
        s.q_rows(d, i, s.w, t, h, z) = cuda::choose(in.rope.count > 0, with_sign(s.q_rotated(of, i, t, h, z)),
                                                    with_sign(s.q_staged(of, i, t, h, z)));
    } else {
        s.q_rows(d, i, t, h, z) = with_sign(cuda::choose(in.rope.count > 0, s.q_rotated(d, i, t, h, z), as_they_are));
    }
    if (sizes.warpgroups) return;
    s.k_rows = Func("k_rows");
    s.v_rows = Func("v_rows");
    s.k_rows(d, j, b, t, h, z) = in.k(element);
    s.v_rows(d, j, b, t, h, z) = in.v(element);
}

namespace {

/// A feature of rows of keys or values that lie in panels.
Expr swizzled_element(const CudaStages &s, const Func &rows, const Expr &feature, const Expr &key, const Expr &b) {
    return rows(cuda::swizzled(feature % cuda::panel_columns, key), key, feature / cuda::panel_columns, b, s.t, s.h,
                s.z);
}

} // namespace

Expr staged_query(const CudaStages &s, const Expr &feature) {
    if (!s.sizes.swizzled_queries) return s.q_rows(feature, s.i, s.t, s.h, s.z);
    return s.q_rows(cuda::swizzled(feature % cuda::panel_columns, s.i), s.i, feature / cuda::panel_columns, s.t, s.h,
                    s.z);
}

Expr staged_key(const CudaStages &s, const Expr &feature, const Expr &key, const Expr &b) {
    if (s.sizes.warpgroups) return swizzled_element(s, s.k_rows, feature, key, b);
    return s.kv_rows.defined() ? s.kv_rows(feature, key, 0, b, s.t, s.h, s.z)
                               : s.k_rows(feature, key, b, s.t, s.h, s.z);
}

Expr staged_value(const CudaStages &s, const Expr &feature, const Expr &key, const Expr &b) {
    if (s.sizes.warpgroups) return swizzled_element(s, s.v_rows, feature, key, b);
    return s.kv_rows.defined() ? s.kv_rows(feature, key, 1, b, s.t, s.h, s.z)
                               : s.v_rows(feature, key, b, s.t, s.h, s.z);
}

int columns_of_values(const CudaSizes &sizes) { return sizes.warpgroups ? cuda::panel_columns : sizes.v_head_dim; }

Expr row_of_values(const CudaStages &s, const Expr &row, const Expr &b) {
    if (!s.sizes.warpgroups) return staged_value(s, 0, row, b);
    return s.v_rows(0, row, 0, b, s.t, s.h, s.z);
}

} // namespace gyre::attention
