#include "element.h"
#include "half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

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

template <typename T, typename Decode>
void decode_each(const unsigned char *from, int64_t stride, int64_t count, double *to, Decode decode) {
    for (int64_t i = 0; i < count; i++) to[i] = decode(load<T>(from + i * stride * (int64_t)sizeof(T)));
}

template <typename T, typename Encode>
void encode_each(unsigned char *to, int64_t stride, int64_t count, const double *from, Encode encode) {
    for (int64_t i = 0; i < count; i++) store<T>(to + i * stride * (int64_t)sizeof(T), encode(from[i]));
}

/// All numbers of a 16-bit format by their code: tests read millions of them.
std::vector<double> decoded(HalfFormat format) {
    std::vector<double> values;
    for (int code = 0; code < 1 << 16; code++) values.push_back(decode_half((uint16_t)code, format));
    return values;
}

/// Calls visit(pattern) with what poisons an element of the type, an unsigned number of its size.
template <typename Visit>
auto with_poison(gyre_dtype dtype, Visit visit) {
    switch (dtype) {
    case GYRE_F32:
        return visit(uint32_t{0x7fdead5au});
    case GYRE_I32:
        return visit(uint32_t{0x5adead5au});
    case GYRE_F16:
        return visit(uint16_t{0x7eadu});
    case GYRE_BF16:
        return visit(uint16_t{0x7fedu});
    case GYRE_F64:
        return visit(uint64_t{0x7ffdeaddeaddead5u});
    case GYRE_I64:
        return visit(uint64_t{0x5a5adeaddead5a5au});
    case GYRE_BOOL:
        break;
    }
    return visit(uint8_t{0x5au});
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

void decode_elements(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count, double *to) {
    const auto plain = [](auto x) { return (double)x; };
    switch (dtype) {
    case GYRE_F32:
        return decode_each<float>(from, stride, count, to, plain);
    case GYRE_F16: {
        static const std::vector<double> f16 = decoded(f16_format);
        return decode_each<uint16_t>(from, stride, count, to, [](uint16_t x) { return f16[x]; });
    }
    case GYRE_BF16: {
        static const std::vector<double> bf16 = decoded(bf16_format);
        return decode_each<uint16_t>(from, stride, count, to, [](uint16_t x) { return bf16[x]; });
    }
    case GYRE_F64:
        return decode_each<double>(from, stride, count, to, plain);
    case GYRE_I32:
        return decode_each<int32_t>(from, stride, count, to, plain);
    case GYRE_I64:
        return decode_each<int64_t>(from, stride, count, to, plain);
    case GYRE_BOOL:
        return decode_each<uint8_t>(from, stride, count, to, [](uint8_t x) { return (double)(x != 0); });
    }
}

void encode_elements(gyre_dtype dtype, unsigned char *to, int64_t stride, int64_t count, const double *from) {
    switch (dtype) {
    case GYRE_F32:
        return encode_each<float>(to, stride, count, from, [](double x) { return (float)x; });
    case GYRE_F16:
        return encode_each<uint16_t>(to, stride, count, from, [](double x) { return encode_half(x, f16_format); });
    case GYRE_BF16:
        return encode_each<uint16_t>(to, stride, count, from, [](double x) { return encode_half(x, bf16_format); });
    case GYRE_F64:
        return encode_each<double>(to, stride, count, from, [](double x) { return x; });
    case GYRE_I32:
        return encode_each<int32_t>(to, stride, count, from, [](double x) { return (int32_t)x; });
    case GYRE_I64:
        return encode_each<int64_t>(to, stride, count, from, [](double x) { return (int64_t)x; });
    case GYRE_BOOL:
        return encode_each<uint8_t>(to, stride, count, from, [](double x) { return (uint8_t)(x != 0); });
    }
}

double rounded(gyre_dtype dtype, double value) {
    unsigned char bytes[8];
    encode_elements(dtype, bytes, 1, 1, &value);
    decode_elements(dtype, bytes, 1, 1, &value);
    return value;
}

void read_bits(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count, uint64_t *to) {
    with_poison(dtype, [&](auto pattern) {
        using Bits = decltype(pattern);
        for (int64_t i = 0; i < count; i++) to[i] = load<Bits>(from + i * stride * (int64_t)sizeof(Bits));
    });
}

double rounding_of(gyre_dtype dtype, double x) {
    const int mantissa_bits = dtype == GYRE_F32   ? 23
                              : dtype == GYRE_F16 ? f16_format.mantissa_bits
                                                  : bf16_format.mantissa_bits;
    const int smallest_exponent = 1 - (dtype == GYRE_F16 ? f16_format.bias() : bf16_format.bias());
    if (!std::isfinite(x)) return std::isnan(x) ? power_of_two(smallest_exponent - mantissa_bits - 1) : x * x;
    return power_of_two(std::max(exponent_of(x), smallest_exponent) - mantissa_bits - 1);
}

double rounded_error(gyre_dtype dtype, double x, double error) {
    return error + rounding_of(dtype, std::fabs(x) + error);
}

void poison_elements(gyre_dtype dtype, unsigned char *to, int64_t stride, int64_t count) {
    with_poison(dtype, [&](auto pattern) {
        for (int64_t i = 0; i < count; i++) store(to + i * stride * (int64_t)sizeof pattern, pattern);
    });
}

bool are_poison(gyre_dtype dtype, const unsigned char *from, int64_t stride, int64_t count) {
    return with_poison(dtype, [&](auto pattern) {
        bool all = true;
        for (int64_t i = 0; i < count; i++)
            all &= load<decltype(pattern)>(from + i * stride * (int64_t)sizeof pattern) == pattern;
        return all;
    });
}

} // namespace gyre::test
