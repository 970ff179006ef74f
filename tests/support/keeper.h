/// Owner of the tensors and ropes that the pointers of an argument structure point to.
#pragma once
#include "tensor.h"

#include <gyre/gyre.h>

#include <deque>
#include <utility>
#include <vector>

namespace gyre::test {

class Keeper {
public:
    Keeper() = default;
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;

    const gyre_tensor *hold(Tensor tensor) {
        tensors_.push_back(std::move(tensor));
        views_.push_back(tensors_.back().view());
        return &views_.back();
    }

    /// A packed tensor of the given numbers; shape empty: a vector.
    const gyre_tensor *hold(gyre_dtype dtype, const std::vector<double> &values, std::vector<int64_t> shape = {}) {
        if (shape.empty()) shape = {(int64_t)values.size()};
        Tensor tensor(dtype, shape);
        tensor.set_values(values);
        return hold(std::move(tensor));
    }

    const gyre_tensor *hold(const gyre_tensor &view) {
        views_.push_back(view);
        return &views_.back();
    }

    const gyre_rope *hold(const gyre_rope &rope) {
        ropes_.push_back(rope);
        return &ropes_.back();
    }

private:
    std::deque<Tensor> tensors_;
    std::deque<gyre_tensor> views_;
    std::deque<gyre_rope> ropes_;
};

} // namespace gyre::test
