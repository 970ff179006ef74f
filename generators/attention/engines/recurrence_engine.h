/// An engine that the recurrence over blocks of keys asks for its products: how it computes them, and what it takes for them. Rows lie
/// along the lanes of vectors or beside features, and a provider delivers keys and values.
#pragma once
#include "attention/providers/provider.h"
#include "attention/recurrence/state_layout.h"
#include "attention/recurrence/visible.h"
#include "engine.h"
#include "math/storage.h"

#include <functional>
#include <memory>

namespace gyre::attention {

/// The steps in which an engine goes through the keys of a block.
struct KeySteps {
    int together = 1; // keys that products take at once: all of those in which some row sees one are scored and masked
    int scored = 0;   // keys whose scores are formed together, no others of the last block; 0: those of whole blocks
    bool of_task = false;    // of all row tiles; otherwise of each tile
    bool from_first = false; // from the first step on that some row sees; otherwise from the block's begin
    int in_vector = 1;       // keys along the lanes of scores; 1: rows are along the lanes
    int capped = 0;          // keys whose scores are capped in a vector; 0: as in_vector says
    /// The key of block s.b whose score is formed as that of place `place`; none: that of the same number. All of a block's are in some place.
    std::function<Halide::Expr(const Halide::Expr &place)> key_of_place = nullptr;
};

class RecurrenceEngine : public Engine {
public:
    explicit RecurrenceEngine(std::shared_ptr<const Provider> provider) : provider(std::move(provider)) {}

    virtual Stages &stages() = 0;
    const Stages &shared() const { return const_cast<RecurrenceEngine *>(this)->stages(); } // the same, to read

    // What the recurrence and providers of operands must know.
    virtual OperandForm operand_form() const { return {}; }
    virtual KeySteps steps() const { return {}; }
    virtual const StateLayout &layout() const { return rows_along_lanes(); }
    virtual bool counts_features() const { return false; }      // loops of a padded kernel end with the call's features
    virtual bool pads_queries() const { return true; }          // reads features past the call's, which are 0 then
    virtual bool begins_with_block() const { return false; }    // a row tile's first block sets its state
    virtual bool begins_behind_branch() const { return true; }  // and branch_before_loops() follows
    virtual bool may_see_no_block() const { return false; }     // so that there are row tiles whose state no block sets
    virtual bool rounds_queries() const { return false; }       // q_rows hold bf16 numbers as bits, and else f32
    virtual int rotation_lanes() const { return 0; }            // Rotation::lanes of queries and results
    virtual int rotation_turns() const { return 1; }            // Rotation::turns of them
    virtual Bf16 rounding() const { return Bf16::as_integers; } // of results that are stored as bf16
    virtual bool changes_scores() const { return false; }       // a cap or a slope is a part of its weights
    /// The keys that rows see, of those that the fold takes.
    virtual Visible visible(const Inputs &in) const { return visible_keys(in, shared()); }
    /// What the products' scores have yet to be multiplied by where the general family changes them; undefined: 1.
    virtual Halide::Expr general_unit(const Inputs &) const { return {}; }
    /// A bf16 bias is taken in pairs of keys: rows are along lanes, and lower() maps pairs of neighbours.
    virtual bool takes_bias_in_pairs() const { return false; }
    /// A score, or a difference of scores, as the engine has it, in units of log2(e).
    virtual Halide::Expr in_log2(const Inputs &, const Halide::Expr &score) const { return score; }

    // WHAT is computed, in the order in which the recurrence asks. No scheduling call may appear in these.
    /// What q_rows are multiplied by; undefined: 1.
    virtual Halide::Expr query_factor(const Inputs &) const { return {}; }
    /// Defines what the first product takes, from s.q_rows, and what else is found once a task.
    virtual void define_queries(const Inputs &in) = 0;
    /// Appends the fold over all blocks to s.state: fold_blocks(), once or more often.
    virtual void fold(const Inputs &in);
    /// Defines what the products take, from the provider's rows.
    virtual void define_operands(const Inputs &) {}
    virtual void define_scores(const Inputs &in) = 0;
    /// Masks s.masked, and defines s.block_max.
    virtual void define_maximum(const Visible &visible);
    /// Keys whose maximum is found together before it joins that of the others. Divides the keys of a step.
    virtual int keys_of_maximum() const { return 1; }
    /// Defines s.block_sum and s.weighted. Keys after the last visible one have no weight.
    virtual void define_weighted_values(const Inputs &in, const Visible &visible) = 0;
    /// What block `block` does to a row of the state whose maximum so far is `maximum`.
    virtual Rescaling rescaling(const Inputs &in, const Halide::Expr &maximum, const Halide::Expr &block) const;
    /// Appends to s.out_copy what products could not take.
    virtual void mend_results(const Inputs &) {}

    // What the runtime and tests must know beside what all engines tell.
    Tiling tiling() const override;
    virtual bool may_be_bounded() const { return false; } // scores may be so small that no maximum is subtracted
    virtual int least_head_dim() const { return 0; }      // of tensors

    const std::shared_ptr<const Provider> provider;
};

} // namespace gyre::attention
