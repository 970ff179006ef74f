// gyre_rotary() and gyre_rotary_qk().
#include "core/arguments.h"
#include "core/run_call.h"
#include "rotary/rotary_plan.h"
#include "rotary/tensors.h"

#include <cstddef>

using namespace gyre;

namespace {

gyre_rotary_args defaults_of(const gyre_rotary_args &) { return gyre_rotary_defaults(); }
gyre_rotary_qk_args defaults_of(const gyre_rotary_qk_args &) { return gyre_rotary_qk_defaults(); }

template <typename Args>
struct RotaryOnCpu {
    using Arguments = Args;
    static constexpr bool on_devices = true;
    Arguments args;
    RotaryPlan plan;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", defaults_of(*args), offsetof(Arguments, cuda_stream), args);
    }
    gyre_status check(bool need_data) { return check_rotary(args, need_data, &plan.call); }
    gyre_status prepare(gyre_context &context) { return plan.prepare(context); }
    size_t workspace_bytes(const gyre_context &context) const { return plan.workspace_bytes(context); }
    void visit_tensors(WorkspaceApart &visit) { each_tensor(args, visit); }
    gyre_status run(gyre_context &context, char *memory) const { return plan.run(context, memory); }
};

using Rotary = RotaryOnCpu<gyre_rotary_args>;
using RotaryQk = RotaryOnCpu<gyre_rotary_qk_args>;

} // namespace

extern "C" gyre_status gyre_rotary(gyre_context *context, const gyre_rotary_args *args) {
    return run_operation<Rotary>(context, args);
}

extern "C" gyre_status gyre_rotary_workspace_size(gyre_context *context, const gyre_rotary_args *args, size_t *bytes) {
    return tell_operation_size<Rotary>(context, args, bytes);
}

extern "C" gyre_status gyre_rotary_qk(gyre_context *context, const gyre_rotary_qk_args *args) {
    return run_operation<RotaryQk>(context, args);
}

extern "C" gyre_status gyre_rotary_qk_workspace_size(gyre_context *context, const gyre_rotary_qk_args *args,
                                                     size_t *bytes) {
    return tell_operation_size<RotaryQk>(context, args, bytes);
}
