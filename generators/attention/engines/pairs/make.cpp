#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "pairs.h"

namespace gyre::attention {
using namespace Halide;

std::unique_ptr<RecurrenceEngine> make_pairs(const Wanted &w) {
    return std::make_unique<Pairs>(sizes_of_rows(w), make_provider(w), w.knobs, ends_at_last_rows(w));
}

} // namespace gyre::attention
