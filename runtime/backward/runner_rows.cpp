// Rows of tensors, into the task's memory and back: rotated, in f32.
#include "backward/rounding.h"
#include "backward/runner.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gyre {
namespace {

/// Rows that are stored as they are computed with: in f32, and not rotated.
bool is_plain(const BackwardRun &r) { return r.heads.dtype == GYRE_F32 && !r.angles; }

float *first_row(const BackwardRun &r) { return reinterpret_cast<float *>(r.heads.at(r.batch, r.token, r.head)); }

/// In less time than a kernel of rotary/ takes to copy them.
void copy_rows(const float *from, int64_t from_stride, float *to, int64_t to_stride, const BackwardRun &r) {
    for (int64_t n = 0; n < r.count; n++)
        std::memcpy(to + n * to_stride, from + n * from_stride, static_cast<size_t>(r.heads.dim) * sizeof(float));
}

TokenRun in_tensor(const BackwardRun &r) {
    TokenRun run(r.heads, r.batch, r.token);
    run.data = r.heads.at(r.batch, r.token, r.head);
    return run;
}

HeadRotation rotation(const BackwardRun &r, const RotaryKernel *const (&by_pairing)[2], float direction) {
    return {by_pairing[r.angles ? r.rotation.pairing : GYRE_HALF], 0, r.angles ? r.rotation.pairs : 0, direction,
            false};
}

} // namespace

TokenRun BackwardRunner::in_rows(float *rows) const {
    return TokenRun({reinterpret_cast<char *>(rows), GYRE_F32, 1, 1, 1, z.features, 0, z.stride, 0}, 0, 0);
}

void BackwardRunner::clear_rows(float *first, int64_t count) const {
    std::memset(first, 0, static_cast<size_t>(count * z.stride) * sizeof(float));
}

const float *BackwardRunner::stored_rows(const BackwardRun &r) const {
    const int64_t stride = r.heads.token_stride;
    const bool fits_index = stride >= 0 && stride <= INT32_MAX / std::max(z.run, z.keys);
    return is_plain(r) && r.heads.dim == z.features && fits_index ? first_row(r) : nullptr;
}

bool BackwardRunner::load(const BackwardRun &r, float *rows) const {
    if (r.heads.dim < z.features) clear_rows(rows, r.count);
    if (is_plain(r)) {
        copy_rows(first_row(r), r.heads.token_stride, rows, z.stride, r);
        return true;
    }
    return rotation(r, task.kernels.load, +1)
        .run(in_tensor(r), in_rows(rows), r.count, 1, r.heads.dim, r.angles, m.scratch);
}

bool BackwardRunner::load_operand(const BackwardRun &r, float *rows) const {
    const bool ok = load(r, rows);
    if (ok && r.angles && task.rounding.of(s)) round_to_bf16(rows, r.count * z.stride);
    return ok;
}

bool BackwardRunner::store(float *rows, const BackwardRun &r) const {
    if (is_plain(r)) {
        copy_rows(rows, z.stride, first_row(r), r.heads.token_stride, r);
        return true;
    }
    return rotation(r, task.kernels.store, -1)
        .run(in_rows(rows), in_tensor(r), r.count, 1, r.heads.dim, r.angles, m.scratch);
}

bool BackwardRunner::load_queries() const {
    for (int64_t g = 0; g < z.group; g++) {
        const int64_t rows = round_to(s.q_len, blocks().row_unit()), queries = round_to(s.q_len, blocks().query_unit());
        float *const q = m.q + g * z.rows * z.stride, *const out_grad = m.out_grad + g * z.rows * z.stride;
        clear_rows(m.q_grad + g * z.rows * z.stride, rows);
        clear_rows(q + s.q_len * z.stride, queries - s.q_len);
        clear_rows(out_grad + s.q_len * z.stride, rows - s.q_len);
        for (float *padded : {m.delta, m.power}) std::fill_n(padded + g * z.rows + s.q_len, rows - s.q_len, 0.0f);
        for (int64_t first = 0; first < s.q_len; first += z.run) {
            const int64_t count = std::min(z.run, s.q_len - first);
            if (!load_operand(query_run(c.q, g, first, count), q + first * z.stride) ||
                !load(output_run(task.call.out_grad, g, first, count), out_grad + first * z.stride) ||
                !load_statistics(g, first, count))
                return false;
        }
    }
    return true;
}

/// delta is the product of the result and its gradient as they are stored. Rotated ones have the same product only where a
/// rotation keeps lengths, which a caller's tables need not.
bool BackwardRunner::load_statistics(int64_t g, int64_t first, int64_t count) const {
    const int64_t row = g * z.rows + first;
    const auto stored_run = [&](const Heads &of) { return rows_run(of, g, first, count, c.value_rope, nullptr); };
    float *stored_grad = m.out_grad + row * z.stride;
    if (c.value_rope.on) {
        stored_grad = m.stored_grad;
        if (!load(stored_run(task.call.out_grad), stored_grad)) return false;
    }
    const BackwardRun results = stored_run(c.out);
    const float *stored_out = stored_rows(results);
    if (!stored_out && !load(results, m.out)) return false;
    const halide_type_t f32 = halide_type(GYRE_F32);
    Buffer out(stored_out ? stored_out : m.out, f32,
               {{z.features, 1}, {count, stored_out ? c.out.token_stride : z.stride}});
    Buffer out_grad(stored_grad, f32, {{z.features, 1}, {count, z.stride}});
    Buffer lse(c.lse.at(s.batch, s.q_first + first, head(g)), f32, {{count, 1}});
    Buffer delta(m.delta + row, f32, {{count, 1}}), power(m.power + row, f32, {{count, 1}});
    using A = DeltaArguments;
    KernelArguments<A> arguments;
    arguments[A::out] = &out;
    arguments[A::out_grad] = &out_grad;
    arguments[A::lse] = &lse;
    arguments[A::delta] = &delta;
    arguments[A::power] = &power;
    Slab slab(m.scratch, task.kernels.delta->workspace);
    return arguments.call(*task.kernels.delta->kernel, slab);
}

bool BackwardRunner::store_queries(int64_t g) const {
    for (int64_t first = 0; first < s.q_len; first += z.run) {
        const int64_t count = std::min(z.run, s.q_len - first);
        if (!store(m.q_grad + (g * z.rows + first) * z.stride, query_run(task.call.q_grad, g, first, count)))
            return false;
    }
    return true;
}

/// Keys that a sequence has room for, but does not use, have no influence.
void BackwardRunner::clear_unused_keys() const {
    const int64_t room = c.packed_keys ? c.cu_seqlens_k[index + 1] - c.cu_seqlens_k[index] : c.k.seqlen;
    for (const Heads *grad : {&task.call.k_grad, &task.call.v_grad})
        for (int64_t token = s.k_len; token < room; token++)
            std::memset(grad->at(s.batch, s.k_first + token, kv_head), 0,
                        static_cast<size_t>(grad->dim) * element_size(grad->dtype));
}

} // namespace gyre
