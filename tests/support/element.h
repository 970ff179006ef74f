/// The element types of gyre_tensor as bytes: size, decoding to double, rounding from double, and poison.
#pragma once
#include <gyre/gyre.h>

#include <cstdint>

namespace gyre::test {

/// Bytes of an element.
int64_t element_size(gyre_dtype dtype);

double decode_element(gyre_dtype dtype, const unsigned char *from);

/// Rounds to the nearest number of the type, ties to even.
void encode_element(gyre_dtype dtype, unsigned char *to, double value);

/// What rounding to the type may change x by: half the spacing of the type's numbers around it.
double rounding_of(gyre_dtype dtype, double x);

/// element_size() bytes: a quiet NaN with a payload that no computation makes; for integers and booleans a number that
/// no test uses.
const void *poison_pattern(gyre_dtype dtype);

} // namespace gyre::test
