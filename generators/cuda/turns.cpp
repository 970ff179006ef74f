#include "turns.h"

#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;

Tuple sincos_of_turns(const Expr &position, const Expr &frequency) {
    const Expr turns = cast<uint64_t>(cast<int64_t>(position)) * frequency;
    // The leading 32 bits, as a signed number of half turns in [-1, 1).
    const Expr half_turns = cast<float>(reinterpret<int32_t>(cast<uint32_t>(turns >> 32))) * 0x1p-31f;
    return {cos_pi(half_turns), sin_pi(half_turns)};
}

} // namespace gyre::cuda
