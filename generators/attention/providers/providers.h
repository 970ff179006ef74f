/// The formats of caches, and who delivers keys and values of each.
#pragma once
#include "attention/wanted.h"
#include "rows.h"
#include "value_blocks.h"

#include <vector>

namespace gyre::attention {

/// A way in which keys and values are stored, by the name that kernels are asked for with.
struct CacheFormat {
    const char *name;
    std::shared_ptr<Provider> (*make)(const Wanted &);
    bool in_tiles; // rows of these are matrix tiles, which no other engine takes
};

const std::vector<CacheFormat> &cache_formats();

/// Stops the generator where there is no such format.
const CacheFormat &cache_format(const Wanted &wanted);

std::shared_ptr<Provider> make_provider(const Wanted &wanted);

} // namespace gyre::attention
