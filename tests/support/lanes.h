/// Sums of the oracles, two doubles at once: sums that wait for one another take most of an oracle's time.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gyre::test {

/// Two doubles, on which operators work one by one (gcc and clang): what every x86-64 processor has registers for.
using Lanes = double __attribute__((vector_size(16)));
using LaneBits = int64_t __attribute__((vector_size(16)));

inline void load_lanes(Lanes &to, const double *from) { std::memcpy(&to, from, sizeof to); }
inline void store_lanes(double *to, const Lanes &from) { std::memcpy(to, &from, sizeof from); }

inline void magnitude_of(Lanes &to, const Lanes &from) {
    constexpr int64_t sign = INT64_MIN;
    const LaneBits bits = (LaneBits)from & ~LaneBits{sign, sign};
    to = (Lanes)bits;
}

inline double sum_of(const Lanes &x) { return x[0] + x[1]; }

struct ProductSums {
    double exact, magnitude, square;
};

/// Sums the products of two vectors, their magnitudes and their squares.
inline ProductSums sums_of_products(const double *a, const double *b, int64_t dim) {
    Lanes exact[2] = {}, magnitude[2] = {}, square[2] = {};
    const auto add = [&](int64_t d, int part) {
        Lanes left, right, size;
        load_lanes(left, a + d);
        load_lanes(right, b + d);
        const Lanes product = left * right;
        magnitude_of(size, product);
        exact[part] += product;
        magnitude[part] += size;
        square[part] += product * product;
    };
    int64_t d = 0;
    for (; d + 4 <= dim; d += 4) {
        add(d, 0);
        add(d + 2, 1);
    }
    ProductSums sums = {sum_of(exact[0] + exact[1]), sum_of(magnitude[0] + magnitude[1]),
                        sum_of(square[0] + square[1])};
    for (; d < dim; d++) {
        const double product = a[d] * b[d];
        sums.exact += product;
        sums.magnitude += std::fabs(product);
        sums.square += product * product;
    }
    return sums;
}

} // namespace gyre::test
