/// Where new tokens go in a cache, by lists that the device alone reads: WHAT is computed.
///
/// Token b of batch entry c is the next key of a sequence, c or, of packed tokens, the one whose bounds hold b. Key j of it is slot
/// j % 2^page_bits of page table(j >> page_bits), or without pages slot j of the sequence's own entry.
///
/// From pages it is the other way round: token b of entry c is key b of sequence c, which the table finds in the input, and goes to slot b
/// of the sequence's own entry.
#pragma once
#include "packed_tokens.h"

namespace gyre::rotary {

struct CacheLists {
    PackedSequences tokens;                 // that are new
    Halide::Func held;                      // (sequence)  keys before the new ones
    Halide::Expr has_held;                  // bool; else none
    Halide::Expr from_pages;                // bool: the table is of the input, and held counts the keys that are copied
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

/// {slot, entry} of the input that token b of batch entry c is read from.
Halide::Tuple slot_of_input(const CacheLists &in, const Halide::Expr &entries, const Halide::Expr &b,
                            const Halide::Expr &c);

/// `name`: of what is scheduled, which is one for each stage that stores.
CacheSlot cache_slot(const CacheLists &in, const std::string &name);

} // namespace gyre::rotary
