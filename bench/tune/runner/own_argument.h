/// An argument of a project's own kernel, made of what the kernel's metadata says: a dense tensor of the estimated extents, or the
/// estimated number.
#pragma once

#include <gyre/gyre.h>

#include <HalideRuntime.h>

#include <vector>

namespace gyre::tune {

class OwnArgument {
public:
    /// Inputs are filled with numbers from -1 to 1, or whole ones from 0 to 15. Throws Failure where an estimate is missing, or for
    /// a type that the tuner does not know.
    explicit OwnArgument(const halide_filter_argument_t &argument);
    OwnArgument(const OwnArgument &) = delete;

    void *address();
    std::size_t bytes() const { return memory_.size(); }
    bool is_output() const { return said_->kind == halide_argument_kind_output_buffer; }
    std::vector<double> numbers() const;
    /// What rounding to the type may change a number by.
    double rounding_of(double number) const;

private:
    const halide_filter_argument_t *said_;
    gyre_dtype dtype_ = GYRE_F32;
    halide_buffer_t buffer_{};
    std::vector<halide_dimension_t> dimensions_;
    std::vector<unsigned char> memory_;
    std::size_t elements_ = 1;

    void take_estimates();
};

} // namespace gyre::tune
