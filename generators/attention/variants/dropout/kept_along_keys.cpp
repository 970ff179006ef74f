#include "kept_along_keys.h"

#include "attention/recurrence/rows.h"

namespace gyre::attention {
using namespace Halide;

void define_kept_along_keys(Stages &s, const Inputs &in, const Visible &visible, int group, const Func &weights) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, draw("draw");
    DropoutStages &o = s.dropout;
    const Row row = row_of_tile(s, in, r, t);
    const auto words = dropout_words(in.dropout, row.token, b * (z.key_block / keys_of_draw) + draw, row.head);
    o.draws = Func("draws");
    o.draws(draw, r, t, b) = Tuple(words[0], words[1], words[2], words[3]);
    const FuncRef drawn = o.draws(j / keys_of_draw, r, t, b);
    o.words = Func("words");
    o.words(j, r, t, b) = mux(j % keys_of_draw, {drawn[0], drawn[1], drawn[2], drawn[3]});

    o.kept = Func("kept");
    o.kept(r, j, t, b) = undef<float>();
    RDom keys(0, group, 0, z.key_block / group, "kept_keys");
    keys.where(visible.in_sight(b * z.key_block + keys.y * group, group));
    const Expr key = keys.y * group + keys.x;
    o.kept(r, key, t, b) = select(o.words(key, r, t, b) < in.dropout.threshold, 0.0f, weights(r, key, t, b));
    o.kept_j = keys.x;
    o.kept_group = keys.y;
}

void schedule_kept_along_keys(Stages &s, const LoopLevel &block, int lanes) {
    const Sizes &z = s.sizes;
    DropoutStages &o = s.dropout;
    Var group("group"), word("word");
    o.kept.compute_at(block)
        .bound_storage(s.b, 1)
        .bound_storage(s.t, z.task_tiles)
        .bound_storage(s.j, z.key_block)
        .bound(s.r, 0, z.row_tile)
        .reorder_storage(s.j, s.r, s.t, s.b)
        .update()
        .allow_race_conditions()
        .reorder(o.kept_j, s.r, s.t, o.kept_group)
        .vectorize(o.kept_j, lanes)
        .never_partition_all();
    o.words.compute_at(o.kept, s.r).split(s.j, group, word, keys_of_draw).unroll(word).vectorize(group, lanes);
    o.draws.compute_at(o.words, group).vectorize(o.draws.args()[0], lanes);
}

} // namespace gyre::attention
