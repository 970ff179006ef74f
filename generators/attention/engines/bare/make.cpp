#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "bare.h"

namespace gyre::attention {
using namespace Halide;

std::unique_ptr<RecurrenceEngine> make_bare(const Wanted &w) {
    _halide_user_assert(w.knobs.fold == w.knobs.lanes)
        << "fold is " << w.knobs.fold << ", expected lanes, " << w.knobs.lanes << ", without an operating system\n";
    Sizes z = common_sizes(w);
    const bool is_narrow = w.cache == "int8" || w.cache == "f16" || w.dtype.bits() < 32;
    z.feature_chunk = Bare::feature_chunk(w.head_dim, w.knobs.lanes, is_narrow);
    const bool nan_without_sign = w.target.bits == 32 && w.knobs.lanes > 1;
    const bool has_neon = w.target.arch == Target::ARM && w.target.bits == 64 && !w.target.has_feature(Target::NoNEON);
    const Bare::Facts facts{w.integer_scores, nan_without_sign, has_neon, has_neon};
    return std::make_unique<Bare>(z, make_provider(w), w.knobs, facts);
}

} // namespace gyre::attention
