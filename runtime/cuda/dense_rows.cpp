#include "cuda/dense_rows.h"

#include "cuda/tensors.h"

#include <utility>

namespace gyre::cuda {
namespace {

constexpr int64_t copied_bytes = 16; // at once, asynchronously

/// A copy is what every kernel does without a rotation.
const RotaryKernel *find_kernel(const gyre_context &context, gyre_dtype dtype, const Rotation &r) {
    for (const gyre_pairing pairing : {r.pairing, GYRE_HALF, GYRE_INTERLEAVED})
        if (!r.on || pairing == r.pairing)
            if (const RotaryKernel *k = find_rotary_kernel(context, dtype, dtype, pairing, GYRE_CUDA)) return k;
    return nullptr;
}

} // namespace

bool is_copyable(const Heads &t) {
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    bool aligned = reinterpret_cast<uintptr_t>(t.data) % copied_bytes == 0;
    for (const auto &[extent, stride] :
         {std::pair(t.batch, t.batch_stride), std::pair(t.seqlen, t.token_stride), std::pair(t.heads, t.head_stride)})
        aligned = aligned && (extent < 2 || stride * size % copied_bytes == 0);
    return aligned;
}

gyre_status DenseRows::prepare(const gyre_context &context, const AttentionCall &call, const Heads &keys,
                               const Rotation &by, const char *of_rope, const char *of_keys) {
    from = keys;
    rotation = by;
    positions = call.k_positions;
    rope = of_rope;
    name = of_keys;
    if (call.packed_keys) packed = {call.cu_seqlens_k, call.sequences};
    kernel = find_kernel(context, from.dtype, rotation);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, rotation.on ? rope : name, "no linked kernel %s %s of %s on a CUDA device",
                      rotation.on ? "rotates" : "aligns rows of", name, dtype_name(from.dtype));
    rows = {nullptr, from.dtype, from.batch, from.seqlen, from.heads, from.dim, 0, from.dim, from.seqlen * from.dim};
    rows.batch_stride = rows.heads * rows.head_stride;
    if (!in_reach(rows, 1))
        return refuse(GYRE_UNSUPPORTED, name, "one batch entry has over 2^31 elements, which are copied in the call");
    return GYRE_OK;
}

size_t DenseRows::bytes() const {
    if (!kernel) return 0;
    return round_up(static_cast<size_t>(rows.batch * rows.batch_stride) * element_size(rows.dtype));
}

gyre_status DenseRows::fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    if (!kernel) return GYRE_OK;
    TokenAngles angles;
    GYRE_TRY(angles.prepare(rotation, rope, cache));
    const RotatedTensor tensor{from, rows, name, name, false};
    return rotate(context, scope, {kernel, rotation, positions, packed, rope, 1}, tensor, &angles);
}

} // namespace gyre::cuda
