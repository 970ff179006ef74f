/// Few rows with keys along the lanes.
///
/// Vectors hold neighbouring features in both products, as keys and values are stored, and neighbouring keys between them: a
/// score is the sum across the lanes of a vector of products, and key_lanes of these vectors are transposed at once. A
/// row's softmax, its bias and its mask are then along the keys, as they lie in memory, so that one row is no less work a row than
/// several.
#pragma once
#include "attention/engines/folded/feature_vectors.h"
#include "math/bf16_pairs.h"
#include "stages.h"

#include <set>
#include <string>
#include <utility>

namespace gyre::attention {

/// feature_chunk neighbouring vectors stand in the elements of the state's tuple, the next ones behind them.
class GroupsOfVectors : public FeaturesAlongLanes {
public:
    explicit GroupsOfVectors(int lanes) : lanes(lanes) {}
    Halide::Expr feature(const Sizes &z, int c, const Halide::Expr &e) const override;
    Halide::Expr tuple(const Sizes &z, const Halide::Expr &d) const override;
    Halide::Expr place(const Sizes &z, const Halide::Expr &d) const override;

private:
    const int lanes;
};

/// Tuples hold weighted values in the order of PairsOfVectors; results are features.
class GroupsOfPairs : public GroupsOfVectors {
public:
    explicit GroupsOfPairs(int lanes) : GroupsOfVectors(lanes), pairs{lanes} {}
    Halide::Expr tuple(const Sizes &z, const Halide::Expr &d) const override;
    Halide::Expr place(const Sizes &z, const Halide::Expr &d) const override;

private:
    const PairsOfVectors pairs;
};

class KeyLanes : public FeatureVectors {
public:
    struct Facts {
        bool asks_ahead;           // the machine gains by asking for the lines of keys and values ahead
        bool one_row_reads_values; // a row alone asks for keys only, and of several each for a share of the values
        bool asks_for_own_lines;   // of values: a processor reads less ahead of loads of whole lines
        bool rows_ask; // it gains so where several rows compute on a key, and there alone: each asks for a share
        bool in_pairs; // of bf16 numbers: a vector of pairs is one load, and widened by an operation for each half
        bool own_keys; // rows of a task may have keys of their own, which are few: none are asked for
        bool transposes_keys;    // rows of a tile multiply vectors of keys: folded_scores are (j, r, t, b)
        bool in_columns;         // keys of f32 are, and rows of a tile end with the last: key_columns.cpp
        bool spreads;            // keys and values are read from several places of a block in turn: spread_keys.cpp
        bool narrow_keys_inside; // a turn of the loop over features takes all keys of a step where these are 4, too
    };
    KeyLanes(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, const Facts &facts)
        : FeatureVectors(std::move(provider), knobs), groups(knobs.lanes), pair_groups(knobs.lanes), pairs{knobs.lanes},
          facts(facts) {
        s.sizes = sizes;
        choose_sizes();
    }
    KeyLaneStages &stages() override { return s; }
    const StateLayout &layout() const override {
        return facts.in_pairs ? static_cast<const StateLayout &>(pair_groups) : groups;
    }
    OperandForm operand_form() const override {
        OperandForm form;
        form.one_page_apart = true;
        form.as_bits = facts.in_pairs;
        form.own_keys = facts.own_keys;
        form.unwidened_keys = facts.transposes_keys && !facts.in_columns;
        return form;
    }
    KeySteps steps() const override {
        KeySteps steps;
        steps.scored = facts.transposes_keys ? k.key_unroll : k.lanes;
        steps.in_vector = k.lanes;
        steps.of_task = true;
        steps.from_first = true;
        if (spreads()) steps.key_of_place = [this](const Halide::Expr &place) { return key_of_place(place); };
        return steps;
    }
    void define_queries(const Inputs &in) override;
    void define_scores(const Inputs &in) override {
        facts.transposes_keys ? define_transposed_scores(in) : define_scores_across_lanes(in);
    }
    void define_maximum(const Visible &visible) override;
    void schedule() override;
    void lower(const Lowering &lowering) const override;
    bool pads_queries() const override { return false; }
    bool begins_with_block() const override { return facts.in_columns; }
    bool may_see_no_block() const override { return facts.in_columns; }
    int least_head_dim() const override { return s.sizes.padded ? k.lanes : 0; }

protected:
    void define_kept_weights(const Inputs &in, const Visible &visible) override;
    void define_sum(const Visible &visible) override;
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    int guard_vector() override { return k.lanes; }
    SumsInTurn sums_in_turn() const override {
        SumsInTurn sums{value_keys, keys_at_once()};
        if (spreads())
            sums.key_of_turn = [this](const Halide::Expr &group, const Halide::Expr &turn) {
                return key_of_turn(group, turn);
            };
        return sums;
    }
    bool looks_by_flag() const override { return true; }
    Halide::Expr hides_keys(const Inputs &in, const Visible &visible) override;

private:
    const GroupsOfVectors groups;
    const GroupsOfPairs pair_groups;
    const PairsOfVectors pairs;
    const Facts facts;
    int keys_at_once() const { return s.sizes.padded ? 1 : keys_at_once_of(value_features / k.lanes); }
    int value_features = 0; // of a weighted value that are in registers together
    KeyLaneStages s;
    Halide::Expr k_features, v_features;                      // of the call
    std::set<std::pair<std::string, std::string>> row_groups; // loops over them, of register tiles
    Halide::Expr rows_alike;  // values lie as keys do, so that one table of offsets is that of both
    Halide::Expr keys_spread; // of block s.b
    std::function<Halide::Expr(const Halide::Expr &group)> values_spread; // of group `group` of block s.b

