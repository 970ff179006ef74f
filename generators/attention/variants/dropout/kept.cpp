#include "kept.h"

#include "attention/recurrence/rows.h"

namespace gyre::attention {
using namespace Halide;

void define_kept(Stages &s, const Inputs &in, const Func &weights) {
    const Dropout &dropout = in.dropout;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Var group("group");
    const int groups_of_block = s.sizes.key_block / keys_of_draw;
    const Row row = s.row_tokens.defined() ? row_of_tile(s, in, r, t) : Row{s.first_row() + r, 0};
    const auto words = dropout_words(dropout, row.token, b * groups_of_block + group, row.head);
    Func &draws = s.dropout.draws, &kept = s.dropout.kept;
    draws = Func("draws");
    kept = Func("kept");
    draws(r, group, t, b) = Tuple(words[0], words[1], words[2], words[3]);
    const FuncRef drawn = draws(r, j / keys_of_draw, t, b);
    const Expr word = mux(j % keys_of_draw, {drawn[0], drawn[1], drawn[2], drawn[3]});
    kept(r, j, t, b) = select(word < dropout.threshold, 0.0f, weights(r, j, t, b));
}

void schedule_kept(Stages &s, const LoopLevel &tile) {
    const int w = s.sizes.lanes;
    _halide_user_assert(s.sizes.key_block % keys_of_draw == 0)
        << "key_block is " << s.sizes.key_block << ", expected a multiple of words of a draw, " << keys_of_draw << "\n";
    Var jo("jo"), ji("ji"), ro("ro"), ri("ri");
    s.dropout.kept.compute_at(tile)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block)
        .tile(s.r, s.j, ro, jo, ri, ji, w, keys_of_draw, TailStrategy::RoundUp)
        .vectorize(ri)
        .unroll(ji);
    s.dropout.draws.compute_at(s.dropout.kept, ro).vectorize(s.r, w);
}

} // namespace gyre::attention
