#include "stage.h"

#include "attention/recurrence/scores.h"

namespace gyre {
using namespace Halide;

namespace {

/// `value` at the wanted distances, else 0.
Expr at_distances(const Expr &distance, const ScorePoint::Distances &wanted, const Expr &value) {
    if (!wanted.lowest.defined() && !wanted.highest.defined()) return value;
    Expr in = Internal::const_true();
    if (wanted.lowest.defined()) in = in && distance >= wanted.lowest;
    if (wanted.highest.defined()) in = in && distance <= wanted.highest;
    return select(in, value, Internal::make_zero(value.type()));
}

} // namespace

// Without a kernel that keeps them, parts are formed where they are asked for.
Expr ScorePoint::by_query(const Part &part) const { return staging ? staging->by_query(part) : part(*this); }
Expr ScorePoint::by_key(const Part &part) const { return staging ? staging->by_key(part) : part(*this); }
Expr ScorePoint::by_distance(const PartOfDistance &part) const {
    return staging ? staging->by_distance(part) : part(k_position - q_position);
}
Expr ScorePoint::along_keys(const Part &part, const Distances &wanted) const {
    return at_distances(k_position - q_position, wanted, staging ? staging->along(true, part, wanted) : part(*this));
}
Expr ScorePoint::along_queries(const Part &part, const Distances &wanted) const {
    return at_distances(k_position - q_position, wanted, staging ? staging->along(false, part, wanted) : part(*this));
}

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
    KeepParts(Stages &s, const ScorePoint &origin, const Expr &block_key, const Expr &tile_last_key)
        : s(s), parts(s.score.parts), origin(origin), block_key(block_key), tile_last_key(tile_last_key) {}

    Expr by_query(const ScorePoint::Part &part) override {
        Func f = named("score_by_query", parts.by_query);
        f(s.r, s.t) = part(without_score(origin, &row, nullptr));
        return f(s.r, s.t);
    }

    Expr by_key(const ScorePoint::Part &part) override {
        Func f = named("score_by_key", parts.by_key);
        const Expr key = first_key + s.j;
        f(s.j, s.b) = part(without_score(origin, nullptr, &key));
        return f(block_key, s.b);
    }

    // Rows run along the lanes, so distances are kept by row minus key: neighbouring lanes are neighbours in memory.
    Expr by_distance(const ScorePoint::PartOfDistance &part) override {
        Func f = named("score_by_distance", parts.by_distance);
        f(s.score.x, s.b) = part(origin.k_position - origin.q_position + first_key + last - s.score.x);
        return f(row - block_key + last, s.b);
    }

    Expr along(bool keys, const ScorePoint::Part &part, const ScorePoint::Distances &wanted) override {
        RDom key(0, s.sizes.key_block, "score_part_key");
        key.where(first_key + key <= tile_last_key);
        // Conditions on the tile and block alone, so that neither rows nor transpositions are formed for others.
        const Expr first_distance = origin.k_position + first_key - (origin.q_position + s.first_row());
        if (wanted.lowest.defined()) key.where(first_distance + last >= wanted.lowest);
        if (wanted.highest.defined()) key.where(first_distance - (s.sizes.row_tile - 1) <= wanted.highest);

        ScoreParts::Along a;
        a.key = key;
        const std::string name = "score_along_" + std::to_string(parts.along.size());
        const Expr row_key = first_key + (keys ? Expr(s.j) : Expr(key));
        const Expr value = part(without_score(origin, &row, &row_key));
        a.kept = Func(name);
        a.kept(s.r, s.j, s.t, s.b) = undef(value.type());
        if (keys) {
            a.rows = Func(name + "_rows");
            a.rows(s.j, s.r, s.t, s.b) = value;
            a.lanes = transpose(a.rows, s.sizes.lanes, name + "_lanes", true);
        }
        a.kept(s.r, key, s.t, s.b) = keys ? Expr(a.lanes.out(s.r, key, s.t, s.b)) : value;
        parts.along.push_back(a);
        return a.kept(s.r, block_key, s.t, s.b);
    }

private:
    Stages &s;
    ScoreParts &parts;
    const ScorePoint origin;
    const Expr block_key, tile_last_key; // of the stage: key within its block, and the last that the row tile sees
    const Expr row = s.first_row() + s.r, first_key = s.b * s.sizes.key_block;
    const int last = s.sizes.key_block - 1;

    static Func named(const std::string &name, std::vector<Func> &list) {
        list.emplace_back(name + "_" + std::to_string(list.size()));
        return list.back();
    }
};

} // namespace

void define_score(Stages &s, const Inputs &in, const Expr &tile_last_key, const Expr &unit) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b;
    RDom scored(0, z.key_block, "scored");
    scored.where(b * z.key_block + scored <= tile_last_key);
    s.score.update = s.masked.num_update_definitions();

    KeepParts staging(s, in.score_origin, scored, tile_last_key);
    const Expr row = s.first_row() + r, key = b * z.key_block + scored;
    ScorePoint p = without_score(in.score_origin, &row, &key);
    p.score = s.masked(r, scored, t, b) * (unit.defined() ? unit * ln_2 : Expr(ln_2));
    p.staging = &staging;
    const Expr value = in.score(p);
    // strict_float: a table may hold -inf, which the compiler is otherwise told not to expect.
    s.masked(r, scored, t, b) = select(strict_float(value <= masked), masked_score, value * log2_e);
}

} // namespace attention
} // namespace gyre
