/// Tensors of a call on a CUDA device: all of them are there, and checked like others from then on.
#pragma once
#include "core/registry.h"
#include "core/tensor.h"
#include "cuda/driver.h"

namespace gyre::cuda {

/// A tensor of a call by its name in the arguments; NULL: not given.
struct Named {
    gyre_tensor *tensor;
    const char *name;
};

using NamedList = RowList<Named>;

/// All tensors of a call. Those that its arguments point to are copied, with the rotations that point to more, and the arguments
/// then point to the copies: what adopt_tensors() changes is not the caller's.
class CallTensors {
public:
    CallTensors() = default;
    CallTensors(const CallTensors &) = delete; // arguments point into it
    CallTensors &operator=(const CallTensors &) = delete;

    void add(gyre_tensor &t, const char *name) { all_[count++] = {&t, name}; }
    void add(const gyre_tensor *&t, const char *name);
    /// A rotation of an unknown size is left as it is: it is refused later.
    void add(const gyre_rope *&rope, const char *cos, const char *sin);

    NamedList all() const { return {all_, count}; }

private:
    // Room for those of gyre_attention(), which has the most.
    Named all_[19];
    gyre_tensor copies[15];
    gyre_rope ropes[2];
    size_t count = 0, copied = 0, ropes_copied = 0;
};

/// True if any is on a CUDA device.
bool any_on_device(const NamedList &tensors);

/// Checks that all of them are on one CUDA device, and the memory that each spans is that device's, as its driver says; then
/// calls them CPU tensors, so that the checks that all calls share take them. What a pointer points to is never read here.
/// `device`: theirs; -1 if all are empty. Errors: UNSUPPORTED (a tensor on the CPU, no driver), BAD_ARGUMENT.
gyre_status adopt_tensors(const NamedList &tensors, Device *device);

/// What is only read on the device must be there. Errors: BAD_ARGUMENT.
gyre_status check_data(const NamedList &tensors);

/// True if every element of `batches` batch entries counts in 31 bits, as kernels count.
bool in_reach(const Heads &x, int64_t batches);

/// Of a tensor that is not empty: its memory is one device's, and `device`'s unless that is -1, which it then becomes. Errors:
/// BAD_ARGUMENT.
gyre_status check_memory(const Driver &driver, const Named &tensor, Device *device);

} // namespace gyre::cuda
