#include "files/array.h"

#include "console/errors.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iomanip>
#include <numeric>
#include <sstream>

namespace gyre::cli {
namespace {

double physical_memory() { return double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE)); }

std::string gigabytes(double bytes) {
    std::ostringstream text;
    text << std::setprecision(3) << bytes / 1e9 << " GB";
    return text.str();
}

} // namespace

std::int64_t Array::size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}

const char *dtype_name(gyre_dtype dtype) {
    switch (dtype) {
    case GYRE_F32:
        return "f32";
    case GYRE_F16:
        return "f16";
    case GYRE_BF16:
        return "bf16";
    case GYRE_F64:
        return "f64";
    case GYRE_I32:
        return "int32";
    case GYRE_I64:
        return "int64";
    case GYRE_BOOL:
        return "bool";
    }
    return "";
}

std::size_t dtype_size(gyre_dtype dtype) {
    switch (dtype) {
    case GYRE_BOOL:
        return 1;
    case GYRE_F16:
    case GYRE_BF16:
        return 2;
    case GYRE_F32:
    case GYRE_I32:
        return 4;
    case GYRE_F64:
    case GYRE_I64:
        return 8;
    }
    return 0;
}

std::string shape_text(const Shape &shape) {
    std::string text = "[";
    for (std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + "]";
}

Array make_array(const std::string &subject, gyre_dtype dtype, Shape shape) {
    // In floating point, where the product of any extents cannot overflow.
    const double bytes = std::accumulate(shape.begin(), shape.end(), double(dtype_size(dtype)), std::multiplies<>());
    if (bytes > physical_memory()) {
        refuse(subject, "an array of shape " + shape_text(shape) + " needs " + gigabytes(bytes),
               "at most this machine's memory, " + gigabytes(physical_memory()));
    }
    Array array;
    array.dtype = dtype;
    array.shape = std::move(shape);
    array.bytes.reserve(std::max(std::size_t(bytes), std::size_t(1)));
    array.bytes.resize(std::size_t(bytes));
    return array;
}

gyre_tensor view(const Array &array) {
    const Shape shape = array.shape.empty() ? Shape{1} : array.shape;
    return gyre_tensor_dense(array.bytes.data(), array.dtype, std::int32_t(shape.size()), shape.data());
}

const gyre_tensor *TensorStore::keep(const std::string &subject, Array array) {
    if (array.shape.size() > GYRE_MAX_RANK) {
        refuse(subject, "shape " + shape_text(array.shape), "at most " + std::to_string(GYRE_MAX_RANK) + " dimensions");
    }
    arrays_.push_back(std::move(array));
    tensors_.push_back(view(arrays_.back()));
    return &tensors_.back();
}

} // namespace gyre::cli
