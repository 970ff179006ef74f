/// Keys and values that matrix tiles take where they are: values in blocks of tile_depth keys.
#pragma once
#include "provider.h"

namespace gyre::attention {

/// A cache with values in blocks.
class ValueBlocks : public Provider {
public:
    void define(Stages &s, const Inputs &in, const OperandForm &form) const override;
    Halide::Expr stored_value(const Inputs &in, const Halide::Expr &key, const Halide::Expr &feature) const override;
    Halide::Expr held_value(const Stages &s, const Inputs &in, const Halide::Expr &slot, const Halide::Expr &feature,
                            const Halide::Expr &step) const override;
    bool has_value_blocks() const override { return true; }
};

/// What generators/attention/operands has formed. Slots that hold no key are there up to a whole step, and repeat the last key.
class FormedOperands : public Provider {
public:
    void define(Stages &s, const Inputs &in, const OperandForm &form) const override;
    bool has_value_blocks() const override { return true; }
    bool is_finite() const override { return true; }
};

} // namespace gyre::attention
