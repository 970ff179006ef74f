#include "calls/attention_probabilities.h"

#include "files/conversion.h"
#include "options/layout.h"

#include <algorithm>

namespace gyre::cli {
namespace {

constexpr const char *option = "--probabilities";

Extents extents(gyre_layout layout, const gyre_tensor &tensor) {
    return extents_of(option, layout, Shape(tensor.shape, tensor.shape + tensor.rank));
}

/// Values of which key first + i has 1 in feature i; all others are 0.
Array unit_values(gyre_dtype dtype, gyre_layout layout, const Extents &e, std::int64_t first) {
    Array units = make_array(option, GYRE_F32, shape_of(layout, e));
    const std::int64_t token_stride = layout == GYRE_BSHD ? e.heads * e.dim : e.dim;
    const std::int64_t head_stride = layout == GYRE_BSHD ? e.dim : e.seqlen * e.dim;
    const std::int64_t last = std::min(first + e.dim, e.seqlen);
    for (std::int64_t b = 0; b < e.batch; b++)
        for (std::int64_t h = 0; h < e.heads; h++)
            for (std::int64_t key = first; key < last; key++) {
                const std::int64_t row = b * e.heads * e.seqlen * e.dim + h * head_stride + key * token_stride;
                units.as<float>()[row + key - first] = 1;
            }
    return to_float_type(option, std::move(units), dtype);
}

/// Copies the first columns of each row of out, which has as many columns as features, to columns of all keys.
void copy_columns(const Array &out, std::int64_t features, std::int64_t columns, Array &all, std::int64_t first) {
    const std::int64_t keys = all.shape.back();
    const std::int64_t rows = out.size() / features;
    for (std::int64_t row = 0; row < rows; row++)
        std::copy_n(out.as<float>() + row * features, columns, all.as<float>() + row * keys + first);
}

} // namespace

Array attention_probabilities(gyre_context *context, const gyre_attention_args &args, const ArgumentNames &names) {
    const Extents q = extents(args.layout, args.q);
    Extents k = extents(args.layout, args.k);
    Array all = make_array(option, GYRE_F32, {q.batch, q.heads, q.seqlen, k.seqlen});
    if (all.size() == 0) return all;
    // Queries and keys stay where they are. Out is written as bhsd, whatever their layout: strides say where.
    Array out = make_array(option, args.q.dtype, {q.batch, q.heads, q.seqlen, q.dim});
    gyre_attention_args call = args;
    call.out = view(out);
    if (args.layout == GYRE_BSHD) {
        std::swap(call.out.shape[1], call.out.shape[2]);
        std::swap(call.out.strides[1], call.out.strides[2]);
    }
    call.lse = nullptr;
    call.value_rope = nullptr; // rotates what the weights are given to
    call.values_rotated = 0;
    call.value_order = GYRE_VALUES_IN_ROWS;
    call.dropout = 0;
    call.workspace = nullptr;
    call.workspace_size = 0;
    for (std::int64_t first = 0; first < k.seqlen; first += q.dim) {
        const Array units = unit_values(args.v.dtype, args.layout, k, first);
        call.v = view(units);
        check(gyre_attention(context, &call), names);
        const std::int64_t columns = std::min(q.dim, k.seqlen - first);
        copy_columns(to_float_type(option, out, GYRE_F32), q.dim, columns, all, first);
    }
    return all;
}

} // namespace gyre::cli
