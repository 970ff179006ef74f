/// Where rows of keys and values are in memory: in a tensor, or in pages of one.
#pragma once
#include <Halide.h>

namespace gyre {

/// Where keys and values are: key j is in slot (first_slot + j) % 2^bits of page table((first_slot + j) / 2^bits).
struct Pages {
    Halide::Func table; // undefined: key j is in slot j
    Halide::Expr count; // extent of table
    Halide::Expr bits;  // large enough for all keys if there is but one page
    Halide::Expr first_slot;
};

/// Rows of features, found by the element at which they begin: slot * slot_stride + page * page_stride. Values in blocks of
/// tile_depth slots are [v_head_dim][tile_depth], begin where the first slot's row would, and come as bits, like their keys.
struct KeyRows {
    Halide::Func elements; // (d, offset)
    Halide::Expr size;     // extent of offset
    Halide::Expr slot_stride, page_stride;
    Halide::Expr head_stride = {}; // from key head to key head; undefined: there is one
};

/// The place at which the rows of a task's key begin. `one_page_apart`: where a schedule specialises for one page, no page is looked up.
Halide::Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Halide::Expr &key,
                           bool one_page_apart = false);

} // namespace gyre
