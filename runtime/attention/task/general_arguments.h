/// What kernels of the general family are called with beyond the others' arguments.
#pragma once
#include "attention/call/bias.h"
#include "attention/task/extent.h"
#include "core/argument_tables.h"

namespace gyre {

/// Bias, mask, cap and ALiBi of one task.
class GeneralArguments {
public:
    /// `alibi_origin`: of VisibleKeys.
    GeneralArguments(const AttentionTask &task, const TaskExtent &x, int32_t alibi_origin)
        : bias(task.call.bias, x.sequence.batch, x.head, x.first_token, x.tokens, x.first_key, x.keys, x.heads),
          has_mask(task.call.mask.data != nullptr),
          mask(broadcast_view(task.call.mask, true, halide_type(GYRE_BOOL), x.sequence.batch, x.head, x.first_token,
                              x.tokens, x.first_key, x.keys, x.heads)),
          softcap(task.call.softcap), has_alibi(task.call.alibi != nullptr), alibi(task.terms.slopes(x.head, x.heads)),
          alibi_origin(alibi_origin) {}

    void add_to(KernelArguments<AttentionArguments> *to) {
        using A = AttentionArguments;
        KernelArguments<A> &arguments = *to;
        bias.add_to(to);
        arguments[A::has_mask] = &has_mask;
        arguments[A::mask] = &mask;
        arguments[A::softcap] = &softcap;
        arguments[A::has_alibi] = &has_alibi;
        arguments[A::alibi] = &alibi;
        arguments[A::alibi_origin] = &alibi_origin;
    }

private:
    BiasArguments bias;
    const bool has_mask;
    Buffer mask;
    const float softcap;
    const bool has_alibi;
    Buffer alibi;
    const int32_t alibi_origin;
};

} // namespace gyre
