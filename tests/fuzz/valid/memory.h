/// Tensors of a valid call: those that it reads, with garbage in all that does not count, and those that it writes.
#pragma once
#include "garbage.h"
#include "support/tensor.h"

#include <deque>
#include <vector>

namespace gyre::fuzz {

/// A tensor that is read.
class Input {
public:
    /// `values`: in C order of the shape.
    Input(gyre_dtype dtype, const std::vector<int64_t> &shape, const test::Placement &placement,
          const std::vector<double> &values);

    /// Elements, in C order of the shape, that do not count. No two elements may share memory then.
    void hide(const std::vector<bool> &hidden);
    void spoil(Garbage garbage);
    /// True if nobody wrote since spoil().
    bool untouched() const { return tensor_.memory() == before_; }

    const gyre_tensor &view() const { return view_; }
    const test::Tensor &tensor() const { return tensor_; }

private:
    test::Placement placement_;
    test::Tensor tensor_;
    gyre_tensor view_;
    std::vector<unsigned char> counts_, before_;
};

/// A tensor that is written.
class Output {
public:
    Output(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape,
           const test::Placement &placement = {});

    const char *name() const { return name_; }
    const gyre_tensor &view() const { return view_; }
    test::Tensor &tensor() { return tensor_; }
    const test::Tensor &tensor() const { return tensor_; }

private:
    const char *name_;
    test::Tensor tensor_;
    gyre_tensor view_;
};

/// What the pointers of a call's arguments point to.
class Store {
public:
    std::deque<Input> inputs;
    std::deque<Output> outputs;
    std::deque<gyre_tensor> views;
    std::deque<gyre_rope> ropes;
    std::deque<std::vector<double>> frequencies;

    Input &read(gyre_dtype dtype, const std::vector<int64_t> &shape, const test::Placement &placement,
                const std::vector<double> &values) {
        return inputs.emplace_back(dtype, shape, placement, values);
    }
    Output &write(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape,
                  const test::Placement &placement = {}) {
        return outputs.emplace_back(name, dtype, shape, placement);
    }
    /// A packed list of int32; shape empty: a vector.
    const gyre_tensor *list(const std::vector<double> &values, std::vector<int64_t> shape = {}) {
        if (shape.empty()) shape = {(int64_t)values.size()};
        return &read(GYRE_I32, shape, {}, values).view();
    }
};

} // namespace gyre::fuzz
