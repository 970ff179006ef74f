/// The element types of gyre_tensor as bytes: size, decoding to double, rounding from double, and poison.
#pragma once
#include <gyre/gyre.h>

#include <cstdint>

namespace gyre::test {

/// Bytes of an element.
int64_t element_size(gyre_dtype dtype);

/// `count` elements that lie `stride` elements apart, as doubles.
void decode_elements(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count, double *to);

/// Rounds `count` numbers to the nearest of the type, ties to even.
void encode_elements(gyre_dtype dtype, unsigned char *to, int64_t stride, int64_t count, const double *from);

/// The elements' bits, 64 at most, as numbers.
void read_bits(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count, uint64_t *to);

/// The number nearest to `value` that the type holds.
double rounded(gyre_dtype dtype, double value);

/// What rounding to the type may change x by: half the spacing of the type's numbers around it.
double rounding_of(gyre_dtype dtype, double x);

/// What a number is off by that is within `error` of x and then rounded, perhaps beyond the next power of two.
double rounded_error(gyre_dtype dtype, double x, double error);

/// Makes elements a quiet NaN with a payload that no computation makes; integers and booleans a number that no test uses.
void poison_elements(gyre_dtype dtype, unsigned char *to, int64_t stride, int64_t count);

bool are_poison(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count);

} // namespace gyre::test
