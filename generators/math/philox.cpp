#include "philox.h"

namespace gyre {
using namespace Halide;
namespace {

constexpr int philox_rounds = 10;
constexpr uint32_t philox_multipliers[2] = {0xd2511f53u, 0xcd9e8d57u};
constexpr uint32_t philox_key_steps[2] = {0x9e3779b9u, 0xbb67ae85u};

struct WideProduct {
    Expr high, low;
};

WideProduct multiply_wide(const Expr &x, uint32_t factor) {
    return {cast<uint32_t>((cast<uint64_t>(x) * Expr(uint64_t{factor})) >> Expr(uint64_t{32})), x * Expr(factor)};
}

} // namespace

std::array<Expr, 4> philox(std::array<Expr, 4> counter, std::array<Expr, 2> key) {
    for (int round = 0; round < philox_rounds; round++) {
        if (round > 0)
            for (size_t i : {0, 1}) key[i] = key[i] + Expr(philox_key_steps[i]);
        const WideProduct first = multiply_wide(counter[0], philox_multipliers[0]),
                          second = multiply_wide(counter[2], philox_multipliers[1]);
        counter = {second.high ^ counter[1] ^ key[0], second.low, first.high ^ counter[3] ^ key[1], first.low};
    }
    return counter;
}

} // namespace gyre
