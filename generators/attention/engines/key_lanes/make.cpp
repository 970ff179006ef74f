#include "attention/engines/makers.h"

#include "attention/providers/providers.h"
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;
namespace {

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

/// Measured on a processor without AVX-512 alone, where rows of 64 numbers lose: bench/notes.
bool gains_by_spread_keys(const Wanted &w) {
    constexpr int short_rows = 64;
    const bool may = w.dtype == Float(32) && (w.padded || w.head_dim > short_rows);
    return may && w.target.has_feature(Target::AVX2) && !w.target.has_feature(Target::AVX512);
}

/// With a sum for one key alone SSE2's additions wait for each other. In bf16 keys that come from memory take longer so, and other machines with vectors
/// of 4 numbers were not measured: bench/notes.
bool narrow_keys_gain_inside(const Wanted &w) { return w.target.arch == Target::X86 && w.dtype == Float(32); }

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

} // namespace

std::unique_ptr<RecurrenceEngine> make_key_lanes(const Wanted &w) {
    auto provider = w.padded && w.as_stored ? std::make_shared<RowsInWholeVectors>(w.knobs.lanes) : make_provider(w);
    const bool reads_values = one_row_reads_values_quicker(w), in_pairs = key_lanes_gain_by_pairs(w);
    return std::make_unique<KeyLanes>(common_sizes(w), std::move(provider), w.knobs,
                                      KeyLanes::Facts{key_lanes_gain_by_asking(w), reads_values,
                                                      reads_values && in_pairs, rows_gain_by_asking(w), in_pairs,
                                                      w.own_keys, transposes_keys(w), has_key_columns(w),
                                                      gains_by_spread_keys(w), narrow_keys_gain_inside(w)});
}

} // namespace gyre::attention
