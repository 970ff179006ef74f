/// An array as it stands in a file and as the library sees it: dense, in C order.
#pragma once
#include "files/lines.h"

#include <gyre/gyre.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace gyre::cli {

using Shape = std::vector<std::int64_t>; // outermost first

struct Array {
    gyre_dtype dtype = GYRE_F32;
    Shape shape;
    Lines bytes; // never without storage, so that an empty array still has an address

    std::int64_t size() const; // elements
    template <typename T>
    const T *as() const {
        return reinterpret_cast<const T *>(bytes.data());
    }
    template <typename T>
    T *as() {
        return reinterpret_cast<T *>(bytes.data());
    }
};

/// "f32"
const char *dtype_name(gyre_dtype dtype);
std::size_t dtype_size(gyre_dtype dtype); // bytes an element

/// "[1, 8, 128, 64]"
std::string shape_text(const Shape &shape);

/// Zeros. subject: the option to blame, with UsageError, if the array would not fit into this machine's memory.
Array make_array(const std::string &subject, gyre_dtype dtype, Shape shape);

/// Gives arrays and their views an address for as long as a call needs them.
class TensorStore {
public:
    /// subject: the option to blame, with UsageError, for more dimensions than a gyre_tensor has.
    const gyre_tensor *keep(const std::string &subject, Array array);

private:
    std::deque<Array> arrays_; // a deque: the address of an element never changes
    std::deque<gyre_tensor> tensors_;
};

/// A view of the whole array; a single number is seen as one dimension of one. At most GYRE_MAX_RANK dimensions.
gyre_tensor view(const Array &array);

} // namespace gyre::cli
