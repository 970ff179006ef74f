// Rows of cosines and sines, from frequencies by a kernel or from the caller's tables.
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "core/tensor.h"
#include "rotary/table_rows.h"

#include <cmath>
#include <cstring>
#include <new>
#include <vector>

namespace gyre {
namespace {

struct AnglesKernel {
    const Kernel *kernel = nullptr;
    size_t workspace = 0; // bytes
};

KernelTable<AnglesKernel> kernels("angles", [](const Kernel &k) {
    return AnglesKernel{&k, static_cast<size_t>(attribute(k, "workspace", 0))};
});

AnglesKernel find_kernel(const gyre_context &context) {
    for (const AnglesKernel &k : kernels.rows(*context.kernels))
        if (may_use(context, *k.kernel)) return k;
    return {};
}

/// Room for the positions of one run, and for the axes of its pairs.
size_t positions_bytes(const Rotation &r, int64_t tokens) {
    return round_up(static_cast<size_t>(tokens * r.axes) * sizeof(int32_t));
}
size_t axes_bytes(const Rotation &r) { return round_up(static_cast<size_t>(r.pairs) * sizeof(int32_t)); }

} // namespace

gyre_status find_frequencies(const Rotation &r, gyre_context::Frequencies &cache, const double **inv_freq) {
    *inv_freq = r.inv_freq;
    if (r.inv_freq) return GYRE_OK;
    if (cache.theta != r.theta || cache.denominator != r.denominator || cache.pairs < r.pairs) {
        try {
            cache.inv_freq.resize(static_cast<size_t>(r.pairs));
        } catch (const std::bad_alloc &) {
            return fail(Failure::out_of_memory, "rope: no memory for %d frequencies", r.pairs);
        }
        for (int i = 0; i < r.pairs; i++)
            cache.inv_freq[static_cast<size_t>(i)] = std::pow(r.theta, -2.0 * i / r.denominator);
        cache.theta = r.theta;
        cache.denominator = r.denominator;
        cache.pairs = r.pairs;
    }
    *inv_freq = cache.inv_freq.data();
    return GYRE_OK;
}

gyre_status Angles::prepare(const gyre_context &context, const Rotation &r, gyre_context::Frequencies &cache) {
    rotation = &r;
    if (r.cos) return GYRE_OK;
    const AnglesKernel found = find_kernel(context);
    kernel = found.kernel;
    kernel_bytes = found.workspace;
    if (!kernel) return refuse(GYRE_UNSUPPORTED, "rope", "no linked kernel computes angles on %s", context.best->name);
    return find_frequencies(r, cache, &inv_freq);
}

size_t Angles::scratch_bytes(int64_t tokens) const {
    return kernel ? positions_bytes(*rotation, tokens) + axes_bytes(*rotation) + kernel_bytes : 0;
}

void Angles::copy_rows(const Positions &positions, int64_t batch, int64_t first, int64_t tokens, float *rows) const {
    const int pairs = rotation->pairs;
    const auto copy = [&](const gyre_tensor &table, float *to) {
        for (int64_t t = first; t < first + tokens; t++) {
            const int64_t row = rotation->per_token ? t : positions.at(0, batch, t);
            copy_table_row(table, batch, row, pairs, to + 2 * (t - first) * pairs);
        }
    };
    copy(*rotation->cos, rows);
    copy(*rotation->sin, rows + pairs);
}

bool Angles::fill(const Positions &positions, int64_t batch, int64_t first, int64_t tokens, float *rows,
                  char *scratch) const {
    if (tokens == 0 || rotation->pairs == 0) return true;
    if (rotation->cos) {
        copy_rows(positions, batch, first, tokens, rows);
        return true;
    }
    const int pairs = rotation->pairs;
    const int axes = rotation->axes;
    auto *position = reinterpret_cast<int32_t *>(scratch);
    for (int axis = 0; axis < axes; axis++)
        for (int64_t t = 0; t < tokens; t++)
            position[axis * tokens + t] = static_cast<int32_t>(positions.at(axis, batch, first + t));
    auto *axis_of_pair = reinterpret_cast<int32_t *>(scratch + positions_bytes(*rotation, tokens));
    if (axes == 1)
        std::memset(axis_of_pair, 0, static_cast<size_t>(pairs) * sizeof(int32_t));
    else
        for (int i = 0; i < pairs; i++) axis_of_pair[i] = rotation->axis_of_pair(i);

    Buffer p(position, halide_type(GYRE_I32), {{tokens, 1}, {axes, tokens}});
    Buffer f(inv_freq, halide_type(GYRE_F64), {{pairs, 1}});
    Buffer a(axis_of_pair, halide_type(GYRE_I32), {{pairs, 1}});
    Buffer table(rows, halide_type(GYRE_F32), {{pairs, 1}, {2, pairs}, {tokens, 2 * pairs}});
    using A = AnglesArguments;
    KernelArguments<A> arguments;
    arguments[A::positions] = &p;
    arguments[A::frequencies] = &f;
    arguments[A::axis_of_pair] = &a;
    arguments[A::scale] = &rotation->scale;
    arguments[A::table] = &table;
    Slab slab(scratch + positions_bytes(*rotation, tokens) + axes_bytes(*rotation), kernel_bytes);
    return arguments.call(*kernel, slab);
}

} // namespace gyre
