/// PyTorch's tensors as the library sees them, through PyTorch's stable ABI alone: one plug-in serves every version from 2.10 on.
#pragma once
#include <gyre/gyre.h>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <deque>
#include <optional>

namespace gyre_torch {

using torch::stable::Tensor;
using OptionalTensor = std::optional<Tensor>;

/// Views a tensor in the CPU's memory. Errors: throws, which PyTorch turns into RuntimeError.
gyre_tensor view(const Tensor &tensor, const char *name);

/// The views that an argument structure points to, for as long as a call takes.
class Views {
public:
    /// nullptr: the tensor is absent.
    const gyre_tensor *operator()(const OptionalTensor &tensor, const char *name) {
        return tensor ? &kept.emplace_back(view(*tensor, name)) : nullptr;
    }

private:
    std::deque<gyre_tensor> kept;
};

/// Throws with the library's text unless the status is GYRE_OK.
void check(gyre_status status);

/// This thread's context, on PyTorch's own threads and as many of them as PyTorch uses now.
gyre_context *context();

} // namespace gyre_torch
