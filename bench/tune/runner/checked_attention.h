/// A call of attention on tensors with gaps, beside the oracle.
#pragma once
#include "support/keeper.h"
#include "support/tensor.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <string>

namespace gyre::tune {

struct Extents {
    std::int64_t batch = 1, seqlen_q = 1, seqlen_kv = 1, heads = 1, kv_heads = 1, head_dim = 64;
};

class CheckedAttention : public test::Keeper {
public:
    CheckedAttention(gyre_dtype dtype, const Extents &given, gyre_layout layout, std::uint64_t seed);

    void rotate(gyre_pairing pairing, std::int32_t rotary_dim, bool values);

    /// Throws WrongResult, which names the call by `what` and its extents, if a result is off, or anything but the results was written.
    void check(gyre_context *context, const char *what);

    const Extents extents;
    test::Tensor q, k, v, out, lse;
    gyre_attention_args args;

private:
    std::string describe(const char *what) const;

    gyre_tensor lse_view_;
};

} // namespace gyre::tune
