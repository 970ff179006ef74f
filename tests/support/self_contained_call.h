/// A call of attention whose memory is its own: it may be made in child processes and in other threads, where nothing can be checked.
#pragma once
#include "support/each_kernel.h"

#include <vector>

namespace gyre::test {

/// Has tasks for several threads.
struct SelfContainedCall {
    std::vector<float> q, k, v, out;
    gyre_attention_args args = gyre_attention_defaults();

    explicit SelfContainedCall(float scale = 1) : q(2 * 64 * 2 * 64), k(q.size()), v(q.size()), out(q.size(), -1) {
        for (size_t i = 0; i < q.size(); i++) {
            q[i] = scale * (float)(i % 13) / 13;
            k[i] = (float)(i % 7) / 7;
            v[i] = scale * (float)(i % 11) / 11;
        }
        const int64_t shape[4] = {2, 64, 2, 64};
        args.q = gyre_tensor_dense(q.data(), GYRE_F32, 4, shape);
        args.k = gyre_tensor_dense(k.data(), GYRE_F32, 4, shape);
        args.v = gyre_tensor_dense(v.data(), GYRE_F32, 4, shape);
        args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
        args.causal = 1;
    }
    gyre_status run(gyre_context *context) { return gyre_attention(context, &args); }
};

inline gyre_context *context_of(int32_t threads) {
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    gyre_context *context = nullptr;
    REQUIRE_MESSAGE(gyre_context_create(&options, &context) == GYRE_OK, text(gyre_last_error()));
    return context;
}

} // namespace gyre::test
