#include "providers.h"

#include <algorithm>

namespace gyre::attention {
namespace {

using Delivering = std::shared_ptr<Provider>;

} // namespace

const std::vector<CacheFormat> &cache_formats() {
    static const std::vector<CacheFormat> formats = {
#define GYRE_CACHE_FORMAT(name, type, provider, in_tiles)                                                              \
    {#name,                                                                                                            \
     []([[maybe_unused]] const Wanted &w) -> Delivering { return std::make_shared<decltype(provider)>(provider); },    \
     in_tiles},
#include "common/cache_formats.inc"
#undef GYRE_CACHE_FORMAT
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
