#include "dropout.h"

#include "../math/philox.h"

namespace gyre {
using namespace Halide;

std::array<Expr, 4> dropout_words(const Dropout &d, const Expr &row, const Expr &group, const Expr &head) {
    return philox({cast<uint32_t>(d.first_key / 4 + group), cast<uint32_t>(d.first_row + row),
                   cast<uint32_t>(d.head + head), d.offset},
                  {d.seed_low, d.seed_high});
}

} // namespace gyre
