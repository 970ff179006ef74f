/// What no kernel of a CUDA device takes: it is refused by name, before anything is launched.
#include "device_attention.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"

using namespace gyre::test;

TEST_CASE("attention on devices refuses masks that were prepared, which the CPU reads, and values in blocks") {
    DeviceAttention a(AttentionShape().lengths(17, 64).head_counts(2, 1).dims(64).of(GYRE_BF16));
    std::vector<unsigned char> prepared(64);
    a.args.prepared_mask = prepared.data();
    a.args.prepared_mask_size = prepared.size();
    a.check_refusal(GYRE_UNSUPPORTED, "prepared_mask");
    a.args.prepared_mask = nullptr;
    a.args.prepared_mask_size = 0;
    a.args.value_order = GYRE_VALUES_IN_BLOCKS;
    a.check_refusal(GYRE_UNSUPPORTED, "value_order");
}

TEST_CASE("gradients of linear attention are refused for tensors on a device") {
    LinearBackwardCase c(AttentionShape().lengths(9, 9).dims(16));
    OnDevice device;
    for (Tensor *t : {&c.out_grad, &c.q_grad, &c.k_grad, &c.v_grad}) device.add(*t);
    gyre_linear_attention_backward_args args = c.args;
    for (gyre_tensor *t : {&args.out_grad, &args.q_grad, &args.k_grad, &args.v_grad}) *t = device.view(*t);
    check_refused_before_launch([&] { return gyre_linear_attention_backward(nullptr, &args); }, GYRE_UNSUPPORTED,
                                "out_grad");
}
