#include "engines.h"

#include "attention/providers/providers.h"
#include "bare/bare.h"
#include "folded/folded.h"
#include "folded_pairs/folded_pairs.h"
#include "key_lanes/key_lanes.h"
#include "matrices/matrices.h"
#include "pairs/pairs.h"
#include "passes/bf16_dot.h"
#include "passes/bf16_matrices.h"
#include "passes/masked_tails.h"
#include "passes/tile_products.h"
#include "tiles/tiles.h"
#include "vectors/vectors.h"

#include <algorithm>
#include <numeric>

namespace gyre::attention {
using namespace Halide;
namespace {

using Made = std::unique_ptr<RecurrenceEngine>;

/// A tile of rows is `row_lanes` vectors' lanes times the knobs' numbers.
Sizes common_sizes(const Wanted &w) {
    const Knobs &k = w.knobs;
    Sizes z;
    z.head_dim = z.v_head_dim = w.head_dim;
    z.padded = w.padded;
    z.lanes = k.fold > 0 ? k.lanes / k.fold : k.lanes;
    const int masked_bits = least_masked_bits(w.target);
    if (masked_bits > 0 && w.dtype.bits() >= masked_bits) z.row_ends = TailStrategy::Predicate;
    z.row_tile = k.row_vectors * k.row_tiles * z.lanes;
    z.task_tiles = k.task_tiles;
    z.key_block = k.key_block;
    z.feature_chunk = k.feature_chunk;
    z.feature_step = z.value_step = std::lcm(std::lcm(k.feature_chunk, k.lanes), k.key_vector);
    return z;
}

Made make_tiles(const Wanted &w) {
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

Made make_bare(const Wanted &w) {
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

/// Asking costs instructions. f32 has so much to ask for that from caches they take longer than they save from memory, and without AVX-512 rows of
/// 128 numbers of 16 bits are read as quickly without, those of 256 not: bench/notes has the measurements.
bool key_lanes_gain_by_asking(const Wanted &w) {
    constexpr int whole_lines = 128;
    const bool gains_at_128 = w.padded || w.target.has_feature(Target::AVX512);
    return w.target.has_feature(Target::AVX2) && w.dtype.bits() == 16 && (gains_at_128 || w.head_dim != whole_lines);
}

/// From caches each request that is left out gains, and memory is read as quickly by one row that asks for keys alone.
bool one_row_reads_values_quicker(const Wanted &w) {
    constexpr int two_lines = 64, four_lines = 128; // of 16 bits
    if (!w.target.has_feature(Target::AVX512) || w.padded || w.dtype.bits() != 16) return false;
    return w.head_dim == four_lines || (w.head_dim == two_lines && w.dtype == Float(16));
}

/// Where several rows compute on a key, those that do not gain otherwise do. Padded kernels have too many sizes of rows to gain in all of them.
bool rows_gain_by_asking(const Wanted &w) {
    if (w.padded || w.own_keys || w.many_rows) return false;
    return w.target.has_feature(Target::AVX2) && !key_lanes_gain_by_asking(w);
}

/// Other machines widen numbers that are neighbours by one operation, too.
bool key_lanes_gain_by_pairs(const Wanted &w) {
    return w.target.has_feature(Target::AVX2) && w.dtype.is_bfloat() && !w.padded &&
           w.head_dim % (2 * w.knobs.lanes) == 0;
}

/// Large row tiles of f32 gain by keys in columns: bench/notes has the measurements.
bool has_key_columns(const Wanted &w) {
    if (!w.many_rows) return false;
    const Knobs &k = w.knobs;
    const int rows = k.row_vectors * k.row_tiles;
    _halide_user_assert(w.dtype == Float(32) && w.general)
        << "expected general=true and f32 with many_rows=true and fold equal to lanes\n";
    _halide_user_assert(rows % rows_of_group == 0 && k.key_unroll == k.lanes)
        << "row_vectors times row_tiles is " << rows << " and key_unroll " << k.key_unroll
        << ", expected a multiple of " << rows_of_group << " and lanes, " << k.lanes << "\n";
    return true;
}

/// Rows of a tile gain by transposed keys where there are 8, in f16, and by columns of f32: bench/notes has the measurements.
bool transposes_keys(const Wanted &w) {
    constexpr int vector_halves = 32;
    const Knobs &k = w.knobs;
    const int rows = k.row_vectors * k.row_tiles;
    if (has_key_columns(w)) return true;
    if (rows == 1) return false;
    const bool may = w.dtype == Float(16) && k.lanes == 16 && !w.general && !w.padded && !w.own_keys;
    _halide_user_assert(may && w.head_dim % vector_halves == 0 && k.key_unroll % k.lanes == 0)
        << "row_vectors times row_tiles is " << rows << " and key_unroll " << k.key_unroll
        << ", expected 1 with fold equal to lanes, or f16, 16 lanes and a multiple of them\n";
    return true;
}

Made make_key_lanes(const Wanted &w) {
    auto provider = w.padded && w.as_stored ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    const bool reads_values = one_row_reads_values_quicker(w), in_pairs = key_lanes_gain_by_pairs(w);
    return std::make_unique<KeyLanes>(common_sizes(w), std::move(provider), w.knobs,
                                      KeyLanes::Facts{key_lanes_gain_by_asking(w), reads_values,
                                                      reads_values && in_pairs, rows_gain_by_asking(w), in_pairs,
                                                      w.own_keys, transposes_keys(w), has_key_columns(w)});
}

template <class OnVectors>
Made make(const Wanted &w) {
    return std::make_unique<OnVectors>(common_sizes(w), make_provider(w), w.knobs);
}

Made make_folded_pairs(const Wanted &w) {
    _halide_user_assert(w.knobs.fold > 0 && w.knobs.fold < bf16_dot_lanes)
        << "fold is " << w.knobs.fold << ", expected 1 to 8 for keys and values of pairs that are read in place\n";
    return make<FoldedPairs>(w);
}

/// A last row tile that is short is computed by copies of the loops, which was measured on x86 alone.
bool ends_at_last_rows(const Wanted &w) { return w.target.has_feature(Target::AVX2) && !w.autoscheduled; }

/// With rows along the lanes, products may end with any chunk of features.
Sizes sizes_of_rows(const Wanted &w) {
    Sizes z = common_sizes(w);
    z.value_step = w.knobs.feature_chunk;
    return z;
}

Made make_pairs(const Wanted &w) {
    return std::make_unique<Pairs>(sizes_of_rows(w), make_provider(w), w.knobs, ends_at_last_rows(w));
}

/// Rows of few queries take every key once, and ask for the next ones where short row tiles were measured, too.
Made make_vectors(const Wanted &w) {
    const bool to_last = ends_at_last_rows(w), in_whole_vectors = w.padded && w.as_stored;
    auto provider = in_whole_vectors ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    return std::make_unique<Vectors>(in_whole_vectors ? common_sizes(w) : sizes_of_rows(w), std::move(provider),
                                     w.knobs, Vectors::Facts{to_last, to_last && w.many_rows});
}

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

Made make_folded(const Wanted &w) {
    const bool across = folded_gains_across_lanes(w);
    auto provider = across && w.padded ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    return std::make_unique<Folded>(
        common_sizes(w), std::move(provider), w.knobs,
        Folded::Facts{folded_gains_by_asking(w, across), across, folded_gains_by_one_page(w, across)});
}

bool takes_bf16_dots(const Wanted &w) { return has_bf16_dot(w.target) && w.dtype.is_bfloat() && !w.autoscheduled; }

/// An engine takes a kernel if none before it does.
struct EngineRow {
    bool (*takes)(const Wanted &);
    Made (*make)(const Wanted &);
};
const EngineRow engines[] = {
    {[](const Wanted &w) { return has_matrix_tiles(w.target, w.autoscheduled); }, make_tiles},
    {[](const Wanted &w) { return w.dense && w.target.os == Target::NoOS; }, make_bare},
    {[](const Wanted &w) { return w.as_stored && !w.general && !w.padded && takes_bf16_dots(w); }, make_folded_pairs},
    {[](const Wanted &w) { return w.partial && w.knobs.fold > 1 && w.knobs.fold == w.knobs.lanes; }, make_key_lanes},
    {[](const Wanted &w) { return has_bf16_matrices(w.target) && w.dtype.is_bfloat() && !w.autoscheduled; },
     make<Matrices>},
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

Made make_engine(const Wanted &wanted) {
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
