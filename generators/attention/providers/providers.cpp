#include "providers.h"

#include <algorithm>

namespace gyre::attention {
namespace {

using Delivering = std::shared_ptr<Provider>;

} // namespace

const std::vector<CacheFormat> &cache_formats() {
    static const std::vector<CacheFormat> formats = {
        {"rows", [](const Wanted &w) -> Delivering { return std::make_shared<Rows>(w.as_stored); }, false},
        {"f16", [](const Wanted &w) -> Delivering { return std::make_shared<Rows>(w.as_stored); }, false},
        {"int8", [](const Wanted &w) -> Delivering { return std::make_shared<ScaledRows>(w.as_stored); }, false},
        {"value_blocks", [](const Wanted &) -> Delivering { return std::make_shared<ValueBlocks>(); }, true},
        {"formed", [](const Wanted &) -> Delivering { return std::make_shared<FormedOperands>(); }, true},
    };
    return formats;
}

const CacheFormat &cache_format(const Wanted &wanted) {
    const auto &all = cache_formats();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CacheFormat &f) { return f.name == wanted.cache; });
    if (found == all.end()) {
        std::string valid;
        for (const CacheFormat &f : all) valid += (valid.empty() ? "" : ", ") + std::string(f.name);
        _halide_user_error << "cache=" << wanted.cache << ", valid: " << valid << "\n";
    }
    return *found;
}

Delivering make_provider(const Wanted &wanted) { return cache_format(wanted).make(wanted); }

} // namespace gyre::attention
