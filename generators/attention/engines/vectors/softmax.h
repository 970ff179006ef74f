/// What engines have alike whose softmax is on vectors of f32: weights, their sums, and the guard of values.
#pragma once
#include "attention/engines/recurrence_engine.h"
#include "attention/recurrence/guard.h"

namespace gyre::attention {

struct SoftmaxStages : Stages {
    Halide::Func weights; // (r, j, t, b)  2^(score - block_max); with key_scales also that times the value's
    Halide::RVar weight_j, weight_step;   // of its update, if it is formed in steps
    Halide::RVar feature, sum_j, value_j; // of the reductions: scores, block_sum, weighted values
    Halide::RVar feature_within;          // of scores, inside `feature`: features_of_scores()
};

class SoftmaxEngine : public RecurrenceEngine {
public:
    using RecurrenceEngine::RecurrenceEngine;
    SoftmaxStages &stages() override = 0;
    void define_weighted_values(const Inputs &in, const Visible &visible) final;

protected:
    virtual int weight_step() const { return 0; } // keys whose weights are formed together, as KeySteps::scored
    /// Weights may be formed of no keys before those that some row of the tile sees.
    virtual bool weighs_from_first() const { return false; }
    /// There are none of such keys. Known once weights are defined.
    bool begins_with_seen() const { return from_first; }
    /// 2^difference. `far`: a bias or slopes may make any difference usual.
    virtual Halide::Expr power(const Halide::Expr &difference, bool far) const;
    /// Defines s.dropout from s.weights, where weights are dropped.
    virtual void define_kept_weights(const Inputs &in, const Visible &visible);
    /// Defines s.block_sum.
    virtual void define_sum(const Visible &visible);
    /// Defines s.weighted, and the engine's stages on the way.
    virtual void define_product_of_values(const Inputs &in, const Visible &visible) = 0;
    /// Blocks with values that are not finite are computed again; false: the product takes none that its row does not see.
    virtual bool guards_blocks() const { return !provider->is_finite(); }
    virtual int guard_vector() { return stages().sizes.lanes; } // values that the guard looks at in a vector
    virtual SumsInTurn sums_in_turn() const { return {}; }      // of values, in its product
    virtual bool looks_by_flag() const { return false; }        // as of define_guarded()
    /// True if a bias or a mask may hide keys of block s.b from some row. Known once s.masked is defined.
    virtual Halide::Expr hides_keys(const Inputs &in, const Visible & /*visible*/) {
        return in.has_bias || in.has_mask;
    }

    /// A key's weight for row s.r where weights are summed, and where they multiply values.
    Halide::Expr sum_weight(const Halide::Expr &key);
    Halide::Expr value_weight(const Halide::Expr &key);
    /// Adds the updates of guarded blocks to a product, if blocks are guarded.
    void guard(const Halide::Func &product, const Visible &visible, const ProductPlace &place);
    /// The keys of a block that some row sees.
    Halide::RDom keys_in_sight(const Visible &visible, const std::string &name, int first = 0);

private:
    bool from_first = false;
};

} // namespace gyre::attention
