/// A checked gyre_cache_append(): new tokens of keys and values, and where a cache has room for them.
#pragma once
#include "rotary/rotary_kernel.h"

namespace gyre {

/// New keys or values.
struct Appended {
    const char *name, *cache_name; // in the caller's arguments
    Heads from{};
    Heads to{};          // to: the cache; with a page table its batch entries are pages, its tokens slots
    Rotation rotation{}; // off, or on
    Angles angles{};
    HeadRotation rotate{};

    bool empty() const { return from.heads == 0 || from.dim == 0; }
};

/// Where key j of a sequence is: slot j % 2^bits of page entries[sequence * stride + (j >> bits)].
struct CachePages {
    const int32_t *entries = nullptr; // NULL: no pages, or not known yet
    int64_t stride = 0;
    int bits = 0; // of page_size
};

/// New tokens of one sequence that follow each other.
struct NewTokens {
    int64_t sequence;
    int64_t batch, first; // entry of k and v, and token there
    int64_t count;
    int64_t slot; // key of the sequence that the first becomes
};

class AppendCall {
public:
    Appended k{"k", "k_cache"};
    Appended v{"v", "v_cache"};
    int64_t sequences = 0;
    int64_t capacity = 0; // keys that the cache has room for in each sequence
    const int32_t *cu_seqlens = nullptr;
    const int32_t *cache_seqlens = nullptr;
    bool paged = false;
    CachePages pages;
    Positions positions;
    bool same_angles = false;  // v's are k's
    bool value_blocks = false; // see gyre_value_order

    /// All new tokens of a sequence; those from one token of all on.
    NewTokens of_sequence(int64_t sequence) const;
    NewTokens from_token(int64_t token) const;

    /// Chooses kernels and angles for this context.
    gyre_status prepare(gyre_context &context);

    size_t workspace_bytes(const gyre_context &context) const;

    /// Writes the cache. Errors: BAD_ARGUMENT (a slot that would be written twice; nothing is), INTERNAL.
    gyre_status run(gyre_context &context, char *memory) const;

private:
    size_t k_rows_bytes = 0;
    size_t v_rows_bytes = 0;
    size_t values_bytes = 0;
    size_t scratch_bytes = 0; // of a thread's slab

    int64_t tokens() const { return k.from.batch * k.from.seqlen; } // of all sequences
    int64_t tasks() const;
    int64_t most_pages() const;
    size_t slab_bytes() const { return k_rows_bytes + v_rows_bytes + values_bytes + scratch_bytes; }
    gyre_status check_written_pages(char *memory) const;
    bool append_run(int64_t task, char *memory) const;
    bool append(const NewTokens &n, char *memory) const;
};

/// Checks every argument. With `need_data` false data pointers may be NULL and values behind them are not read.
/// `read_lists` false: nor is what lists, positions and tables hold, which then is on a device.
gyre_status check_append(const gyre_cache_append_args &args, bool need_data, AppendCall *call, bool read_lists = true);

/// The parts of check_append() that lists decide: cu_seqlens_k, page_table and cache_seqlens, after k, v and the caches;
/// then the rotations and positions.
gyre_status check_append_sequences(const gyre_cache_append_args &args, bool need_data, AppendCall *call);
gyre_status check_append_rotations(const gyre_cache_append_args &args, bool need_data, AppendCall *call);

} // namespace gyre
