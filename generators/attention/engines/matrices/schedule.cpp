// The two products on matrices of bf16 in vector registers (passes/instructions/bf16_matrices.h).
#include "matrices.h"
#include "passes/instructions/bf16_matrices.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int vector_bf16 = 8; // elements of a register

/// Matrices in memory: rows of them in one store each.
Func store_matrices(Func matrices, const MatrixStages &s) {
    return matrices.bound(s.f, 0, matrix_depth).bound(s.y, 0, matrix_rows).vectorize(s.f).unroll(s.y);
}

/// A register tile of sums, one vector a pair of queries and a pair of the other dimension; a step of it takes one matrix
/// of each pair.
void schedule_sums(Func sums, const MatrixStages &s, const RVar &place, const RVar &step, const LoopLevel &at) {
    sums.compute_at(at)
        .store_in(MemoryType::Stack)
        .bound(s.lane, 0, matrix_lanes)
        .bound_storage(s.b, 1)
        .vectorize(s.lane)
        .unroll(s.p)
        .unroll(s.g);
    sums.update()
        .rename(s.lane, Var(matrix_lane_loop))
        .rename(place, RVar(matrix_depth_loop))
        .reorder(RVar(matrix_depth_loop), Var(matrix_lane_loop), s.p, s.g, step)
        .unroll(s.p)
        .unroll(s.g);
}

} // namespace

void Matrices::check() const {
    RowVectors::check();
    const Sizes &z = s.sizes;
    const auto multiple = [](const char *name, int value, int divisor) {
        _halide_user_assert(value % divisor == 0)
            << name << " is " << value << ", expected a multiple of " << divisor << ", for matrices of bf16\n";
    };
    multiple("head_dim", z.head_dim, vector_bf16);
    multiple("key_block", z.key_block, matrix_depth);
    multiple("key_unroll", k.key_unroll, matrix_rows);
    multiple("feature_chunk", z.feature_chunk, matrix_rows);
    _halide_user_assert(z.lanes == matrix_lanes) << "lanes is " << z.lanes << ", expected " << matrix_lanes << "\n";
    _halide_user_assert(k.key_vector == 1 && k.fold == 0)
        << "key_vector is " << k.key_vector << " and fold " << k.fold << ", expected 1 and 0, for matrices of bf16\n";
}

void Matrices::schedule_queries() {
    store_matrices(s.q_matrices, s)
        .compute_root()
        .bound_storage(s.t, s.sizes.task_tiles)
        .bound(s.p, 0, s.sizes.row_tile / matrix_rows);
    s.q_rows.compute_at(s.q_matrices, s.p);
    schedule_rotated_rows(s.q_rows, s.q_rotated, s.sizes.lanes);
}

void Matrices::schedule_products(const Levels &at) {
    const Sizes &z = s.sizes;
    Var po("po"), pi("pi");
    store_matrices(s.k_matrices, s)
        .compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound(s.c, 0, z.head_dim / matrix_depth)
        .bound(s.p, 0, z.key_block / matrix_rows);
    store_matrices(s.v_matrices, s)
        .compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound(s.c, 0, z.key_block / matrix_depth)
        .bound(s.p, 0, z.v_head_dim / matrix_rows)
        .split(s.p, po, pi, vector_bf16 / matrix_rows)
        .reorder(s.f, s.y, pi, po, s.c)
        .unroll(pi);
    store_matrices(s.weight_matrices, s)
        .compute_at(at.weights)
        .bound_storage(s.b, 1)
        .bound_storage(s.t, 1)
        .bound(s.c, 0, z.key_block / matrix_depth)
        .bound(s.p, 0, z.row_tile / matrix_rows)
        .split(s.p, po, pi, matrix_lanes / matrix_rows)
        .reorder(s.f, s.y, pi, s.c, po)
        .unroll(pi);
    schedule_sums(s.score_sums, s, s.feature_place, s.feature, at.scores);
    schedule_sums(s.weighted_sums, s, s.value_place, s.value_j, at.values);
    if (s.guarded.defined()) schedule_seen_sums();
}

/// Two sums at a time, one for each row of a pair: blocks are seldom guarded, so that code is to be small.
void Matrices::schedule_seen_sums() {
    s.weighted_sums.update(1).rename(s.g, s.seen_g).reorder(s.lane, s.p, s.seen_g, s.guarded_turn).vectorize(s.lane);
    s.seen_sums.compute_at(s.weighted_sums, s.p)
        .store_in(MemoryType::Stack)
        .bound(s.lane, 0, matrix_lanes)
        .bound(s.own, 0, matrix_rows)
        .vectorize(s.lane)
        .unroll(s.own);
    s.seen_sums.update()
        .rename(s.lane, Var(matrix_lane_loop))
        .rename(s.seen_place, RVar(matrix_depth_loop))
        .reorder(RVar(matrix_depth_loop), Var(matrix_lane_loop), s.own, s.seen_j)
        .unroll(s.own)
        .never_partition_all();
    store_matrices(s.seen_values, s).compute_at(s.seen_sums, s.seen_j).bound(s.own, 0, matrix_rows).unroll(s.own);
}

} // namespace gyre::attention
