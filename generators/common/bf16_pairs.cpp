#include "bf16_pairs.h"

#include "storage.h"

namespace gyre {
using namespace Halide;

Expr bf16_pair(const Expr &first, const Expr &second) {
    const auto bits = [](const Expr &x) { return cast<uint32_t>(reinterpret<uint16_t>(narrow(x, BFloat(16)))); };
    return bits(first) | (bits(second) << 16);
}

Expr bf16_pair_nonnegative(const Expr &first, const Expr &second) {
    // Masked before it is shifted: Halide takes a sum and a shift for one rounding shift, which x86 has not.
    const auto rounded = [](const Expr &x) { return (reinterpret<uint32_t>(x) + Expr(0x8000u)) & Expr(0xffff0000u); };
    return (rounded(first) >> 16) | rounded(second);
}

Expr bf16_of_pair(const Expr &pair, const Expr &which) {
    return reinterpret<float>(select(which == 0, pair << 16, pair & Expr(0xffff0000u)));
}

} // namespace gyre
