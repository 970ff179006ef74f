#include "bf16_rounding.h"

namespace gyre {
using namespace Halide;

Expr bf16_rounding(const Expr &value) {
    return Internal::Call::make(UInt(16), bf16_rounding_call, {value}, Internal::Call::PureExtern);
}

} // namespace gyre
