/// What engines have alike whose rows run along the lanes of vectors: what is rotated and packed, and the loops around the products.
#pragma once
#include "attention/engines/knobs.h"
#include "attention/recurrence/task_schedule.h"
#include "row_loops.h"
#include "softmax.h"

#include <functional>
#include <string>
#include <vector>

namespace gyre::attention {

class RowVectors : public SoftmaxEngine {
public:
    /// `to_last`: of a last row tile that is short no more is computed than vectors with a row.
    RowVectors(std::shared_ptr<const Provider> provider, const Knobs &knobs, bool to_last = false)
        : SoftmaxEngine(std::move(provider)), k(knobs), rows(to_last && knobs.row_vectors > 1 && knobs.row_tiles == 1,
                                                             knobs.fold > 0 ? knobs.lanes / knobs.fold : knobs.lanes) {
    } // rows of a vector
    void schedule() final;
    void lower(const Lowering &lowering) const override;
    bool counts_features() const override { return true; }

protected:
    /// Where a product's stages are computed: a register tile of the scores, all weights of a row tile, and a register tile of the
    /// weighted values.
    struct Levels {
        Halide::LoopLevel scores, weights, values;
    };

    virtual void check() const;
    virtual void schedule_queries() = 0;
    virtual void schedule_products(const Levels &at) = 0;
    virtual bool stores_weights() const { return true; }
    /// A row's maximum and sum are stored once; otherwise with each chunk of its features.
    virtual bool sums_once() const { return false; }
    /// Keys whose scores stand beside each other in a vector that is stored: above 1 where vectors of rows are whole row tiles.
    virtual int keys_in_vector() const { return 1; }
    bool weighs_from_first() const override { return steps().from_first; }

    /// What is formed of the keys or values of a block, once a task: `keys` in each turn of loop `loop`.
    struct Packed {
        Halide::Func rows;
        Halide::Var loop;
        int keys;
    };
    virtual std::vector<Packed> packed() const;

    /// Steps of `scored` keys, those alone in which some row of a tile sees a key, whose products take `together`.
    static KeySteps steps_of_row_tile(int scored, int together = 1) {
        KeySteps steps;
        steps.together = together;
        steps.scored = scored;
        steps.from_first = true;
        return steps;
    }

    /// Ends the loop over vectors of what define_queries() defines, in loop `tile`.
    using VectorsOf = std::function<Halide::Expr(const Halide::Expr &tile)>;
    virtual void end_queries_early(const Lowering &, const std::string & /*tile*/, const VectorsOf &) const {}

    const Knobs k;
    RowLoops rows;
    const Halide::Var score_tile{"jo"}; // the loop over register tiles of scores

private:
    void end_last_tile(const Lowering &lowering) const;
    std::string of_state(int element) const;
    void sum_once(const Lowering &lowering) const;
    void rescale_once(const Lowering &lowering) const;
};

/// Asserts that a tile divides what it tiles: else it would read and write past storage whose size is a promise.
void check_divides(const char *part_name, int part, const char *whole_name, int whole);

/// Reads elements that neighbour along `along` as vectors before each turn of `step`; their lanes multiply.
Halide::Func read_as_vectors(Halide::Func elements, const Halide::Func &product, const Halide::RVar &step,
                             const Halide::Var &along, int lanes);

/// Defines s.feature, the loop of a register tile of scores over `count` features, of which it takes `together` at once. Where their number
/// is known at run time alone, these are a loop of their own, s.feature_within: a loop of unknown length is not split without a tail.
Halide::Expr features_of_scores(SoftmaxStages &s, const Halide::Expr &count, int together);

/// Schedules the loops of a register tile of scores, `tile`, inside the loop over features.
void schedule_features(SoftmaxStages &s, Halide::Func product, std::vector<Halide::VarOrRVar> tile, int key_vector);

} // namespace gyre::attention
