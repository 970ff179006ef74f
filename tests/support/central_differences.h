/// Gradients by central differences, to check others against.
#pragma once
#include "tensor.h"

#include <vector>

namespace gyre::test {

/// The derivative of loss() by each element of `of`, which loss() reads: (loss(x + step) - loss(x - step)) / (2 step).
template <typename Loss>
std::vector<double> central_differences(Tensor &of, double step, const Loss &loss) {
    const std::vector<double> values = of.values();
    std::vector<double> gradient;
    for (size_t n = 0; n < values.size(); n++) {
        double side[2];
        for (const int sign : {0, 1}) {
            std::vector<double> moved = values;
            moved[n] += sign ? step : -step;
            of.set_values(moved);
            side[sign] = loss();
        }
        gradient.push_back((side[1] - side[0]) / (2 * step));
    }
    of.set_values(values);
    return gradient;
}

} // namespace gyre::test
