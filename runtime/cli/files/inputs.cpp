#include "files/inputs.h"

#include "console/errors.h"
#include "files/conversion.h"
#include "files/npy.h"

namespace gyre::cli {
namespace {

const char float_types[] = "float16, float32 or float64";
const char integer_types[] = "int32 or int64";
const char mask_types[] = "bool, true = attend";

std::string subject_of(const std::string &option, const std::string &path) { return option + " " + path; }

[[noreturn]] void refuse_type(const std::string &option, const std::string &path, gyre_dtype dtype,
                              const char *expected) {
    refuse(subject_of(option, path), std::string("elements of type ") + dtype_name(dtype), expected);
}

Array read_integers(const std::string &option, const std::string &path) {
    Array array = read_npy(option, path, integer_types);
    if (array.dtype != GYRE_I32 && array.dtype != GYRE_I64) refuse_type(option, path, array.dtype, integer_types);
    return array;
}

Array read_any_float(const std::string &option, const std::string &path) {
    Array array = read_npy(option, path, float_types);
    if (!is_float(array.dtype)) refuse_type(option, path, array.dtype, float_types);
    return array;
}

} // namespace

Array read_tensor(const std::string &option, const std::string &path, std::optional<gyre_dtype> dtype) {
    Array array = read_any_float(option, path);
    const gyre_dtype natural = array.dtype == GYRE_F64 ? GYRE_F32 : array.dtype;
    return to_float_type(subject_of(option, path), std::move(array), dtype.value_or(natural));
}

Array read_floats(const std::string &option, const std::string &path, gyre_dtype dtype) {
    return to_float_type(subject_of(option, path), read_any_float(option, path), dtype);
}

Array read_positions(const std::string &option, const std::string &path) { return read_integers(option, path); }

Array read_lengths(const std::string &option, const std::string &path) {
    return to_int32(subject_of(option, path), read_integers(option, path));
}

Array read_mask(const std::string &option, const std::string &path) {
    Array array = read_npy(option, path, mask_types);
    if (array.dtype != GYRE_BOOL) refuse_type(option, path, array.dtype, mask_types);
    return array;
}

void expect_rank(const std::string &subject, const Shape &shape, std::size_t rank, const char *names) {
    if (shape.size() != rank) {
        refuse(subject, "shape " + shape_text(shape), std::to_string(rank) + " dimensions " + names);
    }
}

} // namespace gyre::cli
