#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "folded.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int many_features = 256; // of f32

/// No load repeats a number of 16 bits as f32 along a vector. In f32 sums across lanes, which cost the same for any head size, gain where there
/// are many features, or four rows on AVX-512, by fewer loads.
bool folded_gains_across_lanes(const Wanted &w) {
    constexpr int few_rows = 4;
    if (!w.as_stored || w.dtype.bits() == 16) return w.as_stored;
    const Knobs &k = w.knobs;
    const bool may = k.fold > 1 && k.row_vectors * k.row_tiles == 1 && k.key_unroll % k.fold == 0;
    return may && w.target.has_feature(Target::AVX2) &&
           (w.head_dim >= many_features || (w.target.has_feature(Target::AVX512) && few_rows * k.fold == k.lanes));
}

/// Machines without AVX2 compute no quicker, and AVX-512 reads and computes so quickly on many features of f32 from caches that asking costs
/// more than memory takes.
bool folded_gains_by_asking(const Wanted &w, bool across) {
    const bool has_many = across && !w.padded && w.dtype.bits() == 32 && w.head_dim >= many_features;
    if (has_many && w.target.has_feature(Target::AVX512)) return false;
    return w.target.has_feature(Target::AVX2);
}

/// Elsewhere broadcasts of f32 lose more: LLVM then stores maxima and sums of a block in every turn of their loops.
bool folded_gains_by_one_page(const Wanted &w, bool across) { return across || w.target.has_feature(Target::AVX512); }

} // namespace

std::unique_ptr<RecurrenceEngine> make_folded(const Wanted &w) {
    const bool across = folded_gains_across_lanes(w);
    auto provider = across && w.padded ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    return std::make_unique<Folded>(
        common_sizes(w), std::move(provider), w.knobs,
        Folded::Facts{folded_gains_by_asking(w, across), across, folded_gains_by_one_page(w, across)});
}

} // namespace gyre::attention
