#include "files/conversion.h"

#include "console/errors.h"
#include "files/float_formats.h"

#include <limits>
#include <utility>

namespace gyre::cli {
namespace {

double load(const Array &array, std::int64_t i) {
    switch (array.dtype) {
    case GYRE_F64:
        return array.as<double>()[i];
    case GYRE_F16:
        return f16_to_f32(array.as<std::uint16_t>()[i]);
    case GYRE_BF16:
        return bf16_to_f32(array.as<std::uint16_t>()[i]);
    default:
        return array.as<float>()[i];
    }
}

void store(Array &array, std::int64_t i, double value) {
    switch (array.dtype) {
    case GYRE_F64:
        array.as<double>()[i] = value;
        break;
    case GYRE_F16:
        array.as<std::uint16_t>()[i] = f32_to_f16(float(value));
        break;
    case GYRE_BF16:
        array.as<std::uint16_t>()[i] = f32_to_bf16(float(value));
        break;
    default:
        array.as<float>()[i] = float(value);
        break;
    }
}

} // namespace

bool is_float(gyre_dtype dtype) {
    return dtype == GYRE_F16 || dtype == GYRE_BF16 || dtype == GYRE_F32 || dtype == GYRE_F64;
}

Array to_float_type(const std::string &subject, Array array, gyre_dtype dtype) {
    if (array.dtype == dtype) return array;
    Array result = make_array(subject, dtype, array.shape);
    for (std::int64_t i = 0, size = array.size(); i < size; i++) store(result, i, load(array, i));
    return result;
}

Array to_int32(const std::string &subject, Array array) {
    if (array.dtype == GYRE_I32) return array;
    Array result = make_array(subject, GYRE_I32, array.shape);
    for (std::int64_t i = 0, size = array.size(); i < size; i++) {
        const std::int64_t value = array.as<std::int64_t>()[i];
        if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
            refuse(subject, "element " + std::to_string(i) + " is " + std::to_string(value), "numbers that fit int32");
        }
        result.as<std::int32_t>()[i] = std::int32_t(value);
    }
    return result;
}

} // namespace gyre::cli
