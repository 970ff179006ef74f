#include "dropout.h"

#include "philox.h"

namespace gyre {
using namespace Halide;

DropoutInputs::DropoutInputs(Internal::GeneratorBase &generator)
    : threshold(generator.add_input<uint32_t>("dropout_threshold")),
      seed_low(generator.add_input<uint32_t>("dropout_seed_low")),
      seed_high(generator.add_input<uint32_t>("dropout_seed_high")),
      offset(generator.add_input<uint32_t>("dropout_offset")),
      keep_scale(generator.add_input<float>("dropout_keep_scale")), head(generator.add_input<int32_t>("dropout_head")),
      first_row(generator.add_input<int32_t>("dropout_first_row")),
      first_key(generator.add_input<int32_t>("dropout_first_key")) {}

Dropout DropoutInputs::bound() const {
    return {*threshold, *keep_scale, *seed_low, *seed_high, *offset, *head, *first_row, *first_key};
}

std::array<Expr, 4> dropout_words(const Dropout &d, const Expr &row, const Expr &group) {
    return philox(
        {cast<uint32_t>(d.first_key / 4 + group), cast<uint32_t>(d.first_row + row), cast<uint32_t>(d.head), d.offset},
        {d.seed_low, d.seed_high});
}

} // namespace gyre
