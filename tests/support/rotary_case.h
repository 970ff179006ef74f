/// One call of gyre_rotary() with its tensors, checked on every target against the oracle.
///
///     RotaryCase c(RotaryShape().length(17).head_count(3).dim(64).of(GYRE_BF16));
///     c.args.rope.pairing = GYRE_INTERLEAVED;
///     c.check();
#pragma once
#include "keeper.h"
#include "oracle_rotary.h"
#include "tensor.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <string>

namespace gyre::test {

/// Extents of a call, named as they are set.
struct RotaryShape {
    int64_t batch = 1, seqlen = 1, heads = 1, head_dim = 64;
    gyre_dtype dtype = GYRE_F32;
    gyre_layout layout = GYRE_BSHD;
    Placement x_placement, out_placement;

    RotaryShape &batches(int64_t count) { return batch = count, *this; }
    RotaryShape &length(int64_t tokens) { return seqlen = tokens, *this; }
    RotaryShape &head_count(int64_t count) { return heads = count, *this; }
    RotaryShape &dim(int64_t features) { return head_dim = features, *this; }
    RotaryShape &of(gyre_dtype type) { return dtype = type, *this; }
    RotaryShape &in(gyre_layout chosen, Placement of_x = {}, Placement of_out = {}) {
        return layout = chosen, x_placement = of_x, out_placement = of_out, *this;
    }
};

class RotaryCase : public Keeper {
public:
    explicit RotaryCase(const RotaryShape &shape, uint64_t seed = 1);

    /// Poisons out and runs the call. Every other memory must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target and compares with the oracle, by the promised accuracy of cos and sin and the rounding of
    /// the type; where nothing is rotated, bit for bit.
    void check();

    std::string describe() const;

    RotaryShape shape;
    Tensor x, out;
    gyre_rotary_args args;

private:
    gyre_status run_on_device(gyre_context *context);
    void compare(const OracleRotary &expected) const;
};

} // namespace gyre::test
