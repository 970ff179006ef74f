// gyre_rotary() and gyre_rotary_qk(): the arguments, and what all calls do with them.
#include "core/arguments.h"
#include "core/run_call.h"
#include "rotary/rotary_call.h"

using namespace gyre;

namespace {

gyre_status check(const gyre_rotary_args *given, bool need_data, gyre_rotary_args *a, RotaryCall *call) {
    GYRE_TRY(adopt(given, "args", gyre_rotary_defaults(), sizeof *a, a));
    GYRE_TRY(call->place({{&a->x, "x"}, {&a->out, "out"}}, &a->rope, &a->positions));
    GYRE_TRY(call->add(a->x, "x", a->out, "out", a->layout, need_data));
    return call->check({a->rope, a->reverse, a->positions, a->position_offset}, need_data);
}

gyre_status check(const gyre_rotary_qk_args *given, bool need_data, gyre_rotary_qk_args *a, RotaryCall *call) {
    GYRE_TRY(adopt(given, "args", gyre_rotary_qk_defaults(), sizeof *a, a));
    GYRE_TRY(
        call->place({{&a->q, "q"}, {&a->q_out, "q_out"}, {&a->k, "k"}, {&a->k_out, "k_out"}}, &a->rope, &a->positions));
    GYRE_TRY(call->add(a->q, "q", a->q_out, "q_out", a->layout, need_data));
    GYRE_TRY(call->add(a->k, "k", a->k_out, "k_out", a->layout, need_data));
    return call->check({a->rope, a->reverse, a->positions, a->position_offset}, need_data);
}

template <typename Arguments>
gyre_status run(gyre_context *context, const Arguments *given) {
    Arguments args;
    RotaryCall call;
    GYRE_TRY(check(given, true, &args, &call));
    return run_call(context, args, call);
}

template <typename Arguments>
gyre_status tell_size(gyre_context *context, const Arguments *given, size_t *bytes) {
    GYRE_TRY(check_size_output(bytes));
    Arguments args;
    RotaryCall call;
    GYRE_TRY(check(given, false, &args, &call));
    return tell_workspace_size(context, call, bytes);
}

} // namespace

extern "C" gyre_status gyre_rotary(gyre_context *context, const gyre_rotary_args *args) {
    return enter([&] { return run(context, args); });
}

extern "C" gyre_status gyre_rotary_workspace_size(gyre_context *context, const gyre_rotary_args *args, size_t *bytes) {
    return enter([&] { return tell_size(context, args, bytes); });
}

extern "C" gyre_status gyre_rotary_qk(gyre_context *context, const gyre_rotary_qk_args *args) {
    return enter([&] { return run(context, args); });
}

extern "C" gyre_status gyre_rotary_qk_workspace_size(gyre_context *context, const gyre_rotary_qk_args *args,
                                                     size_t *bytes) {
    return enter([&] { return tell_size(context, args, bytes); });
}
