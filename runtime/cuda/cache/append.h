/// gyre_cache_append() with tensors on a CUDA device: a launch for keys and one for values, which find their slots themselves.
#pragma once
#include "cache/append_call.h"
#include "cache/tensors.h"
#include "cuda/driver/call.h"
#include "cuda/driver/launch.h"
#include "cuda/rotary/token_angles.h"

namespace gyre::cuda {

class AppendOnDevice : public Call<gyre_cache_append_args> {
public:
    explicit AppendOnDevice(const gyre_cache_append_args &args) : Call(args) {}

    gyre_status check(bool need_data) override;
    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &) const override { return 0; }
    gyre_status run(gyre_context &context) override;

private:
    AppendCall call;

    gyre_status append(gyre_context &context, const Scope &scope, const Appended &t,
                       gyre_context::Frequencies &cache) const;
};

} // namespace gyre::cuda
