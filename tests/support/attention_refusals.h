/// A good call of gyre_attention() and the parts that tests of refusals spoil.
#pragma once
#include "attention_case.h"
#include "refusal.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace gyre::test {

/// Two batch entries of 5 queries and 7 keys, 4 heads on 2; as thd: two sequences in 5 queries and 7 keys.
struct AttentionCall {
    AttentionCase c;
    std::deque<gyre_tensor> views;
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();

    explicit AttentionCall(gyre_layout layout = GYRE_BSHD)
        : c(AttentionShape()
                .batches(layout == GYRE_THD ? 1 : 2)
                .lengths(5, 7)
                .head_counts(4, 2)
                .dims(16, 12)
                .in(layout)) {
        if (layout != GYRE_THD) return;
        c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 2, 5});
        c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 3, 7});
    }

    /// A new tensor for a pointer of the arguments, as a view that may be spoilt.
    gyre_tensor &give(const gyre_tensor *gyre_attention_args::*which, gyre_dtype type, std::vector<int64_t> shape,
                      double value = 1) {
        Tensor tensor(type, shape);
        tensor.fill(value);
        views.push_back(*c.hold(std::move(tensor)));
        c.args.*which = &views.back();
        return views.back();
    }
    void list(const gyre_tensor *gyre_attention_args::*which, const std::vector<double> &values,
              gyre_dtype type = GYRE_I32) {
        c.args.*which = c.hold(type, values);
    }
    gyre_rope &rotate() {
        c.args.rope = &rope;
        return rope;
    }
    gyre_rope &rotate_values() {
        c.args.value_rope = &value_rope;
        return value_rope;
    }
    void tables(int64_t rows) {
        Tensor table(GYRE_F32, {rows, 8});
        table.fill(0.5);
        rotate().cos = rope.sin = c.hold(std::move(table));
    }
};

inline void check_all_refused(gyre_layout layout, const std::vector<Refusal<AttentionCall>> &refusals) {
    for (const Refusal<AttentionCall> &refusal : refusals) {
        AttentionCall call(layout);
        refusal.spoil(call);
        check_refused(refusal.what, call.c.run(nullptr), refusal.status, refusal.named);
        CHECK(call.c.out.untouched());
        CHECK(call.c.lse.untouched());
    }
}

} // namespace gyre::test
