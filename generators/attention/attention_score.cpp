#include "attention_score.h"

namespace gyre {
using namespace Halide;

Expr ScorePoint::by_query(const Part &part) const { return staging ? staging->by_query(*this, part) : part(*this); }
Expr ScorePoint::by_key(const Part &part) const { return staging ? staging->by_key(*this, part) : part(*this); }
Expr ScorePoint::by_distance(const std::function<Expr(const Expr &)> &part) const {
    return staging ? staging->by_distance(*this, part) : part(k_position - q_position);
}
Expr ScorePoint::along_keys(const Part &part) const { return staging ? staging->along_keys(*this, part) : part(*this); }

namespace attention {
namespace {

/// Where row i and key j of the task stand. What is left out stays undefined, so that Halide refuses its use by name.
ScorePoint without_score(const ScorePoint &origin, const Expr *i, const Expr *j) {
    ScorePoint p = origin;
    p.q_index = i ? origin.q_index + *i : Expr();
    p.q_position = i ? origin.q_position + *i : Expr();
    p.k_index = j ? origin.k_index + *j : Expr();
    p.k_position = j ? origin.k_position + *j : Expr();
    return p;
}

/// Keeps each part as a Func of its own, which the score function's stage then reads.
class KeepParts : public ScorePoint::Staging {
public:
    KeepParts(Stages &s, const ScorePoint &origin, const Expr &block_key)
        : s(s), parts(s.score_parts), origin(origin), block_key(block_key), row(s.t * s.sizes.row_tile + s.r) {}

    Expr by_query(const ScorePoint &, const ScorePoint::Part &part) override {
        Func f = named("score_by_query", parts.by_query);
        f(s.r, s.t) = part(without_score(origin, &row, nullptr));
        return f(s.r, s.t);
    }

    Expr by_key(const ScorePoint &, const ScorePoint::Part &part) override {
        Func f = named("score_by_key", parts.by_key);
        const Expr key = s.b * s.sizes.key_block + s.j;
        f(s.j, s.b) = part(without_score(origin, nullptr, &key));
        return f(block_key, s.b);
    }

    // Rows run along the lanes, so distances are kept by row minus key: neighbouring lanes are neighbours in memory.
    Expr by_distance(const ScorePoint &, const std::function<Expr(const Expr &)> &part) override {
        Func f = named("score_by_distance", parts.by_distance);
        const int last = s.sizes.key_block - 1;
        f(s.x, s.b) = part(origin.k_position - origin.q_position + s.b * s.sizes.key_block + last - s.x);
        return f(row - block_key + last, s.b);
    }

    Expr along_keys(const ScorePoint &, const ScorePoint::Part &part) override {
        Func f = named("score_rows", parts.rows);
        const Expr key = s.b * s.sizes.key_block + s.j;
        f(s.j, s.r, s.t, s.b) = part(without_score(origin, &row, &key));
        parts.lanes.push_back(transpose(f, s.sizes.lanes, f.name() + "_lanes"));
        return parts.lanes.back().out(s.r, block_key, s.t, s.b);
    }

private:
    Stages &s;
    ScoreParts &parts;
    const ScorePoint origin;
    const Expr block_key; // of the stage: key within its block
    const Expr row;

    static Func named(const std::string &name, std::vector<Func> &list) {
        list.emplace_back(name + "_" + std::to_string(list.size()));
        return list.back();
    }
};

} // namespace

void define_score(Stages &s, const Inputs &in, const Expr &tile_last_key) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b;
    RDom scored(0, z.key_block, "scored");
    scored.where(b * z.key_block + scored <= tile_last_key);
    s.score_j = scored;
    s.score_update = s.masked.num_update_definitions();

    KeepParts staging(s, in.score_origin, scored);
    const Expr row = t * z.row_tile + r, key = b * z.key_block + scored;
    ScorePoint p = without_score(in.score_origin, &row, &key);
    p.score = s.masked(r, scored, t, b) * ln_2;
    p.staging = &staging;
    const Expr value = in.score(p) * log2_e;
    // strict_float: a table may hold -inf, which the compiler is otherwise told not to expect.
    s.masked(r, scored, t, b) = select(strict_float(value < masked_score), masked_score, value);
}

} // namespace attention
} // namespace gyre
