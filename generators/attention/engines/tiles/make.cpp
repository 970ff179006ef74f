#include "attention/engines/makers.h"

#include "attention/engines/engines.h"
#include "attention/providers/providers.h"
#include "passes/instructions/tile_products.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;

std::unique_ptr<RecurrenceEngine> make_tiles(const Wanted &w) {
    Sizes z = common_sizes(w);
    z.padded = w.padded || w.head_dim % tile_depth != 0;
    z.head_dim = z.v_head_dim = (w.head_dim + tile_depth - 1) / tile_depth * tile_depth;
    z.feature_step = z.value_step = std::lcm(z.feature_step, tile_depth);
    const int terms = w.dtype.is_bfloat() ? 1 : w.dtype.bits() == 16 ? 2 : 3;
    const bool weighs_rows = terms == 1 && w.partial && !w.padded && !cache_format(w).in_tiles;
    const bool whole_head = !weighs_rows && Tiles::holds_whole_head(z.v_head_dim, w.knobs.row_vectors);
    return std::make_unique<Tiles>(z, make_provider(w), w.knobs,
                                   Tiles::Facts{terms, w.padded ? 0 : w.head_dim, may_be_bounded(w), whole_head,
                                                w.padded && !whole_head, weighs_rows, weighs_rows && w.as_stored});
}

} // namespace gyre::attention
