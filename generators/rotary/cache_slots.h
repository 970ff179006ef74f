/// Where new tokens go in a cache, by lists that the device alone reads: WHAT is computed.
///
/// Token b of batch entry c is the next key of a sequence, c or, of packed tokens, the one whose bounds hold b. Key j of it is slot
/// j % 2^page_bits of page table(j >> page_bits), or without pages slot j of the sequence's own entry.
#pragma once
#include "packed_tokens.h"

namespace gyre::rotary {

struct CacheLists {
    PackedSequences tokens;                 // that are new
    Halide::Func held;                      // (sequence)  keys before the new ones
    Halide::Expr has_held;                  // bool; else none
    Halide::Func page_table;                // (page, sequence)
    Halide::Expr paged;                     // bool
    Halide::Expr page_bits, most_pages;     // log2 of a page's slots; extent of the table
    Halide::Expr capacity, entries;         // keys that a sequence has room for; entries or pages of the cache
    Halide::Expr entry_stride, slot_stride; // in elements
};

struct CacheSlot {
    PackedToken token;
    Halide::Expr key;      // of the sequence, that token b of entry c becomes
    Halide::Expr distance; // from where b and c would be with entry stride 0 to where it goes
    Halide::Expr exists;   // bool: the cache has room for it, in a page that it has
};

/// `name`: of what is scheduled, which is one for each stage that stores.
CacheSlot cache_slot(const CacheLists &in, const std::string &name);

} // namespace gyre::rotary
