#include "own_argument.h"

#include "events.h"

#include "support/element.h"

#include <cstring>
#include <random>
#include <string>

namespace gyre::tune {
namespace {

constexpr std::size_t alignment = 64;

gyre_dtype dtype_of(const halide_filter_argument_t &argument) {
    const halide_type_t type = argument.type;
    const auto is = [&](halide_type_code_t code, int bits) { return type.code == code && type.bits == bits; };
    if (is(halide_type_float, 32)) return GYRE_F32;
    if (is(halide_type_float, 16)) return GYRE_F16;
    if (is(halide_type_bfloat, 16)) return GYRE_BF16;
    if (is(halide_type_float, 64)) return GYRE_F64;
    if (is(halide_type_int, 32)) return GYRE_I32;
    if (is(halide_type_int, 64)) return GYRE_I64;
    if (is(halide_type_uint, 1) || is(halide_type_uint, 8)) return GYRE_BOOL;
    throw Failure(std::string(argument.name) + ": the tuner has no tensors of this type, of " +
                  std::to_string(type.bits) + " bits");
}

} // namespace

OwnArgument::OwnArgument(const halide_filter_argument_t &argument) : said_(&argument) {
    if (argument.kind != halide_argument_kind_input_scalar) {
        take_estimates();
        return;
    }
    memory_.resize(sizeof(halide_scalar_value_t));
    if (std::string(argument.name) == "__user_context") return;
    if (!argument.scalar_estimate)
        throw Failure(std::string(argument.name) + " has no estimate: set_estimate() in the generator gives one");
    std::memcpy(memory_.data(), argument.scalar_estimate, memory_.size());
}

void OwnArgument::take_estimates() {
    dtype_ = dtype_of(*said_);
    for (int d = 0; d < said_->dimensions; d++) {
        const auto *estimates = said_->buffer_estimates;
        if (!estimates || !estimates[2 * d] || !estimates[2 * d + 1])
            throw Failure(std::string(said_->name) + " has no estimates: set_estimates() in the generator gives them");
        const auto extent = static_cast<std::int32_t>(*estimates[2 * d + 1]);
        dimensions_.emplace_back(static_cast<std::int32_t>(*estimates[2 * d]), extent,
                                 static_cast<std::int32_t>(elements_));
        elements_ *= static_cast<std::size_t>(extent);
    }
    const auto size = static_cast<std::size_t>(test::element_size(dtype_));
    memory_.resize(elements_ * size + alignment);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.data()) % alignment;
    buffer_.host = memory_.data() + (alignment - past) % alignment;
    buffer_.type = said_->type;
    buffer_.dimensions = said_->dimensions;
    buffer_.dim = dimensions_.data();
    if (is_output()) return;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> numbers(-1, 1);
    const bool whole = dtype_ == GYRE_I32 || dtype_ == GYRE_I64 || dtype_ == GYRE_BOOL;
    for (std::size_t i = 0; i < elements_; i++) {
        const double number = whole ? double(random() % (said_->type.bits == 1 ? 2 : 16)) : numbers(random);
        test::encode_elements(dtype_, buffer_.host + i * size, 1, 1, &number);
    }
}

void *OwnArgument::address() {
    return said_->kind == halide_argument_kind_input_scalar ? static_cast<void *>(memory_.data()) : &buffer_;
}

std::vector<double> OwnArgument::numbers() const {
    std::vector<double> all(elements_);
    test::decode_elements(dtype_, buffer_.host, 1, static_cast<int64_t>(elements_), all.data());
    return all;
}

double OwnArgument::rounding_of(double number) const { return test::rounding_of(dtype_, number); }

} // namespace gyre::tune
