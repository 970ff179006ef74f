// Scores by integers, for processors whose multiply-adds of 16-bit integers are quicker than those of floats. Queries take 16
// bits, each row in units of its own: with keys of int8, 512 products fit 32 bits.
#include "bare.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr float largest = 32767;

/// Two products of 16 bits and a sum; two bytes of four as 16 bits each: instructions of ARM's DSP extension.
Expr multiply_add_pairs(const Expr &a, const Expr &b, const Expr &sum) {
    return Internal::Call::make(Int(32), "llvm.arm.smlad", {a, b, sum}, Internal::Call::PureExtern);
}
Expr even_bytes(const Expr &word) {
    return Internal::Call::make(Int(32), "llvm.arm.sxtb16", {word}, Internal::Call::PureExtern);
}

Expr pair(const Expr &low, const Expr &high) { return (low & 0xffff) | (high << 16); }

} // namespace

void Bare::define_integer_queries() {
    const Var &r = s.r, &t = s.t, &f = s.f, word("word");
    RDom features(0, s.sizes.head_dim, "peak_features");
    // Magnitudes are compared as bits: those of NaN and infinity are larger than those of numbers.
    const auto magnitude = [&](const Expr &feature) {
        return reinterpret<uint32_t>(s.q_rows(feature, r, t)) & Expr(0x7fffffffu);
    };
    s.q_peak = Func("q_peak");
    s.q_peak(r, t) = Expr(0u);
    s.q_peak(r, t) = max(s.q_peak(r, t), magnitude(features));

    // The even ones of four features make a word, and the odd ones the next, as even_bytes() gives those of keys.
    const Expr peak = reinterpret<float>(s.q_peak(r, t));
    const Expr units = select(s.q_peak(r, t) > Expr(0u), largest / peak, 0.0f);
    const auto integer = [&](const Expr &feature) {
        const Expr x = s.q_rows(feature, r, t) * units;
        return cast<int32_t>(x + select(x < 0.0f, -0.5f, 0.5f));
    };
    const Expr first = word / 2 * 4 + word % 2;
    s.q_folded = Func("q_folded");
    s.q_folded(f, r, word, t) = pair(integer(first), integer(first + 2));
}

void Bare::define_integer_scores(const Expr &scale) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    RDom fours(0, s.sizes.head_dim / 4, "features");
    s.feature = fours;
    const auto byte = [&](int n) {
        return cast<uint32_t>(cast<uint8_t>(s.operands.k_rows(fours * 4 + n, j, b))) << (8 * n);
    };
    const Expr word = byte(0) | byte(1) | byte(2) | byte(3), keys = reinterpret<int32_t>(word);
    const Expr others = reinterpret<int32_t>((word << 24) | (word >> 8));
    const auto query = [&](int odd) { return s.q_folded(f, r, fours * 2 + odd, t); };
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, r, j, t, b) = 0;
    s.folded_scores(f, r, j, t, b) = multiply_add_pairs(
        query(1), even_bytes(others), multiply_add_pairs(query(0), even_bytes(keys), s.folded_scores(f, r, j, t, b)));
    // A row that is not finite has no score that is a number.
    const Expr peak = select(s.q_peak(r, t) < Expr(0x7f800000u), s.q_peak(r, t), Expr(0x7fc00000u));
    s.scores = Func("scores");
    s.scores(r, j, t, b) =
        cast<float>(s.folded_scores(0, r, j, t, b)) * (reinterpret<float>(peak) * (scale * (1.0f / largest)));
}

} // namespace gyre::attention
