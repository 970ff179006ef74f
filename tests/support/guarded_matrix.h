/// Numbers at the end of memory that may be read.
#pragma once
#include "guarded_memory.h"

#include <gyre/gyre.h>

#include <cstring>
#include <vector>

namespace gyre::test {

/// A packed matrix.
class GuardedMatrix {
public:
    GuardedMatrix(int64_t columns, const std::vector<float> &numbers)
        : memory_(numbers.size() * sizeof(float)), shape_{(int64_t)numbers.size() / columns, columns},
          view_(gyre_tensor_dense(memory_.data(), GYRE_F32, 2, shape_)) {
        std::memcpy(memory_.data(), numbers.data(), numbers.size() * sizeof(float));
    }

    const gyre_tensor *view() const { return &view_; }

private:
    GuardedMemory memory_;
    int64_t shape_[2];
    gyre_tensor view_;
};

} // namespace gyre::test
