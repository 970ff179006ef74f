#include "terms.h"

#include "math/bf16_pairs.h"

namespace gyre::attention {
using namespace Halide;

Expr term_pair(const Expr &first, const Expr &second, const Expr &p, int terms) {
    if (terms == 1) return bf16_pair(first, second);
    std::vector<Expr> pairs;
    for (int n = 0; n < terms; n++) pairs.push_back(bf16_pair_of_terms(first, second, n));
    return mux(p, pairs);
}

std::pair<Expr, Expr> terms_of_product(const Expr &n, const std::vector<std::pair<int, int>> &products) {
    std::vector<Expr> a, b;
    for (const auto &[first, second] : products) {
        a.emplace_back(first);
        b.emplace_back(second);
    }
    if (products.size() == 1) return {a[0], b[0]};
    return {mux(n, a), mux(n, b)};
}

} // namespace gyre::attention
