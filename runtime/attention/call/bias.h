/// A tensor that broadcasts to the scores, as kernels take its part for some rows and keys of a head.
#pragma once
#include "attention/call/call.h"
#include "core/kernel_arguments.h"

namespace gyre {

/// (j, i) from a row and a key on, or with `heads` (j, i, h) from a head on; of what is not `wanted` or not there one element,
/// repeated by strides of 0.
inline Buffer broadcast_view(const Broadcast &t, bool wanted, halide_type_t type, int64_t batch, int64_t head,
                             int64_t first_row, int64_t rows, int64_t first_key, int64_t keys, int64_t heads = 0) {
    static const float absent = 0;
    const auto view = [&](const void *data, int64_t of_key, int64_t of_row, int64_t of_head) {
        if (!heads) return Buffer(data, type, {{keys, of_key}, {rows, of_row}});
        return Buffer(data, type, {{keys, of_key}, {rows, of_row}, {heads, of_head}});
    };
    if (!wanted || !t.data) return view(&absent, 0, 0, 0);
    const int64_t element =
        batch * t.strides[0] + head * t.strides[1] + first_row * t.strides[2] + first_key * t.strides[3];
    return view(t.data + element * static_cast<int64_t>(element_size(t.dtype)), t.strides[3], t.strides[2],
                t.strides[1]);
}

/// How kernels are told a bias's type. 0: there is none.
inline int32_t kind_of(const Broadcast &bias) {
    if (!bias.data) return 0;
    return bias.dtype == GYRE_F32 ? 1 : bias.dtype == GYRE_F16 ? 2 : 3;
}

/// A bias: its kind, and a view by each of the two types that kernels read, of which one is used.
struct BiasArguments {
    const int32_t kind;
    Buffer as_f32, as_16;

    BiasArguments(const Broadcast &bias, int64_t batch, int64_t head, int64_t first_row, int64_t rows,
                  int64_t first_key, int64_t keys, int64_t heads = 0)
        : kind(kind_of(bias)), as_f32(broadcast_view(bias, kind == 1, halide_type(GYRE_F32), batch, head, first_row,
                                                     rows, first_key, keys, heads)),
          as_16(broadcast_view(bias, kind > 1, {halide_type_uint, 16, 1}, batch, head, first_row, rows, first_key, keys,
                               heads)) {}

    template <typename A>
    void add_to(KernelArguments<A> *to) {
        KernelArguments<A> &arguments = *to;
        arguments[A::bias_kind] = &kind;
        arguments[A::bias_f32] = &as_f32;
        arguments[A::bias_16] = &as_16;
    }
};

} // namespace gyre
