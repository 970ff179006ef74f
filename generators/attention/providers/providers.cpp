#include "providers.h"

#include "attention/wanted.h"

namespace gyre::attention {

std::shared_ptr<Provider> make_provider(const Wanted &w) {
    if (w.formed) return std::make_shared<FormedOperands>();
    if (w.value_blocks) return std::make_shared<ValueBlocks>();
    if (w.int8_cache) return std::make_shared<ScaledRows>(w.as_stored);
    return std::make_shared<Rows>(w.as_stored);
}

} // namespace gyre::attention
