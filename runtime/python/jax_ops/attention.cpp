// Attention and its gradients as XLA calls them: arrays in C order, [batch, seqlen, heads, head_dim].
#include <gyre/gyre.h>

#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <cstdint>

namespace ffi = xla::ffi;

namespace {

using Frequencies = ffi::Span<const double>;

gyre_dtype dtype_of(ffi::DataType type) {
    switch (type) {
    case ffi::DataType::F32:
        return GYRE_F32;
    case ffi::DataType::F16:
        return GYRE_F16;
    case ffi::DataType::BF16:
        return GYRE_BF16;
    // The library refuses these, naming the argument.
    case ffi::DataType::S32:
        return GYRE_I32;
    case ffi::DataType::S64:
        return GYRE_I64;
    case ffi::DataType::PRED:
        return GYRE_BOOL;
    default:
        return GYRE_F64;
    }
}

template <typename Buffer>
gyre_tensor view(Buffer &buffer) {
    const auto sizes = buffer.dimensions();
    int64_t shape[GYRE_MAX_RANK] = {};
    std::copy_n(sizes.begin(), std::min<size_t>(sizes.size(), GYRE_MAX_RANK), shape);
    return gyre_tensor_dense(buffer.untyped_data(), dtype_of(buffer.element_type()), static_cast<int32_t>(sizes.size()),
                             shape);
}

/// What both calls share; a rotation without frequencies is none.
struct Options {
    gyre_attention_args args = gyre_attention_defaults();
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();

    Options(ffi::AnyBuffer &q, ffi::AnyBuffer &k, ffi::AnyBuffer &v, float scale, float softcap, bool causal,
            bool top_left, int64_t left, int64_t right, bool interleaved, double factor, Frequencies inv_freq,
            Frequencies value_inv_freq) {
        args.q = view(q);
        args.k = view(k);
        args.v = view(v);
        args.scale = scale;
        args.softcap = softcap;
        args.causal = causal;
        args.alignment = top_left ? GYRE_TOP_LEFT : GYRE_BOTTOM_RIGHT;
        args.window_left = left;
        args.window_right = right;
        rope.attention_factor = factor;
        args.rope = rotation(inv_freq, interleaved, &rope);
        args.value_rope = rotation(value_inv_freq, interleaved, &value_rope);
    }
    Options(const Options &) = delete; // it points into itself

private:
    static const gyre_rope *rotation(Frequencies inv_freq, bool interleaved, gyre_rope *rope) {
        if (inv_freq.size() == 0) return nullptr;
        rope->inv_freq = inv_freq.begin();
        rope->rotary_dim = static_cast<int32_t>(2 * inv_freq.size());
        rope->pairing = interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
        return rope;
    }
};

ffi::Error said(gyre_status status) {
    return status == GYRE_OK ? ffi::Error::Success() : ffi::Error::InvalidArgument(gyre_last_error());
}

ffi::Error attention(ffi::AnyBuffer q, ffi::AnyBuffer k, ffi::AnyBuffer v, ffi::Result<ffi::AnyBuffer> out,
                     ffi::Result<ffi::AnyBuffer> lse, float scale, float softcap, bool causal, bool top_left,
                     int64_t left, int64_t right, bool interleaved, double factor, Frequencies inv_freq,
                     Frequencies value_inv_freq) {
    Options call(q, k, v, scale, softcap, causal, top_left, left, right, interleaved, factor, inv_freq, value_inv_freq);
    const gyre_tensor lse_view = view(*lse);
    call.args.out = view(*out);
    call.args.lse = &lse_view;
    return said(gyre_attention(nullptr, &call.args));
}

ffi::Error attention_backward(ffi::AnyBuffer q, ffi::AnyBuffer k, ffi::AnyBuffer v, ffi::AnyBuffer out,
                              ffi::AnyBuffer lse, ffi::AnyBuffer out_grad, ffi::Result<ffi::AnyBuffer> q_grad,
                              ffi::Result<ffi::AnyBuffer> k_grad, ffi::Result<ffi::AnyBuffer> v_grad, float scale,
                              float softcap, bool causal, bool top_left, int64_t left, int64_t right, bool interleaved,
                              double factor, Frequencies inv_freq, Frequencies value_inv_freq) {
    Options call(q, k, v, scale, softcap, causal, top_left, left, right, interleaved, factor, inv_freq, value_inv_freq);
    const gyre_tensor lse_view = view(lse);
    call.args.out = view(out);
    call.args.lse = &lse_view;
    gyre_attention_backward_args backward = gyre_attention_backward_defaults();
    backward.forward = &call.args;
    backward.out_grad = view(out_grad);
    backward.q_grad = view(*q_grad);
    backward.k_grad = view(*k_grad);
    backward.v_grad = view(*v_grad);
    return said(gyre_attention_backward(nullptr, &backward));
}

/// Adds the options to a binding of arrays.
template <typename Binding>
auto with_options(Binding binding) {
    return std::move(binding)
        .template Attr<float>("scale")
        .template Attr<float>("softcap")
        .template Attr<bool>("causal")
        .template Attr<bool>("top_left")
        .template Attr<int64_t>("window_left")
        .template Attr<int64_t>("window_right")
        .template Attr<bool>("interleaved")
        .template Attr<double>("rope_factor")
        .template Attr<Frequencies>("inv_freq")
        .template Attr<Frequencies>("value_inv_freq");
}

auto three_arrays() { return ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>(); }

} // namespace

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error *gyre_jax_attention(XLA_FFI_CallFrame *frame) {
    static auto *handler =
        with_options(three_arrays().Ret<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>()).To(attention).release();
    return handler->Call(frame);
}

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error *gyre_jax_attention_backward(XLA_FFI_CallFrame *frame) {
    static auto *handler = with_options(three_arrays()
                                            .Arg<ffi::AnyBuffer>()
                                            .Arg<ffi::AnyBuffer>()
                                            .Arg<ffi::AnyBuffer>()
                                            .Ret<ffi::AnyBuffer>()
                                            .Ret<ffi::AnyBuffer>()
                                            .Ret<ffi::AnyBuffer>())
                               .To(attention_backward)
                               .release();
    return handler->Call(frame);
}
