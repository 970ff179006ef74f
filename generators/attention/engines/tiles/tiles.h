/// Both products on matrix tiles of bf16. Rows of the scores are keys and columns are queries, so keys are taken as they are stored,
/// and the softmax stays a matter of whole vectors of queries; values are transposed.
#pragma once
#include "attention/engines/knobs.h"
#include "attention/engines/recurrence_engine.h"
#include "attention/recurrence/task_schedule.h"
#include "stages.h"

namespace gyre::attention {

class Tiles : public RecurrenceEngine {
public:
    struct Facts {
        int terms;            // bf16 numbers that a number is the sum of
        int dense_features;   // of q and k as stored; 0: read at run time
        bool may_be_bounded;  // row tiles with small scores do without a maximum: bound.cpp
        bool sum_with_values; // the weights' sum is one more feature of the weighted values
        bool counts_features; // loops of a padded kernel end with the call's features
        bool weighs_rows; // few rows: weights are the left operand, and values are interleaved in pairs, not transposed
        bool in_place;    // values are read where they are, and so are keys of whole blocks that are not in pages
    };
    Tiles(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, const Facts &facts)
        : RecurrenceEngine(std::move(provider)), k(knobs), facts(facts), bounded(facts.may_be_bounded) {
        s.sizes = sizes;
    }
    /// True if the tile registers hold the accumulators of all features of a register tile's queries and of their sum.
    static bool holds_whole_head(int v_head_dim, int row_vectors);

    TileStages &stages() override { return s; }
    OperandForm operand_form() const override { return {facts.terms == 1}; }
    KeySteps steps() const override;
    bool begins_with_block() const override { return true; }
    bool begins_behind_branch() const override { return false; } // which would double the code
    bool may_see_no_block() const override { return true; }
    bool rounds_queries() const override { return facts.terms == 1; }
    Halide::Expr query_factor(const Inputs &in) const override;
    Bf16 rounding() const override { return Bf16::by_instruction; }
    bool counts_features() const override { return facts.counts_features; }
    bool changes_scores() const override { return bounded; }
    Visible visible(const Inputs &in) const override;
    Halide::Expr general_unit(const Inputs &in) const override;
    bool takes_bias_in_pairs() const override { return facts.terms == 1; }
    Halide::Expr in_log2(const Inputs &in, const Halide::Expr &score) const override;
    void define_queries(const Inputs &in) override;
    void fold(const Inputs &in) override;
    void define_operands(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void define_maximum(const Visible &visible) override;
    void define_weighted_values(const Inputs &in, const Visible &visible) override;
    Rescaling rescaling(const Inputs &in, const Halide::Expr &maximum, const Halide::Expr &block) const override;
    void mend_results(const Inputs &in) override;
    void schedule() override;
    void lower(const Lowering &lowering) const override;
    Precision precision() const override;
    bool may_be_bounded() const override { return facts.may_be_bounded; }

private:
    const Knobs k;
    const Facts facts;
    bool bounded; // of the row tiles that these stages fold, scores are so small that no maximum is subtracted
    const Halide::Var score_tile{"score_tile"}, packed_tile{"jo"}; // loops over tiles of scores, and of packed values
    TileStages s;
    /// The stages of row tiles that are not bounded, where some may be: all that belongs to blocks. Queries and state are the same Funcs.
    std::shared_ptr<Tiles> exact;
    Halide::Expr pages; // in which keys are

    // products.cpp
    void pack_keys_and_values();
    Halide::Expr has_keys_in_place(const Halide::Expr &block, const Halide::Expr &keys) const;
    void define_scores_in_place(const Inputs &in);
    void copy_values(const Inputs &in);
    void define_weights(const Inputs &in, const Visible &visible);
    void define_bounded_weights(const Inputs &in, const Visible &visible);
    Halide::Expr stored_value(const Halide::Func &values, const Halide::Expr &key, const Halide::Expr &feature) const;
    Halide::Expr packed_value(const Halide::Expr &key, const Halide::Expr &step, const Halide::Expr &feature,
                              const Halide::Expr &term) const;
    /// The weights' sum is formed by vectors beside the weighted values.
    bool sums_columns() const { return bounded && facts.sum_with_values; }
    /// The weights' sum is a product with a tile of ones.
    bool has_ones() const { return bounded && !facts.sum_with_values; }

    // guard.cpp
    int scanned_lanes() const;
    void define_cleaned(const Inputs &in);
    void schedule_cleaned();

    // marks.cpp
    void define_marks(const Inputs &in);
    void schedule_marks(int lanes);

    // bound.cpp
    void define_bound(const Inputs &in);
    void define_counted_squares(const Inputs &in);
    void schedule_bound(int lanes);

    // changed_scores.cpp
    Halide::Expr score_limit(const Inputs &in) const;
    Halide::Expr power_raise(const Inputs &in) const;
    Halide::Expr has_small_distances(const Inputs &in) const;
    void define_changes(const Inputs &in);
    void schedule_changes();
    Halide::Expr score_in_units(const Inputs &in, const Halide::Expr &step, const Halide::Expr &key, int which) const;

    // limits.cpp
    void check() const;

    /// Where the accumulators of a whole head fit the tile registers, a step's weights are formed right before the product that takes them.
    bool weighs_by_step() const { return facts.sum_with_values && !s.v_copied.defined(); }

    // schedule.cpp
    void schedule_blocks(const TaskLoops &task, int update);

    // scores_schedule.cpp
    void schedule_scores(const Halide::LoopLevel &at);
    void schedule_powers(const Halide::LoopLevel &at);

    // weights_schedule.cpp
    void schedule_weights(const Halide::LoopLevel &at);
    void schedule_weight_rows(const Halide::LoopLevel &at);
    void schedule_weighted_values(const TaskLoops &task);

    // operands_schedule.cpp
    void schedule_packed_operands(int lanes);
    void schedule_stored_operands();

    // lowering.cpp
    void end_blocks_early(const Lowering &lowering) const;
    void pipeline(const Lowering &lowering) const;
    void hold_queries(const Lowering &lowering, const Halide::Func &of, const std::string &loop,
                      int accumulators) const;
};

/// The power of two that queries take of the scale's magnitude: 1, unless it is tiny. masked_score times what is left is then so far below
/// other scores that masked keys have no weight, and no quotient by it overflows.
Halide::Expr power_of_queries(const Halide::Expr &scale);

/// The magnitude of the scores' scale that queries, which take its sign and power_of_queries(), leave to scores.
Halide::Expr magnitude_of(const Halide::Expr &scale);

/// A pair of bf16 numbers (bf16_pairs.h) or a single one, as bits: 0 in place of what is not finite.
Halide::Expr finite_pair(const Halide::Expr &pair);
Halide::Expr finite_number(const Halide::Expr &number);

} // namespace gyre::attention
