#include "oracle_append.h"
#include "element.h"
#include "oracle_rotary.h"
#include "tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// Errors of cos and sin that are promised, and of arithmetic in f32.
constexpr double rotation_error = 2e-6 + 2e-7;

/// Says where tokens go.
struct Places {
    const gyre_cache_append_args &args;
    std::vector<double> held, table, bounds;
    int64_t pages = 0, page_size = 0;

    explicit Places(const gyre_cache_append_args &a) : args(a) {
        if (a.cache_seqlens) held = values_of(*a.cache_seqlens);
        if (a.cu_seqlens_k) bounds = values_of(*a.cu_seqlens_k);
        page_size = a.k_cache.shape[a.cache_layout == GYRE_BHSD ? 2 : 1];
        if (!a.page_table) return;
        pages = a.page_table->shape[1];
        for (int64_t b = 0; b < a.page_table->shape[0]; b++)
            for (int64_t p = 0; p < pages; p++)
                table.push_back(read_element(*a.page_table, b * a.page_table->strides[0] + p));
    }
    bool packed() const { return args.layout == GYRE_THD; }
    int64_t sequences(const Dense &x) const { return packed() ? (int64_t)bounds.size() - 1 : x.batch; }
    int64_t first(int64_t s) const { return packed() ? (int64_t)bounds[(size_t)s] : 0; }
    int64_t count(const Dense &x, int64_t s) const {
        return packed() ? (int64_t)bounds[(size_t)s + 1] - first(s) : x.seqlen;
    }
    int64_t slot(int64_t s) const { return held.empty() ? 0 : (int64_t)held[(size_t)s]; }
    int64_t entry(int64_t s, int64_t key) const {
        return args.page_table ? (int64_t)table[(size_t)(s * pages + key / page_size)] : s;
    }
    int64_t slot_in_entry(int64_t key) const { return args.page_table ? key % page_size : key; }
};

/// The element of a cache that holds a feature of a key, in C order.
size_t element(const gyre_tensor &cache, gyre_layout layout, bool in_blocks, int64_t entry, int64_t slot, int64_t head,
               int64_t feature) {
    const bool heads_first = layout == GYRE_BHSD;
    const int64_t heads = cache.shape[heads_first ? 1 : 2], slots = cache.shape[heads_first ? 2 : 1];
    const int64_t dim = cache.shape[3];
    if (in_blocks) {
        const int64_t lane = slot % GYRE_VALUE_BLOCK, place = (slot - lane) * dim + feature * GYRE_VALUE_BLOCK + lane;
        slot = place / dim;
        feature = place % dim;
    }
    const int64_t row = heads_first ? (entry * heads + head) * slots + slot : (entry * slots + slot) * heads + head;
    return (size_t)(row * dim + feature);
}

/// A head of a token after its rotation, and what each of its numbers may be off by.
struct Turned {
    std::vector<double> numbers, tolerance;

    Turned(const double *head, int64_t dim, const OracleRotation &rotation, int64_t b, int64_t token, double factor)
        : numbers(head, head + dim), tolerance((size_t)dim) {
        for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
            const auto p = (size_t)rotation.left(pair), q = (size_t)rotation.right(pair);
            tolerance[p] = tolerance[q] = rotation_error * factor * (std::fabs(head[p]) + std::fabs(head[q]));
        }
        rotation.apply(numbers.data(), b, token);
    }
};

OracleAppended appended(const gyre_cache_append_args &args, const gyre_tensor &from, const gyre_tensor &cache,
                        const gyre_rope *rope, bool values) {
    const Dense x(from, args.layout);
    const Places places(args);
    std::vector<double> slots((size_t)(x.batch * x.seqlen)); // where keys stand whose positions are not given
    for (int64_t s = 0; s < places.sequences(x); s++)
        for (int64_t i = 0; i < places.count(x, s); i++)
            slots[(size_t)((places.packed() ? 0 : s * x.seqlen) + places.first(s) + i)] = (double)(places.slot(s) + i);
    OracleRotation rotation;
    if (rope)
        rotation = OracleRotation(*rope, x.dim, x.batch, x.seqlen,
                                  resolve_positions(args.positions, rope->axes, x.batch, x.seqlen, slots), !values);
    const double factor = rope && !values && !rope->cos ? std::max(1.0, rope->attention_factor) : 1;
    size_t count = 1;
    for (int32_t d = 0; d < cache.rank; d++) count *= (size_t)cache.shape[d];
    OracleAppended result{std::vector<bool>(count), std::vector<double>(count), std::vector<double>(count)};
    const bool in_blocks = values && args.value_order == GYRE_VALUES_IN_BLOCKS;
    for (int64_t s = 0; s < places.sequences(x); s++)
        for (int64_t i = 0; i < places.count(x, s); i++) {
            const int64_t b = places.packed() ? 0 : s, token = places.first(s) + i, key = places.slot(s) + i;
            const int64_t entry = places.entry(s, key), slot = places.slot_in_entry(key);
            for (int64_t h = 0; h < x.heads; h++) {
                const Turned turned(x.head(b, token, h), x.dim, rotation, b, token, factor);
                for (int64_t d = 0; d < x.dim; d++) {
                    const size_t at = element(cache, args.cache_layout, in_blocks, entry, slot, h, d);
                    const double number = turned.numbers[(size_t)d], tolerance = turned.tolerance[(size_t)d];
                    const bool rotated = tolerance != 0; // NaN is
                    result.written[at] = true;
                    result.exact[at] = rotated ? number : rounded(cache.dtype, number);
                    result.allowed[at] = rotated ? rounded_error(cache.dtype, number, tolerance) : 0;
                }
            }
        }
    return result;
}

} // namespace

OracleAppended oracle_appended_keys(const gyre_cache_append_args &args) {
    return appended(args, args.k, args.k_cache, args.rope, false);
}

OracleAppended oracle_appended_values(const gyre_cache_append_args &args) {
    return appended(args, args.v, args.v_cache, args.value_rope, true);
}

} // namespace gyre::test
