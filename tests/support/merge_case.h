/// One call of gyre_attention_merge() with its tensors, checked against its definition in double.
///
///     MergeCase(5, 2, 31, 8, 64, GYRE_F32, GYRE_BF16).check();
#pragma once
#include "compare.h"
#include "each_kernel.h"
#include "keeper.h"
#include "on_device.h"
#include "tensor.h"

#include <cmath>
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
        const std::vector<double> outs = part_out.values(), lses = part_lse.values();
        REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(out.surroundings_intact());
        CHECK(lse.surroundings_intact());
        const Dense merged(args.out, args.layout);
        const std::vector<double> merged_lse = lse.values();
        double worst = 0;
        for (int64_t b = 0; b < batch; b++)
            for (int64_t h = 0; h < heads; h++)
                for (int64_t i = 0; i < seqlen; i++) {
                    double top = -infinity, sum = 0;
                    const auto lse_of = [&](int64_t p) {
                        return lses[(size_t)(((p * batch + b) * heads + h) * seqlen + i)];
                    };
                    for (int64_t p = 0; p < parts; p++) top = std::max(top, lse_of(p));
                    for (int64_t p = 0; p < parts && top > -infinity; p++) sum += std::exp(lse_of(p) - top);
                    const double expected = sum > 0 ? top + std::log(sum) : -infinity;
                    const double got = merged_lse[(size_t)((b * heads + h) * seqlen + i)];
                    if (expected == -infinity)
                        CHECK(got == -infinity);
                    else
                        worst = std::max(worst, wrong(got - expected) / std::max(1.0, std::fabs(expected)));
                    std::vector<double> values((size_t)dim);
                    for (int64_t p = 0; p < parts && sum > 0; p++) {
                        if (lse_of(p) == -infinity) continue;
                        const double weight = std::exp(lse_of(p) - expected);
                        const auto first = (size_t)((((p * batch + b) * seqlen + i) * heads + h) * dim);
                        for (size_t d = 0; d < values.size(); d++) values[d] += weight * outs[first + d];
                    }
                    for (int64_t d = 0; d < dim; d++) {
                        const double value = values[(size_t)d];
                        const double given = merged.head(b, i, h)[d];
                        worst = std::max(worst, wrong(given - value) - rounding() * std::fabs(value));
                    }
                }
        CHECK(worst <= 3e-6);
    }

    std::vector<int64_t> lse_shape(gyre_layout layout) const {
        if (layout == GYRE_THD) return {heads, seqlen};
        return {batch, heads, seqlen};
    }
    static void drop_first(gyre_tensor *t) {
        t->rank--;
        for (int d = 0; d < t->rank; d++) t->shape[d] = t->shape[d + 1], t->strides[d] = t->strides[d + 1];
    }
    static double wrong(double difference) { return std::isnan(difference) ? infinity : std::fabs(difference); }
    double rounding() const { return out.dtype() == GYRE_BF16 ? 0x1p-8 : out.dtype() == GYRE_F16 ? 0x1p-11 : 0; }
};

} // namespace gyre::test
