/// Keys and values in rows, dense or in pages: rotated on the way, or read where they are.
#pragma once
#include "provider.h"

#include <memory>

namespace gyre::attention {

class Rows : public Provider {
public:
    explicit Rows(bool as_stored) : as_stored(as_stored) {}

    void define(Stages &s, const Inputs &in, const OperandForm &form) const override;
    bool reads_in_place() const override { return as_stored; }

private:
    const bool as_stored;
};

/// Rows in which each row has a scale, of keys and of values: of integers, which are finite.
class ScaledRows : public Rows {
public:
    using Rows::Rows;

    void define(Stages &s, const Inputs &in, const OperandForm &form) const override;
    bool is_finite() const override { return true; }
};

/// Rows of tensors with fewer features than the kernel is made for, but at least a vector of them. What would be
/// read past a row's end is not: the last vector of a value ends with it, and begins with features of the one before.
class RowsInWholeVectors : public Provider {
public:
    explicit RowsInWholeVectors(int lanes) : lanes(lanes) {}

    void define(Stages &s, const Inputs &in, const OperandForm &form) const override;
    Halide::Expr place(const Stages &s, const Inputs &in, const Halide::Expr &feature) const override;

private:
    const int lanes;
};

} // namespace gyre::attention
