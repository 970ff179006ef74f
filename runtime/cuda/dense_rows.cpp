#include "cuda/dense_rows.h"

#include "core/workspace.h"
#include "cuda/tensors.h"

#include <utility>

namespace gyre::cuda {
namespace {

constexpr int64_t copied_bytes = 16; // at once, asynchronously

/// Where a tensor's address is not known, it is not.
bool is_known_copyable(const Heads &t) { return t.data && is_copyable(t); }

} // namespace

bool is_copyable(const Heads &t) {
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    bool aligned = reinterpret_cast<uintptr_t>(t.data) % copied_bytes == 0;
    for (const auto &[extent, stride] :
         {std::pair(t.batch, t.batch_stride), std::pair(t.seqlen, t.token_stride), std::pair(t.heads, t.head_stride)})
        aligned = aligned && (extent < 2 || stride * size % copied_bytes == 0);
    return aligned;
}

bool has_known_query_positions(const AttentionCall &call) {
    if (call.q_positions.given) return true;
    if (call.has_used_keys) return false;
    return !call.has_cu_seqlens_q || (call.packed_keys && call.cu_seqlens_q == call.cu_seqlens_k);
}

Rotated rotated_queries(const AttentionCall &call, const Rotation &by, const char *rope) {
    Rotated how{by, call.q_positions, rope};
    if (how.positions.given) return how;
    if (call.has_cu_seqlens_q)
        how.packed = {call.cu_seqlens_q, call.sequences};
    else
        how.positions.offset = call.k.seqlen - call.q.seqlen;
    return how;
}

const RotaryKernel *find_row_writer(const gyre_context &context, gyre_dtype from, gyre_dtype to, const Rotation &by,
                                    bool appended) {
    for (const gyre_pairing pairing : {by.pairing, GYRE_HALF, GYRE_INTERLEAVED})
        if (!by.on || pairing == by.pairing)
            if (const RotaryKernel *k = find_rotary_kernel(context, from, to, pairing, GYRE_CUDA, appended)) return k;
    return nullptr;
}

gyre_status rotate_rows(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotated &how,
                        float direction, const Heads &from, const Heads &to, gyre_context::Frequencies &cache) {
    const Rotation none;
    const Rotation &by = how.by.on ? how.by : none;
    TokenAngles angles;
    GYRE_TRY(angles.prepare(by, how.rope, cache));
    const RotatedTensor tensor{from, to, how.rope, how.rope, from.data == to.data};
    return rotate(context, scope, {&kernel, by, how.positions, how.packed, how.rope, direction}, tensor, &angles);
}

Heads dense_like(const Heads &like, gyre_dtype dtype) {
    Heads rows = {nullptr, dtype, like.batch, like.seqlen, like.heads, like.dim, 0, like.dim, like.seqlen * like.dim};
    rows.batch_stride = rows.heads * rows.head_stride;
    return rows;
}

size_t bytes_of_dense(const Heads &rows) {
    return round_up(static_cast<size_t>(rows.batch * rows.batch_stride) * element_size(rows.dtype));
}

gyre_status check_dense_reach(const Heads &rows, const char *name) {
    if (in_reach(rows, 1)) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, name, "one batch entry has over 2^31 elements, which are copied in the call");
}

gyre_status DenseRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *name) {
    from = rows = given;
    rotated = how;
    kernel = nullptr;
    if (from.empty() || (!how.by.on && is_known_copyable(from))) return GYRE_OK;
    const RotaryKernel *writer = find_row_writer(context, from.dtype, from.dtype, how.by);
    if (!writer)
        return refuse(GYRE_UNSUPPORTED, how.by.on ? how.rope : name, "no linked kernel %s %s of %s on a CUDA device",
                      how.by.on ? "rotates" : "aligns rows of", name, dtype_name(from.dtype));
    return prepare_by(*writer, given, how, name);
}

gyre_status DenseRows::prepare_by(const RotaryKernel &writer, const Heads &given, const Rotated &how,
                                  const char *name) {
    from = given;
    rotated = how;
    kernel = &writer;
    rows = dense_like(from, from.dtype);
    return check_dense_reach(rows, name);
}

size_t DenseRows::bytes() const { return kernel ? bytes_of_dense(rows) : 0; }

void DenseRows::place(char *memory) {
    if (kernel) rows.data = memory;
}

gyre_status DenseRows::fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    return kernel ? rotate_rows(context, scope, *kernel, rotated, 1, from, rows, cache) : GYRE_OK;
}

} // namespace gyre::cuda
