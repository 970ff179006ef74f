#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "folded_pairs.h"

namespace gyre::attention {
using namespace Halide;

std::unique_ptr<RecurrenceEngine> make_folded_pairs(const Wanted &w) {
    _halide_user_assert(w.knobs.fold > 0 && w.knobs.fold < bf16_dot_lanes)
        << "fold is " << w.knobs.fold << ", expected 1 to 8 for keys and values of pairs that are read in place\n";
    return std::make_unique<FoldedPairs>(common_sizes(w), make_provider(w), w.knobs);
}

} // namespace gyre::attention
