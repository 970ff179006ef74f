#include "cuda/key_angles.h"

#include "core/argument_tables.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

KernelTable<const Kernel *> kernels("angles", [](const Kernel &k) { return &k; });

const Kernel *find_kernel(const gyre_context &context) {
    for (const Kernel *k : kernels.rows(*context.kernels))
        if (may_use(context, *k, GYRE_CUDA)) return k;
    return nullptr;
}

} // namespace

gyre_status KeyAngles::prepare(const gyre_context &context, const AttentionCall &call, const Rotation &rotation,
                               bool on, const char *name) {
    kernel = nullptr;
    sections = rows = 0;
    row_floats = 2 * static_cast<int64_t>(std::max(rotation.pairs, 1));
    if (!on) return GYRE_OK;
    kernel = find_kernel(context);
    if (!kernel) return refuse(GYRE_UNSUPPORTED, name, "no linked kernel forms angles on a CUDA device");
    sections =
        call.k_positions.given && call.k_positions.batch_stride ? call.k.batch : std::min<int64_t>(call.k.batch, 1);
    rows = call.k.seqlen;
    if (!fits_kernel_index({{row_floats, 1}, {rows, row_floats}}))
        return refuse(GYRE_UNSUPPORTED, name, "angles of %lld keys reach over 2^31 elements",
                      static_cast<long long>(rows));
    return GYRE_OK;
}

gyre_status KeyAngles::fill(gyre_context &context, const Scope &scope, DeviceAngles &angles, const Positions &positions,
                            int axes) const {
    if (!kernel) return GYRE_OK;
    const int64_t at_once = in_reach() ? sections : 1;
    for (int64_t first = 0; first < sections; first += at_once) {
        DevicePositions of_keys;
        GYRE_TRY(of_keys.place(positions, "k_positions", first, 0, at_once, rows, axes));
        Buffer out;
        view(first, at_once, &out);
        using A = AnglesCudaArguments;
        KernelArguments<A> arguments;
        arguments[A::frequencies] = &angles.frequencies_view;
        arguments[A::axis_of_pair] = &angles.axes_view;
        arguments[A::cos] = &angles.cos_view;
        arguments[A::sin] = &angles.sin_view;
        arguments[A::has_tables] = &angles.has_tables;
        arguments[A::scale] = &angles.scale;
        arguments[A::positions] = &of_keys.view;
        arguments[A::has_positions] = &of_keys.given;
        arguments[A::table] = &out;
        GYRE_TRY(launch(context, scope, *kernel, arguments));
    }
    return GYRE_OK;
}

void KeyAngles::view(int64_t first, int64_t batches, Buffer *out) const {
    const int64_t section = sections > 1 ? rows * row_floats : 0;
    out->describe(kernel ? table + first * section : nullptr, halide_type(GYRE_F32),
                  {{row_floats / 2, 1}, {2, row_floats / 2}, {rows, row_floats}, {batches, section}});
}

} // namespace gyre::cuda
