/// One call of gyre_attention_merge() with its tensors, checked against its definition in double.
///
///     MergeCase(5, 2, 31, 8, 64, GYRE_F32, GYRE_BF16).check();
#pragma once
#include "compare.h"
#include "each_kernel.h"
#include "keeper.h"
#include "on_device.h"
#include "oracle_merge.h"
#include "tensor.h"

#include <limits>

namespace gyre::test {

/// Types of parts, and of what they are merged to.
constexpr gyre_dtype merge_types[][2] = {
    {GYRE_F32, GYRE_F32}, {GYRE_F32, GYRE_F16}, {GYRE_F32, GYRE_BF16}, {GYRE_F16, GYRE_F16}, {GYRE_BF16, GYRE_BF16}};

/// Parts with random outputs and denominators, and where they are to be merged.
struct MergeCase : Keeper {
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    int64_t parts, batch, seqlen, heads, dim;
    Tensor part_out, part_lse; // parts outermost
    Tensor out, lse;
    gyre_tensor lse_view;
    gyre_attention_merge_args args = gyre_attention_merge_defaults();

    MergeCase(int64_t parts, int64_t batch, int64_t seqlen, int64_t heads, int64_t dim, gyre_dtype from = GYRE_F32,
              gyre_dtype to = GYRE_F32, gyre_layout layout = GYRE_BSHD, double spread = 3)
        : parts(parts), batch(batch), seqlen(seqlen), heads(heads), dim(dim),
          part_out(from, {parts * batch, seqlen, heads, dim}), part_lse(GYRE_F32, {parts * batch, heads, seqlen}),
          out(to, shape_in(layout, batch, seqlen, heads, dim)), lse(GYRE_F32, lse_shape(layout)) {
        part_out.fill_normal(1);
        part_lse.fill_normal(2, spread);
        args.layout = layout;
        args.parts = (int32_t)parts;
        args.part_out = part_out.view();
        args.part_lse = part_lse.view();
        args.part_out_stride = batch * seqlen * heads * dim;
        args.part_lse_stride = batch * heads * seqlen;
        args.part_out.shape[0] = args.part_lse.shape[0] = batch;
        if (layout == GYRE_THD) {
            drop_first(&args.part_out);
            drop_first(&args.part_lse);
        }
        args.out = out.view();
        lse_view = lse.view();
        args.lse = &lse_view;
    }

    gyre_status run(gyre_context *context) {
        out.poison();
        lse.poison();
        return is_on_device(context) ? run_on_device(context) : gyre_attention_merge(context, &args);
    }

    /// On every target that is a CPU's; on every device.
    void check() {
        each_target([&](gyre_context *context) { check_against_definition(context); });
    }
    void check_on_devices() {
        each_device([&](gyre_context *context) { check_against_definition(context); });
    }

private:
    gyre_status run_on_device(gyre_context *context) {
        OnDevice device;
        for (Tensor *t : {&part_out, &part_lse, &out, &lse}) device.add(*t);
        gyre_attention_merge_args there = args;
        for (gyre_tensor *t : {&there.part_out, &there.part_lse, &there.out}) *t = device.view(*t);
        there.lse = device.view(args.lse);
        const gyre_status status = gyre_attention_merge(context, &there);
        device.fetch();
        return status;
    }

    void check_against_definition(gyre_context *context) {
        REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(out.surroundings_intact());
        CHECK(lse.surroundings_intact());
        const OracleMerge expected = oracle_merge(args);
        check_within("out", Dense(args.out, args.layout).data, expected.out.data, expected.out_allowed);
        check_within("lse", lse.values(), expected.lse, expected.lse_allowed);
    }

    std::vector<int64_t> lse_shape(gyre_layout layout) const {
        if (layout == GYRE_THD) return {heads, seqlen};
        return {batch, heads, seqlen};
    }
    static void drop_first(gyre_tensor *t) {
        t->rank--;
        for (int d = 0; d < t->rank; d++) {
            t->shape[d] = t->shape[d + 1];
            t->strides[d] = t->strides[d + 1];
        }
    }
};

} // namespace gyre::test
