#include "engines.h"

#include "attention/providers/providers.h"
#include "makers.h"
#include "passes/instructions/bf16_dot.h"
#include "passes/instructions/bf16_matrices.h"
#include "passes/instructions/tile_products.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

bool takes_bf16_dots(const Wanted &w) { return has_bf16_dot(w.target) && w.dtype.is_bfloat() && !w.autoscheduled; }

/// An engine takes a kernel if none before it does.
struct EngineRow {
    bool (*takes)(const Wanted &);
    std::unique_ptr<RecurrenceEngine> (*make)(const Wanted &);
};
const EngineRow engines[] = {
    {[](const Wanted &w) { return has_matrix_tiles(w.target, w.autoscheduled); }, make_tiles},
    {[](const Wanted &w) { return w.dense && w.target.os == Target::NoOS; }, make_bare},
    {[](const Wanted &w) { return w.as_stored && !w.general && !w.padded && takes_bf16_dots(w); }, make_folded_pairs},
    {[](const Wanted &w) { return w.partial && w.knobs.fold > 1 && w.knobs.fold == w.knobs.lanes; }, make_key_lanes},
    {[](const Wanted &w) { return has_bf16_matrices(w.target) && w.dtype.is_bfloat() && !w.autoscheduled; },
     make_matrices},
    {[](const Wanted &w) { return w.knobs.fold > 0; }, make_folded},
    {takes_bf16_dots, make_pairs},
    {[](const Wanted &) { return true; }, make_vectors},
};

} // namespace

bool has_matrix_tiles(const Target &target, bool autoscheduled) {
    return target.has_feature(Target::AVX512_SapphireRapids) && !autoscheduled;
}

/// Pairs of bf16, vectors of AVX2 and, with a few rows, the general family were measured to gain nothing.
bool is_told_tile_rows(const Wanted &w) {
    const Knobs &k = w.knobs;
    const bool on_vectors = !has_matrix_tiles(w.target, w.autoscheduled) && !takes_bf16_dots(w) && k.fold == 0;
    return ends_at_last_rows(w) && w.target.has_feature(Target::AVX512_Skylake) && on_vectors && !w.general &&
           !w.dense && k.row_vectors > 1 && k.row_tiles == 1;
}

bool may_be_bounded(const Wanted &w) {
    return has_matrix_tiles(w.target, w.autoscheduled) && w.dtype.is_bfloat() && !w.general && !w.partial &&
           w.cache != "value_blocks";
}

std::unique_ptr<RecurrenceEngine> make_engine(const Wanted &wanted) {
    _halide_user_assert(wanted.knobs.fold <= wanted.knobs.lanes)
        << "fold is " << wanted.knobs.fold << ", expected at most lanes, " << wanted.knobs.lanes << "\n";
    const bool in_tiles = has_matrix_tiles(wanted.target, wanted.autoscheduled) && wanted.dtype.is_bfloat() &&
                          !wanted.padded && wanted.head_dim % tile_depth == 0;
    _halide_user_assert(in_tiles || !cache_format(wanted).in_tiles)
        << "cache=" << wanted.cache << " needs matrix tiles, dtype=bfloat16 and a head_dim that is a multiple of "
        << tile_depth << ", without padded=true\n";
    const auto row =
        std::find_if(std::begin(engines), std::end(engines), [&](const EngineRow &r) { return r.takes(wanted); });
    return row->make(wanted);
}

} // namespace gyre::attention
