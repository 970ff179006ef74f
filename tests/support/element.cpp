#include "element.h"
#include "half.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gyre::test {
namespace {

template <typename T>
T load(const unsigned char *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename T>
void store(unsigned char *to, T value) {
    std::memcpy(to, &value, sizeof value);
}

} // namespace

int64_t element_size(gyre_dtype dtype) {
    switch (dtype) {
    case GYRE_F32:
    case GYRE_I32:
        return 4;
    case GYRE_F16:
    case GYRE_BF16:
        return 2;
    case GYRE_F64:
    case GYRE_I64:
        return 8;
    case GYRE_BOOL:
        return 1;
    }
    return 0;
}

double decode_element(gyre_dtype dtype, const unsigned char *from) {
    switch (dtype) {
    case GYRE_F32:
        return load<float>(from);
    case GYRE_F16:
        return decode_half(load<uint16_t>(from), f16_format);
    case GYRE_BF16:
        return decode_half(load<uint16_t>(from), bf16_format);
    case GYRE_F64:
        return load<double>(from);
    case GYRE_I32:
        return load<int32_t>(from);
    case GYRE_I64:
        return (double)load<int64_t>(from);
    case GYRE_BOOL:
        return load<uint8_t>(from) != 0;
    }
    return 0;
}

void encode_element(gyre_dtype dtype, unsigned char *to, double value) {
    switch (dtype) {
    case GYRE_F32:
        return store(to, (float)value);
    case GYRE_F16:
        return store(to, encode_half(value, f16_format));
    case GYRE_BF16:
        return store(to, encode_half(value, bf16_format));
    case GYRE_F64:
        return store(to, value);
    case GYRE_I32:
        return store(to, (int32_t)value);
    case GYRE_I64:
        return store(to, (int64_t)value);
    case GYRE_BOOL:
        return store(to, (uint8_t)(value != 0));
    }
}

double rounding_of(gyre_dtype dtype, double x) {
    const int mantissa_bits = dtype == GYRE_F32   ? 23
                              : dtype == GYRE_F16 ? f16_format.mantissa_bits
                                                  : bf16_format.mantissa_bits;
    const int smallest_exponent = 1 - (dtype == GYRE_F16 ? f16_format.bias() : bf16_format.bias());
    const int exponent = x == 0 ? smallest_exponent : std::max(std::ilogb(x), smallest_exponent);
    return std::ldexp(0.5, exponent - mantissa_bits);
}

const void *poison_pattern(gyre_dtype dtype) {
    static const uint32_t f32 = 0x7fdead5au, i32 = 0x5adead5au;
    static const uint16_t f16 = 0x7eadu, bf16 = 0x7fedu;
    static const uint64_t f64 = 0x7ffdeaddeaddead5ull, i64 = 0x5a5adeaddead5a5aull;
    static const uint8_t boolean = 0x5au;
    switch (dtype) {
    case GYRE_F32:
        return &f32;
    case GYRE_F16:
        return &f16;
    case GYRE_BF16:
        return &bf16;
    case GYRE_F64:
        return &f64;
    case GYRE_I32:
        return &i32;
    case GYRE_I64:
        return &i64;
    case GYRE_BOOL:
        return &boolean;
    }
    return nullptr;
}

} // namespace gyre::test
