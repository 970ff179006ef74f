#include "memory.h"
#include "support/element.h"

#include <algorithm>

namespace gyre::fuzz {

using test::Placement;
using test::Tensor;

Input::Input(gyre_dtype dtype, const std::vector<int64_t> &shape, const Placement &placement,
             const std::vector<double> &values)
    : placement_(placement), tensor_(dtype, shape, placement), view_(tensor_.view()) {
    tensor_.set_values(values);
    hide({});
    before_ = tensor_.memory();
}

void Input::hide(const std::vector<bool> &hidden) {
    Tensor counts(GYRE_BOOL, tensor_.shape(), placement_); // of the same places
    std::fill(counts.memory().begin(), counts.memory().end(), 0);
    std::vector<double> visible((size_t)counts.count(), 1);
    for (size_t i = 0; i < hidden.size(); i++) visible[i] = hidden[i] ? 0 : 1;
    counts.set_values(visible);
    counts_ = counts.memory();
}

void Input::spoil(Garbage garbage) {
    fuzz::spoil(&tensor_.memory(), tensor_.dtype(), counts_, garbage);
    before_ = tensor_.memory();
}

Output::Output(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape, const Placement &placement)
    : name_(name), tensor_(dtype, shape, placement), view_(tensor_.view()) {}

} // namespace gyre::fuzz
