#include "own_kernel.h"

#include "events.h"
#include "own_argument.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace gyre::tune {
namespace {

class OwnWorkload : public Workload {
public:
    gyre_status prepare(gyre_context *context) override {
        if (!arguments.empty()) return GYRE_OK;
        const halide_filter_metadata_t &metadata = *kernel_of(context).metadata();
        for (int i = 0; i < metadata.num_arguments; i++)
            arguments.push_back(std::make_unique<OwnArgument>(metadata.arguments[i]));
        return GYRE_OK;
    }

    gyre_status run(gyre_context *context, std::size_t) override {
        std::vector<void *> addresses;
        for (const auto &argument : arguments) addresses.push_back(argument->address());
        return gyre_run_kernel(&kernel_of(context), addresses.data(), 0, nullptr);
    }

    double flops() const override { return 0; }
    double bytes() const override {
        double sum = 0;
        for (const auto &argument : arguments) sum += double(argument->bytes());
        return sum;
    }

    /// The outputs, each with its numbers.
    struct Output {
        const OwnArgument *argument;
        std::vector<double> numbers;
    };
    std::vector<Output> outputs() const {
        std::vector<Output> all;
        for (const auto &argument : arguments)
            if (argument->is_output()) all.push_back({argument.get(), argument->numbers()});
        return all;
    }

private:
    std::vector<std::unique_ptr<OwnArgument>> arguments;
};

std::vector<OwnWorkload::Output> outputs_of(OwnWorkload &workload, const Library &library) {
    if (workload.prepare(library.context()) != GYRE_OK || workload.run(library.context(), 0) != GYRE_OK)
        throw Failure(library.role() + ": " + gyre_last_error());
    return workload.outputs();
}

double root_mean_square(const std::vector<double> &numbers) {
    double squares = 0;
    for (const double number : numbers) squares += std::isfinite(number) ? number * number : 0;
    return std::sqrt(squares / double(std::max<std::size_t>(numbers.size(), 1)));
}

} // namespace

bool is_own(const gyre_kernel_info &kernel) { return attribute(kernel, "own") == "true"; }

std::unique_ptr<Workload> make_own_workload(const gyre_kernel_info & /*kernel*/, const Shape & /*shape*/) {
    return std::make_unique<OwnWorkload>();
}

void compare_with_reference(const Library &reference, const Library &library) {
    constexpr double reordered = 256 * 0x1p-24; // sums in f32 in another order
    OwnWorkload workload;
    const auto expected = outputs_of(workload, reference), got = outputs_of(workload, library);
    for (std::size_t output = 0; output < expected.size(); output++) {
        const std::vector<double> &numbers = expected[output].numbers, &found = got[output].numbers;
        const double usual = root_mean_square(numbers);
        for (std::size_t i = 0; i < numbers.size(); i++) {
            const bool same = found[i] == numbers[i] || (std::isnan(found[i]) && std::isnan(numbers[i]));
            const double allowed =
                2 * expected[output].argument->rounding_of(numbers[i]) + reordered * (usual + std::abs(numbers[i]));
            if (!same && !(std::abs(found[i] - numbers[i]) <= allowed))
                throw WrongResult("number " + std::to_string(i) + " of output " + std::to_string(output) + " is " +
                                  std::to_string(found[i]) + ", with the stored knobs " + std::to_string(numbers[i]));
        }
    }
}

} // namespace gyre::tune
