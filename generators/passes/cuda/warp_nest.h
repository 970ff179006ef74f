/// A warp's loop nest over one tile of a matrix, as a schedule leaves it: what it stores, and along which loops.
///
/// Loops are told by their names: tiles of 16 rows and 8 columns, products of 16 along the depth.
#pragma once
#include <Halide.h>

#include <string>
#include <vector>

namespace gyre::cuda {

constexpr char row_loop[] = "mma_m", column_loop[] = "mma_n", depth_loop[] = "mma_k";
constexpr char row_tiles_loop[] = "mma_row_tiles"; // over the tiles along rows that one warp has, if several
constexpr int tile_rows = 16, tile_columns = 8, tile_depth = 16;

constexpr int warp_lanes = 32;
constexpr int copied_bytes =
    16; // by one asynchronous copy; rows are padded by as much, so that those of a tile begin in different banks
constexpr int copied_word = 4; // bytes of a number by itself, into a ring

/// What Halide calls the indices of a block's threads: lanes of a warp, and warps.
constexpr char lane_index[] = ".thread_id_x", warp_index[] = ".thread_id_y";

struct WarpStore {
    std::string array;
    Halide::Expr index, value;
};

struct WarpLoop {
    std::string name;
    int extent;
};

struct WarpNest {
    std::string name;               // of its outermost loop
    std::string row, column, depth; // loop variables; "": there is no such loop
    WarpLoop row_tiles{"", 1};      // of a warp
    std::vector<WarpLoop> others;   // outermost first
    std::vector<WarpStore> stores;  // in order; with everything that lets stand for
    Halide::Expr condition;         // under which it runs, the same for a whole warp; undefined: always

    /// Stops the build, with the name of the nest.
    [[noreturn]] void refuse(const std::string &what) const;
    void require(bool condition, const std::string &what) const {
        if (!condition) refuse(what);
    }
};

/// True if a loop over rows of a tile is in it.
bool has_warp_tile(const Halide::Internal::Stmt &s);

/// Takes the conjunct "the first lane" out of a condition, which marks what a schedule gives to a warp as a whole.
/// `rest`: the others; undefined: there are none.
bool is_for_warp(const Halide::Expr &condition, Halide::Expr *rest);

/// A condition without "the first thread"; undefined: nothing else was in it.
Halide::Expr for_all_threads(const Halide::Expr &condition);

/// What the outermost loop of a nest is read as; what no tile can be is an error with the loop's name.
WarpNest read_warp_nest(const Halide::Internal::For *loop);

/// Every nest of a kernel.
std::vector<WarpNest> find_warp_nests(const Halide::Internal::Stmt &kernel);

/// The statement with what lets stand for in place, but for what is read from memory.
Halide::Internal::Stmt without_lets(const Halide::Internal::Stmt &s);

/// The same, and with what is read from memory in place, too.
Halide::Internal::Stmt without_any_lets(const Halide::Internal::Stmt &s);

/// The expression with what all its lets stand for in place.
Halide::Expr without_lets(const Halide::Expr &e);

} // namespace gyre::cuda
