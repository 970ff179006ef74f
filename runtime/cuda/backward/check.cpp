// What BackwardOnDevice takes, and what it refuses.
#include "attention/call/tensors.h"
#include "core/arguments.h"
#include "core/kernel_call.h"
#include "cuda/attention/score_tensors.h"
#include "cuda/backward/backward.h"
#include "cuda/driver/tensors.h"

#include <cstddef>

namespace gyre::cuda {

gyre_status BackwardOnDevice::refuse_unsupported() const {
    if (args.bias_grad) return refuse(GYRE_UNSUPPORTED, "bias_grad", "no kernel of a CUDA device forms it");
    const AttentionCall &f = call.forward;
    // Where tokens stand that only the device's lists tell sequences of.
    const bool packed = args.forward->cu_seqlens_q, keys = f.rotate_keys || f.rotate_values;
    const std::pair<bool, const char *> positions_needed[] = {
        {(f.rope.on || f.value_rope.on) && (packed || args.forward->seqused_k) && !f.q_positions.given,
         "forward.q_positions"},
        {keys && packed && !f.k_positions.given, "forward.k_positions"}};
    for (const auto &[missing, name] : positions_needed)
        if (missing)
            return refuse(GYRE_UNSUPPORTED, name,
                          "got NULL, on CUDA devices expected positions where lists have the lengths");
    return GYRE_OK;
}

gyre_status BackwardOnDevice::check_reach() const {
    const AttentionCall &f = call.forward;
    const std::pair<const Heads *, const char *> tensors_read[] = {
        {&f.q, "forward.q"},          {&f.k, "forward.k"},      {&f.v, "forward.v"},      {&f.out, "forward.out"},
        {&call.out_grad, "out_grad"}, {&call.q_grad, "q_grad"}, {&call.k_grad, "k_grad"}, {&call.v_grad, "v_grad"}};
    for (const auto &[t, name] : tensors_read)
        if (!in_reach(*t, 1)) return refuse(GYRE_UNSUPPORTED, name, "one batch entry reaches over 2^31 elements");
    if (!in_reach(f, f.bias, 1))
        return refuse(GYRE_UNSUPPORTED, "forward.bias", "one batch entry reaches over 2^31 elements");
    return GYRE_OK;
}

gyre_status BackwardOnDevice::check(bool need_data) {
    GYRE_TRY(adopt(args.forward, "forward", gyre_attention_defaults(), offsetof(gyre_attention_args, score), &forward));
    args.forward = &forward;
    GYRE_TRY(adopt_tensors(tensors, &device));
    Device of_forward = -1;
    {
        const MembersOf forward_arguments("forward");
        each_tensor(forward, forward_tensors);
        GYRE_TRY(adopt_tensors(forward_tensors, &of_forward));
    }
    if (of_forward >= 0 && device >= 0 && of_forward != device)
        return refuse(GYRE_BAD_ARGUMENT, "forward", "is on CUDA device %d, gradients on %d", of_forward, device);
    if (device < 0) device = of_forward;
    gyre_attention_args adopted;
    GYRE_TRY(check_backward(args, need_data, &adopted, &call, false));
    GYRE_TRY(refuse_unsupported());
    if (need_data) {
        GYRE_TRY(check_data(tensors));
        const MembersOf forward_arguments("forward");
        GYRE_TRY(check_data(forward_tensors));
    }
    return check_reach();
}

} // namespace gyre::cuda
