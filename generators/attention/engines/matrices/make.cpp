#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "matrices.h"

namespace gyre::attention {
using namespace Halide;

std::unique_ptr<RecurrenceEngine> make_matrices(const Wanted &w) {
    return std::make_unique<Matrices>(common_sizes(w), make_provider(w), w.knobs);
}

} // namespace gyre::attention
