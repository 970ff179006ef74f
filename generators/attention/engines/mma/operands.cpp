#include "operands.h"

#include "math/storage.h"
#include "passes/cuda/primitives.h"

namespace gyre::attention {
using namespace Halide;

namespace {

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
                                       const Expr &of, const Expr &row) {
    return [=](const Expr &pair) {
        const Expr query = tile.query(row);
        return cuda::angle_at(angles, in.q_positions, pair, query_token(in, tile.first_query(of) + query), tile.entry,
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
    s.q_rotated = Func("q_rotated");
    s.q_rows = Func("q_rows");
    s.k_rows = Func("k_rows");
    s.v_rows = Func("v_rows");
    const Expr last_row = tile.existing_row(t, i);
    const RowOfHeads of_row = row_of_heads(in, sizes, tile, i, h);
    s.q_staged(d, i, t, h, z) = in.q(d, of_row.head, query_token(in, tile.first_query(t) + of_row.query), tile.entry);
    const auto query = [&](const Expr &feature) { return loaded(s.q_staged(feature, i, t, h, z)); };
    s.q_rotated(d, i, t, h, z) = stored(
        rotated_feature(in.rope, d, sizes.head_dim, +1, query_angle(tile, in, in.angles, t, last_row), query), type);
    const Expr as_they_are = s.q_staged(d, i, t, h, z);
    const Expr either = cuda::choose(in.rope.count > 0, s.q_rotated(d, i, t, h, z), as_they_are);
    const Type bits = UInt(type.bits());
    const Expr sign = Internal::make_const(bits, uint64_t{1} << (type.bits() - 1)),
               nothing = Internal::make_const(bits, 0);
    const Expr flipped = reinterpret(bits, either) ^ select(in.sign < 0.0f, sign, nothing);
    s.q_rows(d, i, t, h, z) = reinterpret(type, flipped);
    const Expr key = min(b * block + j, keys - 1);
    const auto staged = [&](const Func &from, const Expr &pairs, const Expr &interleaved, const Func &table,
                            int features) {
        const auto as_stored = [&](const Expr &feature) {
            return from(key_element(in, sizes, tile, feature, key_head, key));
        };
        if (sizes.as_stored) return Expr(as_stored(d));
        const Expr row =
            unsafe_promise_clamped(key + select(in.angles_by_token, tile.first_key(t), 0), 0, in.sequences.keys - 1);
        const auto of_table = [&](const Expr &pair, int which) { // there is none where nothing is rotated
            return cuda::choose(pairs > 0, table(pair, which, row, z), 0.0f);
        };
        const auto angle = [&](const Expr &pair) { return Tuple(of_table(pair, 0), of_table(pair, 1)); };
        const auto element = [&](const Expr &feature) { return loaded(as_stored(feature)); };
        return stored(rotated_feature({pairs, interleaved}, d, features, +1, angle, element), type);
    };
    s.k_rows(d, j, b, t, h, z) = staged(in.k, in.key_pairs, in.rope.interleaved, in.key_angles, sizes.head_dim);
    s.v_rows(d, j, b, t, h, z) =
        staged(in.v, in.value_pairs, in.value_rope.interleaved, in.value_key_angles, sizes.v_head_dim);
}

} // namespace gyre::attention
