#include "cuda/rotary/rotary.h"

#include "core/error.h"

#include <algorithm>

namespace gyre::cuda {
gyre_status RotaryLaunches::check_positions_data(const gyre_tensor *positions) const {
    if (call.tensors[0].from.empty() || !positions || positions->data) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, "positions", "data is NULL, expected %s",
                  shape_text(positions->shape, std::clamp(positions->rank, 0, GYRE_MAX_RANK)));
}

gyre_status RotaryLaunches::prepare(const gyre_context &context) {
    const RotatedTensor &first = call.tensors[0];
    GYRE_TRY(check_target_device(context, GYRE_CUDA, first.from_name));
    kernel = find_rotary_kernel(context, first.from.dtype, first.from.dtype, call.rotation.pairing, GYRE_CUDA);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, first.from_name, "no linked kernel rotates %s on a CUDA device",
                      dtype_name(first.from.dtype));
    return GYRE_OK;
}

gyre_status RotaryLaunches::run(gyre_context &context, Device device, void *stream) const {
    context.select(*kernel->kernel);
    if (device < 0) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream));
    TokenAngles angles;
    GYRE_TRY(angles.prepare(call.rotation, "rope", context.frequencies[0]));
    const RotaryLaunch launch{kernel, call.rotation, call.positions, {}, "rope", call.direction};
    for (int i = 0; i < call.count; i++)
        if (!call.tensors[i].from.empty()) GYRE_TRY(rotate(context, scope, launch, call.tensors[i], &angles));
    return GYRE_OK;
}

} // namespace gyre::cuda
