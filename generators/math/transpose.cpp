#include "transpose.h"

#include "lane_rounds.h"

namespace gyre {
using namespace Halide;
namespace {

/// Lanes of which these rounds take less time than perfect shuffles of vectors: of 8 such a shuffle is two instructions, or one that stores 16, and of several of
/// them the compiler makes more; of 16 it is one. bench/notes has the measurements.
constexpr int lanes_of_rounds = 8;

/// An index, and after it the dimensions that a transposition leaves as they are.
std::vector<Expr> join(std::vector<Expr> index, const std::vector<Var> &more) {
    index.insert(index.end(), more.begin(), more.end());
    return index;
}

/// A round tells twice as many columns apart as the one before, in half as many vectors of rows.
void define_rounds_of_lanes(Transpose *t, const Func &in, const std::string &name, const std::vector<Var> &more) {
    const int n = t->n;
    const Var lane("lane"), column("column"), vector("vector"), rb("rb"), cb("cb"), r("out_r"), c("out_c");
    std::vector<Var> args{lane, column, vector, rb, cb}, out_args{r, c};
    for (std::vector<Var> *each : {&args, &out_args}) each->insert(each->end(), more.begin(), more.end());
    for (int pairs = n / 2; pairs >= 1; pairs /= 2) {
        const LaneOfVector before = [&](const Expr &l, const Expr &v) -> Expr {
            if (t->rounds.empty()) return in(join({cb * n + l, rb * n + v}, more));
            return t->rounds.back()(join({l, column / 2, v, rb, cb}, more));
        };
        Func round(name + "_round" + std::to_string(t->rounds.size()));
        round(args) = lane_of_round(before, n, pairs, lane, vector, column % 2);
        t->rounds.push_back(round);
    }
    t->out(out_args) = t->rounds.back()(join({r % n, c % n, 0, r / n, c / n}, more));
}

} // namespace

Transpose transpose(const Func &in, int n, const std::string &name, bool has_lane_rounds, bool from_memory) {
    Transpose t;
    t.n = n;
    t.out = Func(name);
    const std::vector<Var> dims = in.args();
    const std::vector<Var> more(dims.begin() + 2, dims.end());

    t.in_lane_rounds = has_lane_rounds && (from_memory || n == lanes_of_rounds);
    if (t.in_lane_rounds) {
        define_rounds_of_lanes(&t, in, name, more);
        return t;
    }
    // Element (row, column) of block (rb, cb) is stored at bit + 2 (column + n row / 2) of the pairs that a shuffle
    // makes.
    Var bit("bit"), column("column"), pair("pair"), rb("rb"), cb("cb");
    std::vector<Var> args{bit, column, pair, rb, cb};
    args.insert(args.end(), more.begin(), more.end());
    const auto element = [&](const Expr &c, const Expr &r, const Expr &row_block, const Expr &column_block) -> Expr {
        if (t.rounds.empty()) return in(join({column_block * n + c, row_block * n + r}, more));
        return t.rounds.back()(join({c % 2, c / 2 + n / 2 * (r % 2), r / 2, row_block, column_block}, more));
    };
    for (int size = n; size > 1; size /= 2) {
        Func round(name + "_round" + std::to_string(t.rounds.size()));
        round(args) = element(column, pair + n / 2 * bit, rb, cb);
        t.rounds.push_back(round);
    }
    // After the last round, row and column of a block have changed places.
    const Var r("out_r"), c("out_c"); // beside any names of the other dimensions
    std::vector<Var> out_args{r, c};
    out_args.insert(out_args.end(), more.begin(), more.end());
    t.out(out_args) = element(r % n, c % n, r / n, c / n);
    return t;
}

void schedule_transpose(Transpose &t, const LoopLevel &at) {
    int columns = 1;
    for (Func &round : t.rounds) {
        const std::vector<Var> args = round.args(); // bit, column, pair, … or lane, column, vector, …
        round.compute_at(at);
        if (t.in_lane_rounds) {
            columns *= 2;
            round.bound(args[0], 0, t.n).bound(args[1], 0, columns).bound(args[2], 0, t.n / columns);
            round.vectorize(args[0], t.n).unroll(args[1]).unroll(args[2]);
        } else {
            round.bound(args[0], 0, 2).bound(args[1], 0, t.n).bound(args[2], 0, t.n / 2);
            round.unroll(args[0]).vectorize(args[1], t.n).unroll(args[2]);
        }
    }
}

} // namespace gyre
