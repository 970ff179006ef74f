/// A call's bias and mask, as kernels of CUDA devices take them: whole, at any strides.
#pragma once
#include "attention/call/call.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre::cuda {

/// True if every element that `batches` batch entries read counts in 31 bits, as kernels count.
inline bool in_reach(const AttentionCall &c, const Broadcast &t, int64_t batches) {
    return fits_kernel_index(
        {{c.k.seqlen, t.strides[3]}, {c.q.seqlen, t.strides[2]}, {c.q.heads, t.strides[1]}, {batches, t.strides[0]}});
}

/// The view of batch entries from `first` on.
inline void view_scores(Buffer *b, const AttentionCall &c, const Broadcast &t, bool wanted, halide_type_t type,
                        int64_t first, int64_t batches) {
    const int64_t bytes = first * t.strides[0] * static_cast<int64_t>(element_size(t.dtype));
    b->describe(
        wanted ? t.data + bytes : nullptr, type,
        {{c.k.seqlen, t.strides[3]}, {c.q.seqlen, t.strides[2]}, {c.q.heads, t.strides[1]}, {batches, t.strides[0]}});
}

/// A bias of batch entries from `first` on, which must outlive the launch.
class BiasTensors {
public:
    BiasTensors(const AttentionCall &call, int64_t first, int64_t batches)
        : has_f32(has_bias(call, GYRE_F32)), has_f16(has_bias(call, GYRE_F16)), has_bf16(has_bias(call, GYRE_BF16)) {
        const halide_type_t bits = {halide_type_uint, 16, 1};
        view_scores(&f32, call, call.bias, has_f32, halide_type(GYRE_F32), first, batches);
        view_scores(&of_16_bits, call, call.bias, has_f16 || has_bf16, bits, first, batches);
    }

    template <typename A>
    void add_to(KernelArguments<A> *to) {
        KernelArguments<A> &arguments = *to;
        arguments[A::has_f32_bias] = &has_f32;
        arguments[A::has_f16_bias] = &has_f16;
        arguments[A::has_bf16_bias] = &has_bf16;
        arguments[A::bias_f32] = &f32;
        arguments[A::bias_16] = &of_16_bits;
    }

private:
    const bool has_f32, has_f16, has_bf16;
    Buffer f32, of_16_bits; // (key, query, head, entry)

    static bool has_bias(const AttentionCall &c, gyre_dtype type) { return c.bias.data && c.bias.dtype == type; }
};

/// A bias and a mask, likewise.
class ScoreTensors {
public:
    ScoreTensors(const AttentionCall &call, int64_t first, int64_t batches)
        : bias(call, first, batches), has_mask(call.mask.data) {
        view_scores(&mask, call, call.mask, has_mask, halide_type(GYRE_BOOL), first, batches);
    }

    void add_to(KernelArguments<AttentionCudaArguments> *to) {
        using A = AttentionCudaArguments;
        bias.add_to(to);
        (*to)[A::has_mask] = &has_mask;
        (*to)[A::mask] = &mask;
    }

private:
    BiasTensors bias;
    const bool has_mask;
    Buffer mask; // (key, query, head, entry)
};

} // namespace gyre::cuda