    void choose_sizes(); // feature_chunk and value_features
    void define_spread(const Inputs &in);
    bool spreads() const; // a step is the keys of one turn, and values are taken one by one
    static Halide::Expr gains_by_places(const Halide::Expr &features);
    bool spreads_values(int vectors) const;  // of neighbouring vectors of features that are added together
    std::vector<int> rows_of_places() const; // in vectors: padded kernels take a value of so many in one turn
    void schedule_spread_keys(Halide::Stage formed);
    Halide::Expr key_of_place(const Halide::Expr &place) const;
    Halide::Expr key_of_turn(const Halide::Expr &group, const Halide::Expr &turn) const;
    void check() const;
    bool has_code_for_each_key() const;
    bool takes_keys_inside() const; // of a step, in a turn of the loop over features
    void ask_for_keys_and_values(const Lowering &lowering) const;
    void share_requests(const Lowering &lowering) const;
    void end_tables_early(const Lowering &lowering) const;
    void add_values(const Inputs &in, const Visible &visible, int vectors, const Halide::Expr &chunks,
                    const Halide::Expr &first_chunk, const Halide::Expr &where);
    void schedule_rows();
    void schedule_state();
    void schedule_scores();
    void schedule_weights();
    void schedule_values();
    void schedule_results();
    void define_scores_across_lanes(const Inputs &in);
    void schedule_scores_across_lanes();
    void define_transposed_keys();
    void define_transposed_scores(const Inputs &in);
    void schedule_transposed_scores();
    void schedule_key_rounds();
    void define_key_columns(const Inputs &in);
    void schedule_key_columns();
    Halide::Expr place_of_feature(const Inputs &in, const Halide::Expr &feature) const; // in key_columns
    void unroll_rows(Halide::Stage stage, const Halide::Func &of, const Halide::Var &row);
    void end_last_tile(const Lowering &lowering) const;
    void ask_for_next_columns(const Lowering &lowering) const;
    int keys_asked_ahead() const; // of those that are transposed
    void ask_for_next_steps(const Lowering &lowering) const;
    Halide::Func sum_across_lanes();
    /// Vectors of features that are read together: 2 if they are of pairs.
    int vectors_together() const { return facts.in_pairs ? 2 : 1; }
    /// Number `which` of the pair in lane `lane` of the features of a row, (d, j, b) as bits, from place `first` on.
    Halide::Expr of_pair(const Halide::Func &rows, const Halide::Expr &first, const Halide::Expr &lane,
                         const Halide::Expr &which, const Halide::Expr &key) const;
};

} // namespace gyre::attention
