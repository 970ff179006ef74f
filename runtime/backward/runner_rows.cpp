// Rows of tensors, into the task's memory and back: rotated, in f32.
#include "backward/rounding.h"
#include "backward/runner.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

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

bool BackwardRunner::load(const BackwardRun &r, float *rows) const {
    if (r.heads.dim < z.features) std::memset(rows, 0, static_cast<size_t>(r.count * z.stride) * sizeof(float));
    return rotation(r, task.kernels.load, +1)
        .run(in_tensor(r), in_rows(rows), r.count, 1, r.heads.dim, r.angles, m.scratch);
}

bool BackwardRunner::load_operand(const BackwardRun &r, float *rows) const {
    const bool ok = load(r, rows);
    if (ok && r.angles && task.rounding.of(s)) round_to_bf16(rows, r.count * z.stride);
    return ok;
}

bool BackwardRunner::store(float *rows, const BackwardRun &r) const {
    return rotation(r, task.kernels.store, -1)
        .run(in_rows(rows), in_tensor(r), r.count, 1, r.heads.dim, r.angles, m.scratch);
}

bool BackwardRunner::load_queries() const {
    for (int64_t g = 0; g < z.group; g++) {
        const int64_t rows = round_to(s.q_len, blocks().row_unit());
        float *const q = m.q + g * z.rows * z.stride, *const out_grad = m.out_grad + g * z.rows * z.stride;
        std::memset(m.q_grad + g * z.rows * z.stride, 0, static_cast<size_t>(rows * z.stride) * sizeof(float));
        for (float *padded : {q, out_grad}) // rows past the end
            std::memset(padded + s.q_len * z.stride, 0,
                        static_cast<size_t>((rows - s.q_len) * z.stride) * sizeof(float));
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
    if (!load(stored_run(c.out), m.out)) return false;
    const halide_type_t f32 = halide_type(GYRE_F32);
    Buffer out(m.out, f32, {{z.features, 1}, {count, z.stride}});
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
