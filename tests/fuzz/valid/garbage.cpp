#include "garbage.h"
#include "support/element.h"

#include <cstring>
#include <limits>

namespace gyre::fuzz {
namespace {

constexpr uint64_t odd_factor = 6364136223846793005u, odd_term = 1442695040888963407u; // Knuth's generator

constexpr double infinity = std::numeric_limits<double>::infinity();

double as_number(Garbage garbage, gyre_dtype dtype) {
    const bool real = dtype == GYRE_F32 || dtype == GYRE_F16 || dtype == GYRE_BF16;
    switch (garbage) {
    case Garbage::nan:
        return real ? std::numeric_limits<double>::quiet_NaN() : -1.0;
    case Garbage::infinity:
        return real ? infinity : 2147483647.0;
    case Garbage::minus_infinity:
        return real ? -infinity : -2147483648.0;
    case Garbage::large:
        return real ? 1e38 : 7e8;
    case Garbage::minus_large:
        return real ? -1e38 : -7e8;
    default:
        return real ? (dtype == GYRE_F16 ? 1e-7 : 1e-39) : 2.0;
    }
}

} // namespace

void spoil(std::vector<unsigned char> *memory, gyre_dtype dtype, const std::vector<unsigned char> &counts,
           Garbage garbage) {
    const auto size = (size_t)test::element_size(dtype);
    unsigned char element[8] = {};
    const double number = as_number(garbage, dtype);
    test::encode_elements(dtype, element, 1, 1, &number);
    uint64_t state = counts.size();
    for (size_t i = 0; i < counts.size(); i++) {
        if (counts[i]) continue;
        if (garbage == Garbage::random_bits) {
            state = state * odd_factor + odd_term;
            for (size_t byte = 0; byte < size; byte++) element[byte] = (unsigned char)(state >> (24 + 4 * byte));
        }
        std::memcpy(memory->data() + i * size, element, size);
    }
}

} // namespace gyre::fuzz
