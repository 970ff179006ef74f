#include "multi_head_attention_state.h"

#include "tensor_checks.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gyre {
inline namespace v0 {
namespace {

using modules::check_tensor;
using modules::shape_text;

/// Does every query see the keys up to its own place, and no others?
bool is_causal(const gyre_tensor &mask) {
    for (std::int64_t b = 0; b < mask.shape[2]; b++)
        for (std::int64_t i = 0; i < mask.shape[0]; i++)
            for (std::int64_t j = 0; j < mask.shape[1]; j++) {
                const std::int64_t at = i * mask.strides[0] + j * mask.strides[1] + b * mask.strides[2];
                if ((static_cast<const unsigned char *>(mask.data)[at] != 0) != (j <= i)) return false;
            }
    return true;
}

} // namespace

void MultiHeadAttention::State::prepare_relative_bias() {
    call.bias = nullptr;
    if (relative.buckets == 0) return;
    relative.fill(relative_table(values), rows, keys, &relative_bias);
    relative_view = view(relative_bias, {options.heads, rows, keys});
    call.bias = &relative_view;
}

/// [batch, seq, heads, head_dim]
gyre_tensor MultiHeadAttention::State::by_heads(const Rows &x, std::int64_t length) const {
    const std::int64_t of_token = options.batch_first ? x.stride : batch * x.stride;
    const std::int64_t of_batch = options.batch_first ? length * x.stride : x.stride;
    return view(x.data, {batch, length, options.heads, head_dim}, {of_batch, of_token, head_dim, 1});
}

void MultiHeadAttention::State::take_inputs(const gyre_tensor &query, const gyre_tensor &key,
                                            const gyre_tensor &value) {
    has_run = false;
    const int batch_at = options.batch_first ? 0 : 1;
    const int seq_at = 1 - batch_at;
    for (const gyre_tensor *t : {&query, &key})
        if (t->rank != 3)
            throw Error(GYRE_BAD_SHAPE, std::string(t == &query ? "query" : "key") + ": got " +
                                            std::to_string(t->rank) + " dimensions, expected 3");
    batch = query.shape[batch_at];
    rows = query.shape[seq_at];
    keys = key.shape[seq_at];
    const auto shape = [&](std::int64_t seq) {
        return options.batch_first ? Extents{batch, seq, features} : Extents{seq, batch, features};
    };
    check_tensor("query", query, shape(rows));
    check_tensor("key", key, shape(keys));
    check_tensor("value", value, shape(keys));
    if (std::max(tokens(query_input), tokens(key_input)) > std::numeric_limits<std::int32_t>::max())
        throw Error(GYRE_UNSUPPORTED, "query: got over 2^31 tokens");
    inputs[query_input] = query;
    inputs[key_input] = key;
    inputs[value_input] = value;
}

void MultiHeadAttention::State::take_mask(const gyre_tensor *given) {
    call.mask = nullptr;
    call.causal = options.causal;
    if (!given) return;
    const gyre_tensor &m = *given;
    if (m.dtype != GYRE_BOOL) throw Error(GYRE_BAD_TYPE, "mask: expected bool");
    if (m.rank != 3 || (m.shape[0] != rows && m.shape[0] != 1) || m.shape[1] != keys ||
        (m.shape[2] != batch && m.shape[2] != 1))
        throw Error(GYRE_BAD_SHAPE, "mask: got shape " + shape_text(m) + ", expected [" + std::to_string(rows) +
                                        " or 1, " + std::to_string(keys) + ", " + std::to_string(batch) + " or 1]");
    if (m.data && m.shape[0] == rows && is_causal(m)) {
        call.causal = 1; // which kernels skip, and form gradients of
        return;
    }
    mask =
        view(m.data, GYRE_BOOL, {m.shape[2], 1, m.shape[0], m.shape[1]}, {m.strides[2], 0, m.strides[0], m.strides[1]});
    call.mask = &mask;
}

void MultiHeadAttention::State::prepare_call() {
    mixed.resize(static_cast<std::size_t>(tokens(query_input) * features));
    lse.resize(static_cast<std::size_t>(tokens(query_input) * options.heads));
    lse_view = view(lse, {batch, options.heads, rows});
    call.q = part_by_heads(projected, query_input);
    call.k = part_by_heads(projected, key_input);
    call.v = part_by_heads(projected, value_input);
    call.out = by_heads({mixed.data(), features}, rows);
    call.lse = &lse_view;
    call.alignment = GYRE_TOP_LEFT;
    call.rope = rope.rotary_dim ? &rope : nullptr;
    call.value_rope = value_rope.rotary_dim ? &value_rope : nullptr;
    call.alibi = nullptr;
    if (!options.alibi_slopes.empty()) {
        alibi = view(options.alibi_slopes.data(), GYRE_F32, {options.heads});
        call.alibi = &alibi;
    }
    prepare_relative_bias();
    call.dropout = is_training ? static_cast<float>(options.dropout) : 0;
    call.dropout_seed = options.dropout_seed;
    call.dropout_offset = dropout_offset;
    if (call.dropout > 0) dropout_offset++;
    call.q_positions = nullptr;
    if (rows != keys && (call.rope || call.value_rope)) { // the library's own count would end with the last key
        row_positions.resize(static_cast<std::size_t>(rows));
        std::iota(row_positions.begin(), row_positions.end(), 0);
        row_positions_view = view(row_positions, {rows});
        call.q_positions = &row_positions_view;
    }
}

} // namespace v0
} // namespace gyre
