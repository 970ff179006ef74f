#include "calls/work_done.h"

#include "files/array.h"

#include <algorithm>
#include <cstdint>

namespace gyre::cli {
namespace {

double elements(const gyre_tensor &tensor) {
    double count = 1;
    for (std::int32_t i = 0; i < tensor.rank; i++) count *= double(tensor.shape[i]);
    return count;
}

double bytes(const gyre_tensor &tensor) { return elements(tensor) * double(dtype_size(tensor.dtype)); }

/// Extent of a layout's dimension, by its position in bshd.
std::int64_t heads(gyre_layout layout, const gyre_tensor &tensor) { return tensor.shape[layout == GYRE_BSHD ? 2 : 1]; }
std::int64_t seqlen(gyre_layout layout, const gyre_tensor &tensor) { return tensor.shape[layout == GYRE_BHSD ? 2 : 1]; }
std::int64_t dim(const gyre_tensor &tensor) { return tensor.shape[tensor.rank - 1]; }

std::int32_t number(const gyre_tensor &tensor, std::int64_t i) {
    return static_cast<const std::int32_t *>(tensor.data)[i];
}

double visible_pairs(const gyre_attention_args &args, std::int64_t seqlen_q, std::int64_t seqlen_kv) {
    double pairs = 0;
    const std::int64_t shift = args.alignment == GYRE_BOTTOM_RIGHT ? seqlen_kv - seqlen_q : 0;
    for (std::int64_t i = 0; i < seqlen_q; i++) {
        const std::int64_t position = i + shift;
        std::int64_t first = 0;
        std::int64_t last = seqlen_kv - 1;
        if (args.window_left >= 0) first = std::max(first, position - args.window_left);
        if (args.window_right >= 0) last = std::min(last, position + args.window_right);
        if (args.causal) last = std::min(last, position);
        pairs += double(std::max(last - first + 1, std::int64_t(0)));
    }
    return pairs;
}

double visible_pairs(const gyre_attention_args &args) {
    double pairs = 0;
    const bool packed = args.layout == GYRE_THD;
    const std::int64_t batch = packed ? args.cu_seqlens_q->shape[0] - 1 : args.q.shape[0];
    for (std::int64_t b = 0; b < batch; b++) {
        const auto length = [&](const gyre_tensor &tensor, const gyre_tensor *cu_seqlens) {
            return cu_seqlens ? number(*cu_seqlens, b + 1) - number(*cu_seqlens, b) : seqlen(args.layout, tensor);
        };
        const std::int64_t seqlen_q = length(args.q, args.cu_seqlens_q);
        const std::int64_t seqlen_kv = length(args.k, args.cu_seqlens_k);
        pairs += visible_pairs(args, seqlen_q, args.seqused_k ? number(*args.seqused_k, b) : seqlen_kv);
    }
    return pairs;
}

} // namespace

WorkDone work_of(const gyre_rotary_args &args) {
    const double heads_of_all_tokens = elements(args.x) / double(dim(args.x));
    const double rotated = args.rope.rotary_dim ? args.rope.rotary_dim : double(dim(args.x));
    return {3 * rotated * heads_of_all_tokens, bytes(args.x) + bytes(args.out)};
}

WorkDone work_of(const gyre_attention_args &args) {
    const double multiply_adds = double(dim(args.q) + dim(args.v)) * visible_pairs(args);
    return {2 * multiply_adds * double(heads(args.layout, args.q)),
            bytes(args.q) + bytes(args.k) + bytes(args.v) + bytes(args.out)};
}

WorkDone work_of(const gyre_linear_attention_args &args) {
    const double rows = elements(args.q) + elements(args.k);
    return {2 * rows * double(dim(args.v)), bytes(args.q) + bytes(args.k) + bytes(args.v) + bytes(args.out)};
}

} // namespace gyre::cli
