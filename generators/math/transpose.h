/// Transposition of n x n blocks in registers, n a power of two.
#pragma once
#include <Halide.h>
#include <vector>

namespace gyre {

/// out(r, c, …) = in(c, r, …), block by block.
///
/// A block's address is 2 log2(n) bits, row above column. One perfect shuffle, which interleaves row r with row
/// r + n/2, rotates these bits left by one; after log2(n) of them rows and columns have changed places.
/// Each shuffle reads two dense rows and stores them interleaved: no gathers, n log2(n) shuffle instructions a block. Where n is 8, or rows lie in
/// memory, they may be those of lane_rounds.h.
struct Transpose {
    Halide::Func out; // (r, c, …)
    std::vector<Halide::Func>
        rounds; // (bit, column, row pair, block of r, block of c, …), in_lane_rounds (lane, column, vector, …)
    int n = 0;
    bool in_lane_rounds = false;
};

/// `in` has the two dimensions to swap first and `more` further ones. `has_lane_rounds`: the pipeline has map_lane_rounds(). `from_memory`: rows
/// of `in` are loaded as they lie, and rounds of 16 lanes gain as well.
Transpose transpose(const Halide::Func &in, int n, const std::string &name, bool has_lane_rounds = false,
                    bool from_memory = false);

/// Forms the rounds of a block at a loop of the consumer, while its rows are still in registers and L1.
void schedule_transpose(Transpose &t, const Halide::LoopLevel &at);

} // namespace gyre
