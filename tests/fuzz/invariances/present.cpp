#include "present.h"
#include "call_memory.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {
namespace {

using test::Dense;
using test::Tensor;

/// The arguments of a problem's call, and what it writes.
struct Call {
    CallMemory memory;
    std::vector<int64_t> q_lengths;
    gyre_attention_args args;
    Tensor *out = nullptr, *lse = nullptr;
    Dense out_like;

    Call(const Problem &p, const Presentation &as)
        : memory(p, as), q_lengths((size_t)p.batch(), p.queries()), args(p.options),
          out_like(p.batch(), p.queries(), p.heads(), p.v.dim) {
        const bool packed = as.layout == GYRE_THD;
        const int64_t tokens = p.batch() * p.queries();
        args.layout = as.layout;
        args.q = memory.heads(p.q, q_lengths);
        args.k = as.page_size ? memory.pool(p.k) : memory.heads(p.k, p.k_length);
        args.v = as.page_size ? memory.pool(p.v) : memory.heads(p.v, p.k_length);
        if (as.page_size) args.page_table = memory.table();
        out = &memory.written(out_like, q_lengths);
        args.out = out->view();
        std::vector<int64_t> shape{p.batch(), p.heads(), p.queries()};
        if (packed) shape = {p.heads(), tokens};
        lse = &lse_.emplace_back(GYRE_F32, shape);
        lse->poison();
        args.lse = memory.view(*lse);
        if (packed) args.cu_seqlens_q = memory.bounds(q_lengths);
        if (packed && !as.page_size) args.cu_seqlens_k = memory.bounds(p.k_length);
        const std::vector<double> lengths(p.k_length.begin(), p.k_length.end());
        if (as.page_size || (!packed && p.has_lengths())) args.seqused_k = memory.list(lengths, {p.batch()});
        const std::vector<int64_t> square{p.batch(), 1, p.queries(), p.keys()};
        if (!p.mask.empty()) args.mask = memory.list(p.mask, square, GYRE_BOOL);
        if (!p.bias.empty()) args.bias = memory.list(p.bias, square, p.dtype);
        if (!p.sinks.empty()) args.sinks = memory.list(p.sinks, {p.heads()}, GYRE_F32);
        if (!p.alibi.empty()) args.alibi = memory.list(p.alibi, {p.heads()}, GYRE_F32);
        args.rope = memory.rope(p.rope);
        args.value_rope = memory.rope(p.value_rope);
        if (!p.q_positions.empty()) args.q_positions = memory.positions(p.q_positions, p.queries(), q_lengths);
        if (p.k_positions.empty()) return;
        if (as.page_size)
            args.k_positions = memory.list(p.k_positions, {p.batch(), p.keys()}, GYRE_I64);
        else
            args.k_positions = memory.positions(p.k_positions, p.keys(), p.k_length);
    }

    /// Prepares the mask by threads that are not those of the call.
    gyre_status prepare_mask() {
        size_t bytes = 0;
        const gyre_status status = gyre_mask_prepare_size(&args, &bytes);
        if (status != GYRE_OK) return status;
        prepared_mask_.assign(bytes / sizeof(uint64_t), UINT64_MAX);
        const gyre_status prepared = gyre_mask_prepare(nullptr, &args, prepared_mask_.data(), bytes);
        args.prepared_mask = prepared_mask_.data();
        args.prepared_mask_size = bytes;
        return prepared;
    }

    AttentionResult result(gyre_context *context, gyre_status status, const Problem &p) const {
        AttentionResult r;
        if (status != GYRE_OK) r.wrong = std::string(gyre_status_string(status)) + ": " + gyre_last_error();
        if (!r.wrong.empty()) return r;
        if (!memory.intact() || !lse->surroundings_intact()) r.wrong = "memory beside the results was written";
        r.kernel = gyre_selected_kernel(context);
        r.rounding = test::rounding_of_call(args, r.kernel, gyre_context_target(context));
        r.out = memory.read(*out, out_like, q_lengths);
        const std::vector<double> values = lse->values();
        if (args.layout != GYRE_THD) return r.lse = values, r;
        for (int64_t b = 0; b < p.batch(); b++)
            for (int64_t h = 0; h < p.heads(); h++) {
                const auto row = values.begin() + (h * p.batch() + b) * p.queries();
                r.lse.insert(r.lse.end(), row, row + p.queries());
            }
        return r;
    }

private:
    std::deque<Tensor> lse_;
    std::vector<uint64_t> prepared_mask_;
};

} // namespace

Presentation random_presentation(ByteReader &r, const Problem &p) {
    Presentation as;
    const bool may_pack = p.mask.empty() && p.bias.empty();
    as.layout =
        may_pack ? r.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD, GYRE_THD}) : r.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD});
    as.seed = r.number<uint16_t>();
    return as;
}

AttentionResult run(gyre_context *context, const Problem &p, const Presentation &as) {
    Call call(p, as);
    const gyre_status prepared = as.prepares_mask ? call.prepare_mask() : GYRE_OK;
    const gyre_status status = prepared == GYRE_OK ? gyre_attention(context, &call.args) : prepared;
    return call.result(context, status, p);
}

Gradients run_backward(gyre_context *context, const Problem &p, const Dense &out_grad, const Presentation &as) {
    Call call(p, as);
    const AttentionResult forward = call.result(context, gyre_attention(context, &call.args), p);
    Gradients g;
    g.wrong = forward.wrong;
    g.forward_kernel = forward.kernel;
    g.out = forward.out;
    if (!g.wrong.empty()) return g;
    gyre_attention_backward_args args = gyre_attention_backward_defaults();
    args.forward = &call.args;
    args.out_grad = call.memory.heads(out_grad, call.q_lengths);
    Tensor &q = call.memory.written(p.q, call.q_lengths), &k = call.memory.written(p.k, p.k_length),
           &v = call.memory.written(p.v, p.k_length);
    args.q_grad = q.view();
    args.k_grad = k.view();
    args.v_grad = v.view();
    const gyre_status status = gyre_attention_backward(context, &args);
    if (status != GYRE_OK) g.wrong = std::string(gyre_status_string(status)) + ": " + gyre_last_error();
    if (!call.memory.intact()) g.wrong = "memory beside the gradients was written";
    g.kernel = gyre_selected_kernel(context);
    g.q = call.memory.read(q, p.q, call.q_lengths);
    g.k = call.memory.read(k, p.k, p.k_length);
    g.v = call.memory.read(v, p.v, p.k_length);
    return g;
}

bool same_bits(const std::vector<double> &a, const std::vector<double> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
        return x == y && std::signbit(x) == std::signbit(y);
    });
}

} // namespace gyre::fuzz
