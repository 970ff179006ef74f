#include "storage.h"

#include "bf16_rounding.h"

namespace gyre {
using namespace Halide;

Expr widen(const Expr &stored, Bf16 bf16) {
    if (!stored.type().is_bfloat() || bf16 == Bf16::as_casts) return cast<float>(stored);
    return reinterpret<float>(cast<uint32_t>(reinterpret<uint16_t>(stored)) << 16);
}

Expr narrow(const Expr &value, const Type &type, Bf16 bf16) {
    if (!type.is_bfloat() || bf16 == Bf16::as_casts) return cast(type, value);
    if (bf16 == Bf16::by_instruction) return reinterpret(type, bf16_rounding(value));
    const int lanes = value.type().lanes();
    const Expr bits = reinterpret(UInt(32, lanes), value);
    // Adding half of the discarded range rounds; the kept part's lowest bit breaks ties towards even. The carry of
    // a NaN with a full payload would wrap to zero, so NaNs are truncated and made quiet instead.
    const Expr rounded = (bits + Expr(0x7fffu) + ((bits >> 16) & Expr(1u))) >> 16;
    const Expr is_nan = (bits & Expr(0x7fffffffu)) > Expr(0x7f800000u);
    return reinterpret(type.with_lanes(lanes),
                       cast(UInt(16, lanes), select(is_nan, (bits >> 16) | Expr(0x40u), rounded)));
}

Expr element_of_kind(const Expr &kind, const Expr &f32, const Expr &bits) {
    return select(kind == 1, f32, kind == 2, widen(reinterpret<float16_t>(bits)), widen(reinterpret<bfloat16_t>(bits)));
}

Expr is_minus_infinity_of_kind(const Expr &kind, const Expr &f32, const Expr &bits) {
    const auto of_16 = [&](int pattern) { return bits == cast<uint16_t>(pattern); };
    return select(kind == 1, reinterpret<uint32_t>(f32) == Expr(0xff800000u), kind == 2, of_16(0xfc00), of_16(0xff80));
}

} // namespace gyre
