/// A call's tensors on a CUDA device: copied there before it, and back after it.
///
///     OnDevice device;
///     device.add(x), device.add(out);                  // whole memory, guard bands included
///     args.x = device.view(args.x);                    // a view of the copy
///     … call …
///     device.fetch();                                  // what was added, as the call left it
#pragma once
#include "tensor.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gyre::test {

/// True if calls with this context compute on a CUDA device.
bool is_on_device(const gyre_context *context);

class OnDevice {
public:
    explicit OnDevice(int ordinal = 0);
    ~OnDevice();
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

    void add(Tensor &tensor);

    /// The view of the device's copy; what was not added gets a copy of its own.
    gyre_tensor view(const gyre_tensor &host);
    /// For arguments that are pointers; NULL stays NULL.
    const gyre_tensor *view(const gyre_tensor *host);
    /// The rotation with such views; NULL stays NULL.
    const gyre_rope *view(const gyre_rope *host);

    void fetch();

private:
    const int ordinal_;
    struct Copy {
        unsigned char *host;
        size_t bytes;
        uint64_t device;
    };
    std::vector<Copy> copies_;
    std::deque<gyre_tensor> views_;
    std::deque<gyre_rope> ropes_;

    const Copy &copy(unsigned char *host, size_t bytes);
};

} // namespace gyre::test
