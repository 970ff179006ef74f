// What the kernels of gradients are called with, for a run of batch entries.
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "cuda/attention/score_tensors.h"
#include "cuda/backward/backward.h"

namespace gyre::cuda {
namespace {

constexpr int32_t no_window = 1 << 29; // of windows; beside positions below 2^28

/// Rows of all tiles: a packed sequence may begin and end within one.
int64_t most_rows(const Heads &rows, int64_t tile, bool packed, int64_t sequences) {
    return packed ? (rows.seqlen / tile + sequences) * tile : rows.seqlen;
}

void view_tokens(Buffer *b, const Heads &t, int64_t tokens, int64_t first, int64_t batches) {
    b->describe(t.at(first, 0, 0), halide_type(t.dtype),
                {{t.dim, 1}, {t.heads, t.head_stride}, {tokens, t.token_stride}, {batches, t.batch_stride}});
}

} // namespace

gyre_status BackwardOnDevice::launch_delta(gyre_context &context, const Scope &scope, float *delta, int64_t first,
                                           int64_t batches) const {
    const Heads &rows = call.forward.out;
    if (rows.empty()) return GYRE_OK;
    Buffer out, grad, sums;
    view_tokens(&out, rows, rows.seqlen, first, batches);
    view_tokens(&grad, call.out_grad, rows.seqlen, first, batches);
    const int64_t entry = rows.heads * rows.seqlen;
    sums.describe(delta + first * entry, halide_type(GYRE_F32),
                  {{rows.seqlen, 1}, {rows.heads, rows.seqlen}, {batches, entry}});
    using A = DeltaCudaArguments;
    KernelArguments<A> arguments;
    arguments[A::out] = &out;
    arguments[A::out_grad] = &grad;
    arguments[A::delta] = &sums;
    return launch(context, scope, *delta_kernel, arguments);
}

gyre_status BackwardOnDevice::launch_gradient(gyre_context &context, const Scope &scope, const Gradient &g,
                                              const float *of_delta, int64_t first, int64_t batches) const {
    const AttentionCall &f = call.forward;
    const Heads &to = g.rows.view();
    if (to.empty()) return GYRE_OK;
    const halide_type_t i32 = halide_type(GYRE_I32), f32 = halide_type(GYRE_F32);
    const bool packed = args.forward->cu_seqlens_q, has_counts = f.seqused_k;
    const auto sequences = static_cast<int32_t>(packed ? f.sequences : batches);
    Buffer q_view, k_view, v_view, out_grad_view, grad, lse, delta;
    view_tokens(&q_view, q.view(), f.q.seqlen, first, batches);
    view_tokens(&k_view, k.view(), f.k.seqlen, first, batches);
    view_tokens(&v_view, v.view(), f.k.seqlen, first, batches);
    view_tokens(&out_grad_view, out_grad.view(), f.q.seqlen, first, batches);
    view_tokens(&grad, to, most_rows(to, g.kernel->task_rows, packed, f.sequences), first, batches);
    const int64_t entry = f.q.heads * f.q.seqlen;
    lse.describe(f.lse.at(first, 0, 0), f32,
                 {{f.q.seqlen, 1}, {f.q.heads, f.lse.head_stride}, {batches, f.lse.batch_stride}});
    delta.describe(of_delta + first * entry, f32, {{f.q.seqlen, 1}, {f.q.heads, f.q.seqlen}, {batches, entry}});
    Buffer q_bounds(f.cu_seqlens_q, i32, {{sequences + 1, 1}}), k_bounds(f.cu_seqlens_k, i32, {{sequences + 1, 1}});
    Buffer counts(has_counts ? f.seqused_k + first : nullptr, i32, {{sequences, 1}});
    const bool bottom_right = f.alignment == GYRE_BOTTOM_RIGHT;
    const auto group = static_cast<int32_t>(f.sharing());
    const auto bound = [](int64_t window) { return window < 0 ? no_window : static_cast<int32_t>(window); };
    const int32_t left = bound(f.left), right = bound(f.right);
    Buffer alibi(f.alibi, f32, {{f.q.heads, 1}});
    const bool has_alibi = f.alibi;
    BiasTensors bias(f, first, batches);
    const auto first_entry = static_cast<int32_t>(first);
    const auto seed_low = static_cast<uint32_t>(f.dropout.seed),
               seed_high = static_cast<uint32_t>(f.dropout.seed >> 32);
    using A = BackwardCudaArguments;
    KernelArguments<A> arguments(g.kernel->places);
    bias.add_to(&arguments);
    arguments[A::softcap] = &f.softcap;
    arguments[A::alibi] = &alibi;
    arguments[A::has_alibi] = &has_alibi;
    arguments[A::first_entry] = &first_entry;
    arguments[A::dropout_threshold] = &f.dropout.threshold;
    arguments[A::dropout_seed_low] = &seed_low;
    arguments[A::dropout_seed_high] = &seed_high;
    arguments[A::dropout_offset] = &f.dropout.offset;
    arguments[A::dropout_keep_scale] = &f.dropout.keep_scale;
    arguments[A::q_bounds] = &q_bounds;
    arguments[A::k_bounds] = &k_bounds;
    arguments[A::packed] = &packed;
    arguments[A::sequences] = &sequences;
    arguments[A::key_counts] = &counts;
    arguments[A::has_key_counts] = &has_counts;
    arguments[A::bottom_right] = &bottom_right;
    arguments[A::group] = &group;
    arguments[A::left] = &left;
    arguments[A::right] = &right;
    arguments[A::scale] = &f.scale;
    arguments[A::lse] = &lse;
    arguments[A::delta] = &delta;
    arguments[A::q] = &q_view;
    arguments[A::k] = &k_view;
    arguments[A::v] = &v_view;
    arguments[A::out_grad] = &out_grad_view;
    arguments[A::grad] = &grad;
    return launch(context, scope, *g.kernel->kernel, arguments);
}

} // namespace gyre::cuda
