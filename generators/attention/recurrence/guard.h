/// Keeps the values of masked keys out of results, whatever they hold: WHAT is computed.
///
/// A masked key's weight is 0, and 0 times NaN or infinity is NaN. In a block that has values which are not finite, of keys that some row of the
/// task does not see, the product takes 0 in place of each value that its row does not see. Such a block is
/// guarded. Its sums have the same bits as if all values were finite; other blocks go through the product as it is.
#pragma once
#include "visible.h"

#include <functional>

namespace gyre::attention {

/// Defines s.guarded (b), from v_rows, in f32 or as bits of bf16. `lanes` of a vector; rows of values are there in whole steps of `step` keys.
/// `by_flag`: a Func tells whether a block is looked at, and from which key on, s.cut, which Halide would read in every turn otherwise. `hides`: a bias or a mask may
/// hide keys of block s.b; undefined: there is neither.
void define_guarded(Stages &s, const Inputs &in, int lanes, int step, bool by_flag, const Halide::Expr &hides);

/// The row and the feature of element `place` of a product.
struct ProductPlace {
    Halide::Expr row, feature;
};

/// How a product sums the values of a block: of `keys` neighbouring keys in turn, every sums-th key in one of `sums` sums, which are then added.
/// 0: of one key after the other.
struct SumsInTurn {
    int keys = 0, sums = 1;
    /// The key of group `group` whose value is the `turn`-th that is added; none: that of the same number.
    std::function<Halide::Expr(const Halide::Expr &group, const Halide::Expr &turn)> key_of_turn = nullptr;
};

/// Adds to `product`, the sums of a block's weighted values, two updates for guarded blocks: the sums begin again, and take
/// values that their row sees alone. `weight`: of a key for row s.r; `from_first`: there is none of keys before those that some row of
/// the tile sees. `place` is of the product's own arguments.
void define_guarded_product(Stages &s, Halide::Func product, const Visible &visible, bool from_first,
                            const ProductPlace &place,
                            const std::function<Halide::Expr(const Halide::Expr &key)> &weight,
                            const SumsInTurn &turns);

/// Schedules what tells guarded blocks, once a block, with vectors of `lanes`.
void schedule_guard(Stages &s, int lanes);

} // namespace gyre::attention
