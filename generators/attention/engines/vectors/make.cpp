#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "vectors.h"

namespace gyre::attention {
using namespace Halide;

/// Rows of few queries take every key once, and ask for the next ones where short row tiles were measured, too. Those with options, which AVX2 alone
/// has, gain nothing by asking: bench/notes has the measurements.
std::unique_ptr<RecurrenceEngine> make_vectors(const Wanted &w) {
    const bool to_last = ends_at_last_rows(w), in_whole_vectors = w.padded && w.as_stored;
    auto provider = in_whole_vectors ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    const bool of_avx2 = to_last && !w.target.has_feature(Target::AVX512);
    return std::make_unique<Vectors>(in_whole_vectors ? common_sizes(w) : sizes_of_rows(w), std::move(provider),
                                     w.knobs, Vectors::Facts{to_last, to_last && w.many_rows && !w.general, of_avx2});
}

} // namespace gyre::attention
