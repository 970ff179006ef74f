#include "bf16_pairs.h"

#include "bf16_rounding.h"

namespace gyre {
using namespace Halide;

Expr pair_of_bits(const Expr &first, const Expr &second) {
    return cast<uint32_t>(first) | (cast<uint32_t>(second) << 16);
}

Expr bf16_pair(const Expr &first, const Expr &second) {
    return pair_of_bits(bf16_rounding(first), bf16_rounding(second));
}

Expr bf16_pair_nonnegative(const Expr &first, const Expr &second) {
    // Masked before it is shifted: Halide takes a sum and a shift for one rounding shift, which x86 has not.
    const auto rounded = [](const Expr &x) { return (reinterpret<uint32_t>(x) + Expr(0x8000u)) & Expr(0xffff0000u); };
    return (rounded(first) >> 16) | rounded(second);
}

Expr bf16_of_pair(const Expr &pair, const Expr &which) {
    return reinterpret<float>(select(which == 0, pair << 16, pair & Expr(0xffff0000u)));
}

Expr PairsOfVectors::feature(const Expr &place) const {
    const int both = 2 * lanes;
    return place / both * both + place % lanes * 2 + place / lanes % 2;
}

Expr PairsOfVectors::place(const Expr &feature) const {
    const int both = 2 * lanes;
    return feature / both * both + feature % 2 * lanes + feature % both / 2;
}

Expr bf16_term(const Expr &x, int n) {
    const auto bits_of = [&](const Expr &rest, int term) -> Expr {
        const Expr bits = reinterpret<uint32_t>(rest);
        return term > 0 ? bits + Expr(0x8000u) : bits;
    };
    Expr rest = x;
    for (int i = 0; i < n; i++) rest = rest - reinterpret<float>(bits_of(rest, i) & Expr(0xffff0000u));
    return bits_of(rest, n);
}

Expr bf16_pair_of_terms(const Expr &first, const Expr &second, int n) {
    return ((bf16_term(first, n) & Expr(0xffff0000u)) >> 16) | (bf16_term(second, n) & Expr(0xffff0000u));
}

std::vector<std::pair<int, int>> products_of_terms(int terms, int most) {
    std::vector<std::pair<int, int>> products;
    for (int sum = most; sum >= 0; sum--)
        for (int a = 0; a <= sum; a++)
            if (a < terms && sum - a < terms) products.emplace_back(a, sum - a);
    return products;
}

} // namespace gyre
