#include "transpose.h"

namespace gyre {
using namespace Halide;

Transpose transpose(const Func &in, int n, const std::string &name) {
    Transpose t;
    t.n = n;
    t.out = Func(name);
    const std::vector<Var> dims = in.args();
    const std::vector<Var> more(dims.begin() + 2, dims.end());
    const auto with_more = [&](std::vector<Expr> index) {
        index.insert(index.end(), more.begin(), more.end());
        return index;
    };

    // Element (row, column) of block (rb, cb) is stored at bit + 2 (column + n row / 2) of the pairs that a shuffle
    // makes.
    Var bit("bit"), column("column"), pair("pair"), rb("rb"), cb("cb");
    std::vector<Var> args{bit, column, pair, rb, cb};
    args.insert(args.end(), more.begin(), more.end());
    const auto element = [&](const Expr &c, const Expr &r, const Expr &row_block, const Expr &column_block) -> Expr {
        if (t.rounds.empty()) return in(with_more({column_block * n + c, row_block * n + r}));
        return t.rounds.back()(with_more({c % 2, c / 2 + n / 2 * (r % 2), r / 2, row_block, column_block}));
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
    for (Func &round : t.rounds) {
        const std::vector<Var> args = round.args(); // bit, column, pair, …
        round.compute_at(at)
            .bound(args[0], 0, 2)
            .bound(args[1], 0, t.n)
            .bound(args[2], 0, t.n / 2)
            .unroll(args[0])
            .vectorize(args[1], t.n)
            .unroll(args[2]);
    }
}

} // namespace gyre
