/// PyTorch's tensors as the library sees them, through PyTorch's stable ABI alone: one plug-in serves every version from 2.10 on.
#pragma once
#include <gyre/gyre.h>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace gyre_torch {

/// Owns the handle of a tensor.
class Tensor {
public:
    explicit Tensor(AtenTensorHandle handle) : handle(handle) {}
    Tensor(Tensor &&other) noexcept : handle(other.release()) {}
    ~Tensor() {
        if (handle) aoti_torch_delete_tensor_object(handle);
    }

    AtenTensorHandle get() const { return handle; }
    AtenTensorHandle release() { return std::exchange(handle, nullptr); }
    std::span<const int64_t> sizes() const;
    int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
    int64_t size(int64_t i) const { return sizes()[static_cast<std::size_t>(i)]; }

private:
    AtenTensorHandle handle;
};

using OptionalTensor = std::optional<Tensor>;

/// Throws unless `right`; the words are all that RuntimeError says. STD_TORCH_CHECK would begin with a file and a line of these sources.
template <typename... Words>
void expect(bool right, const Words &...words) {
    if (right) return;
    std::ostringstream text;
    (text << ... << words);
    throw std::runtime_error(text.str());
}

/// A number as the library takes it, whose 0 means something else. Errors: throws, where a number other than 0 rounds to 0.
inline float single(double number, const char *name) {
    const float result = static_cast<float>(number);
    expect(result != 0 || number == 0, name, ": got ", number, ", which is 0 in float32, expected another number");
    return result;
}

/// Views a tensor in the CPU's memory. Errors: throws, which PyTorch turns into RuntimeError.
gyre_tensor view(const Tensor &tensor, const char *name);

/// The views that an argument structure points to, for as long as a call takes.
class Views {
public:
    /// nullptr: the tensor is absent.
    const gyre_tensor *operator()(const OptionalTensor &tensor, const char *name) {
        return tensor ? operator()(*tensor, name) : nullptr;
    }

    const gyre_tensor *operator()(const Tensor &tensor, const char *name) {
        expect(count < kept.size(), name, ": is one tensor more than a call has");
        return &(kept[count++] = view(tensor, name));
    }

private:
    std::array<gyre_tensor, 16> kept; // not filled: calls are short
    std::size_t count = 0;
};

/// A new tensor in the CPU's memory, not filled. `order`: its dimensions as they lie in memory, outermost first. One call of PyTorch's C
/// interface: by its dispatcher it takes several times as long.
Tensor empty(const int64_t *shape, std::initializer_list<int> order, gyre_dtype dtype);

/// Makes such a tensor whose dimensions lie in memory in their own order.
Tensor empty(std::span<const int64_t> shape, gyre_dtype dtype);

/// A new tensor as PyTorch's empty_like() makes it.
Tensor empty_like(const Tensor &like);

/// Throws with the library's text unless the status is GYRE_OK.
void check(gyre_status status);

/// This thread's context, on PyTorch's own threads and as many of them as PyTorch uses now.
gyre_context *context();

} // namespace gyre_torch
