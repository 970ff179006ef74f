/// A call to be timed, on several sets of tensors that are used in turn, so that no call finds its inputs in a core's
/// own cache where the one before left them. All libraries use the same tensors and the same scratch memory: where
/// these happen to lie in physical memory changes times by a percent or two, which must not look like a difference
/// between libraries.
#pragma once

#include "shape.h"

#include <gyre/gyre.h>

#include <cstddef>
#include <memory>

namespace gyre::tune {

class Workload {
public:
    virtual ~Workload() = default;

    /// Sees to it that there is scratch memory for calls with this context. Call it for every context first.
    virtual gyre_status prepare(gyre_context *context) = 0;

    /// Calls with one of the sets of tensors; any index is fine.
    virtual gyre_status run(gyre_context *context, std::size_t index) = 0;

    /// Operations on f32 of a call, a multiply-add counts as two; bytes that it reads and writes at least.
    virtual double flops() const = 0;
    virtual double bytes() const = 0;
};

std::unique_ptr<Workload> make_attention_workload(const gyre_kernel_info &kernel, const Shape &shape);
std::unique_ptr<Workload> make_rotary_workload(const gyre_kernel_info &kernel, const Shape &shape);

} // namespace gyre::tune
