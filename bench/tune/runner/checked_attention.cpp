#include "checked_attention.h"

#include "events.h"
#include "verification.h"

#include "support/attention_allowance.h"
#include "support/oracle_attention.h"

#include <sstream>

namespace gyre::tune {

using test::Placement;
using test::Tensor;

CheckedAttention::CheckedAttention(gyre_dtype dtype, const Extents &given, gyre_layout layout, std::uint64_t seed)
    : extents(given), q(dtype, test::shape_in(layout, given.batch, given.seqlen_q, given.heads, given.head_dim),
                        Placement::with_gaps(3)),
      k(dtype, test::shape_in(layout, given.batch, given.seqlen_kv, given.kv_heads, given.head_dim),
        Placement::with_gaps(5)),
      v(dtype, test::shape_in(layout, given.batch, given.seqlen_kv, given.kv_heads, given.head_dim),
        Placement::with_gaps(7)),
      out(dtype, q.shape(), Placement::with_gaps(9)),
      lse(GYRE_F32, layout == GYRE_THD ? std::vector<std::int64_t>{given.heads, given.seqlen_q}
                                       : std::vector<std::int64_t>{given.batch, given.heads, given.seqlen_q}),
      args(gyre_attention_defaults()), lse_view_(lse.view()) {
    q.fill_normal(seed * 3 + 1);
    k.fill_normal(seed * 3 + 2);
    v.fill_normal(seed * 3 + 3);
    args.layout = layout;
    args.q = q.view();
    args.k = k.view();
    args.v = v.view();
    args.out = out.view();
    args.lse = &lse_view_;
}

void CheckedAttention::rotate(gyre_pairing pairing, std::int32_t rotary_dim, bool values) {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = pairing;
    rope.rotary_dim = rotary_dim;
    args.rope = hold(rope);
    if (values) args.value_rope = args.rope;
}

void CheckedAttention::check(gyre_context *context, const char *what) {
    const std::string name = describe(what);
    const std::vector<std::uint64_t> q_bits = q.bits(), k_bits = k.bits(), v_bits = v.bits();
    out.poison();
    lse.poison();
    if (gyre_attention(context, &args) != GYRE_OK) throw WrongResult(name + ": " + gyre_last_error());
    require(q.bits() == q_bits && k.bits() == k_bits && v.bits() == v_bits, name, "an input was written");
    for (const Tensor *tensor : {&q, &k, &v, &out, &lse})
        require(tensor->surroundings_intact(), name, "memory around a tensor was written");
    const test::OracleAttention expected = test::oracle_attention(args);
    const test::AttentionAllowance allowed =
        test::attention_allowance(expected, args, test::rounding_of_kernel(gyre_selected_kernel(context)));
    compare(name, "out", test::Dense(out.view(), args.layout).data, expected.out.data, allowed.out);
    compare(name, "lse", lse.values(), expected.lse, allowed.lse);
}

std::string CheckedAttention::describe(const char *what) const {
    std::ostringstream text;
    text << what << " (b=" << extents.batch << " h=" << extents.heads << " hkv=" << extents.kv_heads
         << " lq=" << extents.seqlen_q << " lk=" << extents.seqlen_kv << " d=" << extents.head_dim << ")";
    return text.str();
}

} // namespace gyre::tune
