#include "trial.h"
#include "support/difference.h"
#include "support/element.h"

#include <cmath>
#include <cstdio>

namespace gyre::fuzz {
namespace {

/// Instead of a NaN's bits: its sign and payload are not promised. No type has these 64 bits for a number.
constexpr uint64_t any_nan = ~uint64_t{0};

} // namespace

void Trial::prepare(Garbage garbage) {
    for (Input &input : store.inputs) input.spoil(garbage);
    for (Output &output : store.outputs) output.tensor().poison();
}

std::string Trial::find_stray_writes() const {
    for (const Input &input : store.inputs)
        if (!input.untouched()) return "an input was written, or memory around it";
    for (const Output &output : store.outputs)
        if (!output.tensor().surroundings_intact())
            return std::string("memory around or between elements of ") + output.name() + " was written";
    return "";
}

std::vector<std::vector<uint64_t>> Trial::bits() const {
    std::vector<std::vector<uint64_t>> all;
    for (const Output &output : store.outputs) {
        all.push_back(output.tensor().bits());
        const std::vector<double> values = output.tensor().values();
        for (size_t i = 0; i < values.size(); i++)
            if (std::isnan(values[i])) all.back()[i] = any_nan;
    }
    return all;
}

std::string find_difference(const char *name, const std::vector<double> &got, const std::vector<double> &expected,
                            const std::vector<double> &allowed, gyre_dtype stored) {
    if (got.size() != expected.size() || got.size() != allowed.size()) return std::string(name) + ": other counts";
    size_t count = 0, worst = 0;
    double largest = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const double error = test::difference(got[i], expected[i]);
        if (error == 0 || error <= allowed[i]) continue; // neither holds for NaN
        if (std::isinf(got[i]) && test::rounded(stored, expected[i] + std::copysign(allowed[i], got[i])) == got[i])
            continue;
        const double excess = error / allowed[i];
        if (count++ == 0 || excess > largest) {
            largest = excess;
            worst = i;
        }
    }
    if (count == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text, "%s: %zu of %zu elements; element %zu is %.9g, expected %.9g within %.3g", name,
                  count, got.size(), worst, got[worst], expected[worst], allowed[worst]);
    return text;
}

} // namespace gyre::fuzz
