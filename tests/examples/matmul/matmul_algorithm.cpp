#include "matmul_algorithm.h"

#include <math/bf16_pairs.h>
#include <math/storage.h>
#include <math/transcendental.h>
#include <passes/instructions/bf16_dot.h>
#include <passes/instructions/bf16_matrices.h>

namespace matmul {
using namespace Halide;
namespace {

Expr number(const Expr &bits) { return gyre::widen(reinterpret(BFloat(16), bits)); }

/// The bits of rows of K numbers, and 0 beyond.
Func bits_or_zero(const Func &rows, const Expr &K, const Expr &count) {
    Func bits("bits");
    const Var k("k"), row("row");
    bits(k, row) = reinterpret<uint16_t>(rows(k, row));
    return BoundaryConditions::constant_exterior(bits, cast<uint16_t>(0), {{0, K}, {0, count}});
}

/// Two neighbours along k of one row.
Expr pair(const Func &rows, const Expr &k, const Expr &row) {
    return gyre::pair_of_bits(rows(k, row), rows(k + 1, row));
}

void define_matrix_products(Stages &s, const Func &x, const Func &w, const Expr &K) {
    const Var &f = s.f, &y = s.y, &p = s.p, &g = s.g, &c = s.c, &lane = s.lane;
    constexpr int rows = gyre::matrix_rows, depth = gyre::matrix_depth;
    s.x_panel(f, y, p, c, s.mt) = x(c * depth + f, s.mt * s.sizes.rows + p * rows + y);
    s.w_panel(f, y, g, c, s.nt) = w(c * depth + f, s.nt * s.sizes.columns + g * rows + y);
    RDom r(0, depth, 0, (K + depth - 1) / depth, "r");
    s.k = r.x;
    s.of_chunk = r.y;
    s.sums(lane, p, g, s.mt, s.nt) +=
        number(s.w_panel(r.x, lane / rows, g, r.y, s.nt)) * number(s.x_panel(r.x, lane % rows, p, r.y, s.mt));
    s.block(s.n, s.r, s.mt, s.nt) = s.sums(s.r % rows + s.n % rows * rows, s.r / rows, s.n / rows, s.mt, s.nt);
}

void define_products(Stages &s, const Func &x, const Func &w, const Expr &K) {
    const Var &n = s.n, &r = s.r, &c = s.c;
    const Expr row = s.mt * s.sizes.rows + r, first = s.chunk * chunk_numbers,
               chunks = (K + chunk_numbers - 1) / chunk_numbers;
    const bool in_pairs = s.sizes.engine == Engine::pairs;
    if (in_pairs)
        s.x_panel(c, r, s.chunk, s.mt) = pair(x, first + 2 * c, row);
    else if (s.sizes.engine == Engine::tiles)
        s.x_panel(c, r, s.chunk, s.mt) = x(first + c, row);
    else
        s.x_panel(c, r, s.chunk, s.mt) = number(x(first + c, row));
    Func pairs("w_pairs");
    pairs(c, n, s.nt) = pair(w, 2 * c, s.nt * s.sizes.columns + n);
    s.w_lanes = gyre::transpose(pairs, s.sizes.lanes, "w_lanes");
    s.w_panel(n, c, s.nt) = s.w_lanes.out(n, c, s.nt);

    RDom k(0, in_pairs ? chunk_numbers / 2 : chunk_numbers, 0, chunks, "k");
    s.k = k.x;
    s.of_chunk = k.y;
    const Expr of_x = s.x_panel(k.x, r, k.y, s.mt);
    s.sums(n, r, s.mt, s.nt) = 0.0f;
    if (in_pairs)
        s.sums(n, r, s.mt, s.nt) =
            gyre::bf16_dot(s.sums(n, r, s.mt, s.nt), s.w_panel(n, k.y * (chunk_numbers / 2) + k.x, s.nt), of_x);
    else
        s.sums(n, r, s.mt, s.nt) +=
            (s.sizes.engine == Engine::tiles ? number(of_x) : of_x) *
            gyre::bf16_of_pair(s.w_panel(n, k.y * (chunk_numbers / 2) + k.x / 2, s.nt), k.x % 2);
    s.block(n, r, s.mt, s.nt) = s.sums(n, r, s.mt, s.nt);
}

} // namespace

// Phi(z) = erfc(-z / sqrt 2) / 2, by formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions.
Expr gelu(const Expr &z, Expr (*power)(const Expr &x)) {
    const Expr a = max(z, -z) * 0.707106781f;
    const Expr t = 1.0f / (1.0f + 0.3275911f * a);
    const Expr polynomial =
        t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const Expr tail = 0.5f * polynomial * power(-1.44269504f * a * a);
    return z * select(z < 0.0f, tail, 1.0f - tail);
}

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &out) {
    Stages s;
    s.sizes = sizes;
    s.x_panel = Func("x_panel");
    s.w_panel = Func("w_panel");
    s.sums = Func("sums");
    s.block = Func("block");
    const Func x = bits_or_zero(in.x, in.K, in.M), w = bits_or_zero(in.w, in.K, in.N);
    if (sizes.engine == Engine::matrices)
        define_matrix_products(s, x, w, in.K);
    else
        define_products(s, x, w, in.K);
    s.out = out;
    const auto power = [](const Expr &e) { return gyre::exp2_nonpositive(e); };
    const Expr sum = s.block(s.n % sizes.columns, s.m % sizes.rows, s.m / sizes.rows, s.n / sizes.columns);
    s.out(s.n, s.m) = gyre::narrow(gelu(sum + in.bias(s.n), power), BFloat(16));
    return s;
}

} // namespace matmul
