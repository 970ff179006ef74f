/// The innermost loops over the vectors of a row tile.
#pragma once
#include <Halide.h>

#include <set>
#include <string>
#include <utility>

namespace gyre::attention {

class RowLoops {
public:
    /// `to_last`: of a last row tile that is short they end with its last vector (passes/order/short_tiles.h).
    RowLoops(bool to_last, int lanes) : to_last(to_last), lanes(lanes) {}

    /// Vectors along `row`, unrolled. The result is the stage.
    Halide::Stage over(Halide::Stage stage, const Halide::Func &of, const Halide::Var &row) {
        stage.vectorize(row, lanes);
        unroll(stage, of, row);
        return stage;
    }
    /// Unrolls a loop over vectors.
    void unroll(Halide::Stage &stage, const Halide::Func &of, const Halide::VarOrRVar &vector) {
        if (to_last)
            names.emplace(of.name(), vector.name());
        else
            stage.unroll(vector);
    }

    const bool to_last;
    std::set<std::pair<std::string, std::string>> names; // of those that are left to the pass

private:
    const int lanes;
};

} // namespace gyre::attention
