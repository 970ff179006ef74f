/// What a call adds to the scores of each query head: slopes of ALiBi, and sinks.
#pragma once
#include "attention/call/call.h"
#include "core/kernel_call.h"

namespace gyre {

/// Kernels form powers of 2: what they take of scores has it as a factor.
constexpr float log2_e = 1.44269504088896f;

/// The numbers as kernels take them. Those that the call does not have are one neutral number, repeated by strides of 0.
class HeadTerms {
public:
    static size_t bytes(const AttentionCall &call);
    /// Forms them in `memory`, which holds bytes().
    void form(const AttentionCall &call, char *memory);

    Buffer slopes(int64_t head, int64_t heads) const { return view(slope, head, heads); } // log2(e) included
    float slope_of(int64_t head) const { return slope.data[head * slope.stride]; }
    Buffer sinks(int64_t head, int64_t heads) const { return view(sink, head, heads); }         // log2(e) included
    Buffer merged_sinks(int64_t head, int64_t heads) const { return view(plain, head, heads); } // beside lse

    /// The largest number of its sign where the product is beyond it: an infinite slope would make NaN of no distance.
    static float finite_product(float number, float factor);

    /// The lowest number, which stands for no sink.
    static const float none;

private:
    struct Numbers {
        const float *data;
        int64_t stride;
    };
    static const float zero;
    Numbers slope{&zero, 0}, sink{&none, 0}, plain{&none, 0};

    static Buffer view(const Numbers &n, int64_t head, int64_t heads) {
        return Buffer(n.data + head * n.stride, halide_type(GYRE_F32), {{heads, n.stride}});
    }
};

} // namespace gyre
