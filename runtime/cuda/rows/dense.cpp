#include "cuda/rows/dense.h"

#include "core/workspace.h"
#include "cuda/driver/tensors.h"
#include "cuda/rows/features.h"

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

Heads dense_like(const Heads &like, gyre_dtype dtype, int64_t dim) {
    Heads rows = {nullptr, dtype, like.batch, like.seqlen, like.heads, dim, 0, dim, like.seqlen * dim};
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

gyre_status DenseRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *name,
                               int64_t dim, gyre_dtype dtype) {
    from = rows = given;
    rotated = how;
    kernel = gatherer = nullptr;
    converter = nullptr;
    is_gathered_first = false;
    rows.dim = dim;
    rows.dtype = dtype;
    const bool narrow = from.dtype != dtype;
    if (from.empty() || (!narrow && !how.by.on && from.dim == dim && is_known_copyable(from))) return GYRE_OK;
    if (narrow) {
        converter = find_features(context, from.dtype);
        if (how.by.on) kernel = find_row_writer(context, dtype, dtype, how.by);
        if (!converter || (how.by.on && !kernel))
            return refuse(GYRE_UNSUPPORTED, name, "no linked kernel converts %s of %s to f32 on a CUDA device", name,
                          dtype_name(from.dtype));
        rows = dense_like(from, dtype, dim);
        return check_dense_reach(rows, name);
    }
    const RotaryKernel *writer = find_row_writer(context, from.dtype, from.dtype, how.by);
    if (!writer)
        return refuse(GYRE_UNSUPPORTED, how.by.on ? how.rope : name, "no linked kernel %s %s of %s on a CUDA device",
                      how.by.on ? "rotates" : "copies rows of", name, dtype_name(from.dtype));
    return prepare_by(*writer, given, how, name, dim);
}

gyre_status DenseRows::prepare_by(const RotaryKernel &writer, const Heads &given, const Rotated &how, const char *name,
                                  int64_t dim) {
    from = given;
    rotated = how;
    kernel = &writer;
    rows = dense_like(from, from.dtype, dim);
    return check_dense_reach(rows, name);
}

bool DenseRows::is_written() const { return kernel || converter || gatherer; }

size_t DenseRows::bytes() const {
    return (is_written() ? bytes_of_dense(rows) : 0) + (is_gathered_first ? bytes_of_dense(from) : 0);
}

void DenseRows::place(char *memory) {
    if (is_written()) rows.data = memory;
    if (is_gathered_first) from.data = memory + bytes_of_dense(rows);
}

/// Features behind the tensor's own are 0. All are cleared, which a device does at the speed of its memory; of parts of rows it does not.
gyre_status DenseRows::clear_padding(const Scope &scope) const {
    if (rows.dim == from.dim || rows.empty()) return GYRE_OK;
    const size_t words = bytes_of_dense(rows) / sizeof(uint32_t);
    if (const Result result =
            scope.driver->MemsetD32Async(reinterpret_cast<Pointer>(rows.data), 0, words, scope.stream))
        return fail(Failure::internal, "workspace: cannot be cleared (%s)", scope.driver->text(result));
    return GYRE_OK;
}

gyre_status DenseRows::fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    if (!is_written()) return GYRE_OK;
    GYRE_TRY(clear_padding(scope));
    const Rotation none;
    if (is_gathered_first) GYRE_TRY(gather(context, scope, none, from, cache));
    if (converter) {
        GYRE_TRY(convert(context, scope));
        Heads own = rows;
        own.dim = from.dim;
        return kernel ? rotate_rows(context, scope, *kernel, rotated, 1, own, own, cache) : GYRE_OK;
    }
    if (gatherer) return gather(context, scope, rotated.by.on ? rotated.by : none, rows, cache);
    return rotate_rows(context, scope, *kernel, rotated, 1, from, rows, cache);
}

gyre_status DenseRows::convert(gyre_context &context, const Scope &scope) const {
    const int64_t at_once = in_reach(from, from.batch) && in_reach(rows, rows.batch) ? from.batch : 1;
    for (int64_t first = 0; first < from.batch; first += at_once) {
        Heads narrow = from;
        narrow.data = from.at(first, 0, 0);
        narrow.batch = at_once;
        const FeatureRows to{reinterpret_cast<float *>(rows.at(first, 0, 0)), 1, rows.token_stride, rows.head_stride,
                             rows.batch_stride};
        GYRE_TRY(write_features(context, scope, *converter, narrow, to, false));
    }
    return GYRE_OK;
}

gyre_status PaddedResults::prepare(const gyre_context &context, const Heads &given, int64_t dim) {
    to = rows = given;
    kernel = nullptr;
    if (to.dim == dim) return GYRE_OK;
    rows = dense_like(to, to.dtype, dim);
    kernel = find_row_writer(context, to.dtype, to.dtype, Rotation());
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, "out", "no linked kernel copies rows of %s on a CUDA device",
                      dtype_name(to.dtype));
    return check_dense_reach(rows, "out");
}

void PaddedResults::place(char *memory) {
    if (kernel) rows.data = memory;
}

gyre_status PaddedResults::store(gyre_context &context, const Scope &scope) const {
    if (!kernel) return GYRE_OK;
    Heads from = rows;
    from.dim = to.dim;
    gyre_context::Frequencies unused;
    const Rotated as_they_are{Rotation(), Positions(), "rope", {}};
    return rotate_rows(context, scope, *kernel, as_they_are, 1, from, to, unused);
}

} // namespace gyre::cuda
