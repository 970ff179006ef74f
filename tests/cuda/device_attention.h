/// Calls with tensors on the device that the fake driver is.
#pragma once
#include "fake_driver.h"
#include "support/attention_case.h"
#include "support/on_device.h"
#include "support/refusal.h"

namespace gyre::test {

/// `call` is refused, and launches nothing.
template <typename Call>
void check_refused_before_launch(const Call &call, gyre_status status, const char *named) {
    const long before = launches();
    check_refused(named, call(), status, named);
    CHECK(launches() == before);
}

/// A call of attention, with all its tensors there.
struct DeviceAttention {
    AttentionCase c;
    OnDevice device;
    gyre_attention_args args = c.args;
    gyre_tensor lse;

    explicit DeviceAttention(const AttentionShape &shape) : c(shape) {
        for (Tensor *t : {&c.q, &c.k, &c.v, &c.out, &c.lse}) device.add(*t);
        for (gyre_tensor *t : {&args.q, &args.k, &args.v, &args.out}) *t = device.view(*t);
        lse = device.view(*c.args.lse);
        args.lse = &lse;
    }
    void check_refusal(gyre_status status, const char *named, gyre_context *context = nullptr) const {
        check_refused_before_launch([&] { return gyre_attention(context, &args); }, status, named);
    }
};

} // namespace gyre::test
