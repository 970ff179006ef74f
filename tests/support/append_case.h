/// One call of gyre_cache_append() with its tensors, checked on every target against the definition in double.
///
///     AppendCase c(AppendShape().adding({9, 40}).to({3, 0}).paged(16).of(GYRE_F32, GYRE_BF16));
///     c.args.rope = &rope;
///     c.check();
#pragma once
#include "keeper.h"
#include "oracle_append.h"
#include "oracle_rotary.h"
#include "tensor.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gyre::test {

/// Extents of a call, named as they are set.
struct AppendShape {
    std::vector<int64_t> added{5}, held{0}; // tokens of each sequence; bshd and bhsd take the first number for all
    int64_t heads = 2, head_dim = 40, v_head_dim = 24;
    int64_t capacity = 96, page_size = 0; // 0: no pages
    gyre_dtype dtype = GYRE_F32, cache_dtype = GYRE_F32;
    gyre_layout layout = GYRE_BSHD, cache_layout = GYRE_BSHD;
    Placement k_placement, cache_placement;

    AppendShape &adding(std::vector<int64_t> tokens) { return added = std::move(tokens), *this; }
    AppendShape &to(std::vector<int64_t> keys) { return held = std::move(keys), *this; }
    AppendShape &head_count(int64_t count) { return heads = count, *this; }
    AppendShape &dims(int64_t of_k, int64_t of_v) { return head_dim = of_k, v_head_dim = of_v, *this; }
    AppendShape &room(int64_t keys) { return capacity = keys, *this; }
    AppendShape &paged(int64_t size) { return page_size = size, *this; }
    AppendShape &of(gyre_dtype from, gyre_dtype cache) { return dtype = from, cache_dtype = cache, *this; }
    AppendShape &in(gyre_layout tokens, gyre_layout cache) { return layout = tokens, cache_layout = cache, *this; }
    AppendShape &placed(Placement of_k, Placement of_cache) {
        return k_placement = of_k, cache_placement = of_cache, *this;
    }

    int64_t sequences() const { return (int64_t)held.size(); }
    int64_t added_to(int64_t sequence) const { return added[layout == GYRE_THD ? (size_t)sequence : 0]; }
};

/// The types of tokens, each with a type of caches that they become.
inline constexpr std::pair<gyre_dtype, gyre_dtype> append_conversions[] = {
    {GYRE_F32, GYRE_F32}, {GYRE_F16, GYRE_F16}, {GYRE_BF16, GYRE_BF16}, {GYRE_F32, GYRE_F16}, {GYRE_F32, GYRE_BF16}};

inline gyre_rope rope_of(gyre_pairing pairing, int32_t rotary_dim = 0, int32_t rotary_offset = 0) {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = pairing;
    rope.rotary_dim = rotary_dim;
    rope.rotary_offset = rotary_offset;
    return rope;
}

/// Ragged in either way: sequences of several lengths, or as many tokens for each.
inline AppendShape ragged_append(gyre_layout layout) {
    return AppendShape()
        .adding(layout == GYRE_THD ? std::vector<int64_t>{1, 37, 0, 40} : std::vector<int64_t>{37})
        .to({59, 3, 32, 0});
}

class AppendCase : public Keeper {
public:
    /// Caches are poison; pages are in random order, and entries of pages that are not written are nonsense.
    explicit AppendCase(const AppendShape &given, uint64_t seed = 1);

    /// Poisons the caches and runs the call. k, v and what surrounds any tensor must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target. What is rotated: within the promised accuracy and the rounding of the cache's type. What is
    /// copied or converted, and every slot that no token goes to: bit for bit.
    void check();

    /// Checks on every device instead, of which there must be one.
    void check_on_devices();

    /// Where key `key` of a sequence is: entry of the cache, or page, and slot.
    std::pair<int64_t, int64_t> place(int64_t sequence, int64_t key) const;
    /// The element of a cache's shape.
    std::vector<int64_t> element(int64_t entry, int64_t slot, int64_t head, int64_t feature) const;

    std::string describe() const;

    AppendShape shape;
    Tensor k, v, k_cache, v_cache;
    std::vector<int64_t> table; // [sequences, pages]
    gyre_cache_append_args args;

private:
    int64_t pages() const;
    gyre_status run_on_device(gyre_context *context);
    void check_with(gyre_context *context);
    void compare(const char *name, const OracleAppended &expected, const Tensor &cache) const;
};

} // namespace gyre::test
