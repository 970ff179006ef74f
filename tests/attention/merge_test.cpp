/// gyre_attention_merge() against its definition in double, and parts of real attention against all of it.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/merge_case.h"
#include "support/random.h"
#include "support/refusal.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("merge: numbers of parts, tokens and heads around the sizes of tasks") {
    for (const int64_t parts : {1, 2, 5, 40})
        for (const int64_t seqlen : {1, 31, 33})
            for (const int64_t heads : {1, 32, 35, 64}) MergeCase(parts, 2, seqlen, heads, 24).check();
}

TEST_CASE("merge: head sizes, types and layouts") {
    for (const auto &type : merge_types)
        for (const int64_t dim : {1, 15, 64, 72, 512})
            for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD})
                MergeCase(3, layout == GYRE_THD ? 1 : 2, 5, 4, dim, type[0], type[1], layout).check();
}

TEST_CASE("merge: parts that see no key are not read, and rows that no part sees give 0 and -inf") {
    MergeCase c(4, 1, 6, 3, 16);
    std::vector<double> lses = c.part_lse.values(), outs = c.part_out.values();
    Random random(5);
    for (size_t i = 0; i < lses.size(); i++)
        if (i % 6 == 2 || random.chance(0.4)) lses[i] = -infinity;
    c.part_lse.set_values(lses);
    c.check(); // finite outs beside them
    for (int64_t p = 0; p < 4; p++)
        for (int64_t h = 0; h < 3; h++)
            for (int64_t i = 0; i < 6; i++)
                if (lses[(size_t)((p * 3 + h) * 6 + i)] == -infinity)
                    for (int64_t d = 0; d < 16; d++) outs[(size_t)(((p * 6 + i) * 3 + h) * 16 + d)] = NAN;
    c.part_out.set_values(outs);
    c.check();
}

TEST_CASE("merge: denominators that are far apart, very large and very small") {
    for (const double spread : {100.0, 1e4, 1e-3})
        MergeCase(6, 1, 4, 4, 32, GYRE_F32, GYRE_F32, GYRE_BSHD, spread).check();
}

TEST_CASE("merge: one part is copied bit for bit, none gives 0 and -inf, and empty tensors are fine") {
    each_target([&](gyre_context *context) {
        MergeCase one(1, 2, 3, 4, 40);
        REQUIRE(one.run(context) == GYRE_OK);
        CHECK(one.out.bits() == one.part_out.bits());
        MergeCase none(0, 1, 2, 2, 8);
        REQUIRE_MESSAGE(none.run(context) == GYRE_OK, text(gyre_last_error()));
        for (const double value : none.out.values()) CHECK(value == 0);
        for (const double value : none.lse.values()) CHECK(value == -infinity);
        for (int empty = 0; empty < 3; empty++) {
            MergeCase c(2, empty == 0 ? 0 : 1, empty == 1 ? 0 : 2, empty == 2 ? 0 : 3, 8);
            CHECK_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        }
    });
}

TEST_CASE("merge: attention over three runs of keys, merged, is attention over all of them") {
    const int64_t ends[] = {0, 30, 31, 100};
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        AttentionCase all(AttentionShape().batches(2).lengths(20, 100).head_counts(4, 2).dims(48).of(dtype));
        const OracleAttention expected = oracle_attention(all.args);
        each_target([&](gyre_context *context) {
            MergeCase merge(3, 2, 20, 4, 48, dtype, dtype);
            KernelRounding rounding;
            for (int p = 0; p < 3; p++) {
                gyre_attention_args part = all.args;
                for (gyre_tensor *t : {&part.k, &part.v}) {
                    t->data = (char *)t->data + ends[p] * t->strides[1] * (dtype == GYRE_F32 ? 4 : 2);
                    t->shape[1] = ends[p + 1] - ends[p];
                }
                part.out = merge.args.part_out;
                part.out.data = (char *)part.out.data + p * merge.args.part_out_stride * (dtype == GYRE_F32 ? 4 : 2);
                gyre_tensor lse = merge.args.part_lse;
                lse.data = (float *)lse.data + p * merge.args.part_lse_stride;
                part.lse = &lse;
                REQUIRE_MESSAGE(gyre_attention(context, &part) == GYRE_OK, text(gyre_last_error()));
                rounding = rounding_of_kernel(gyre_selected_kernel(context));
            }
            REQUIRE_MESSAGE(merge.run(context) == GYRE_OK, text(gyre_last_error()));
            AttentionAllowance allowed = attention_allowance(expected, all.args, rounding);
            for (size_t i = 0; i < allowed.out.size(); i++) // of parts that were stored, each at most their magnitudes
                allowed.out[i] += half_spacing(dtype == GYRE_BF16 ? "bf16" : "") * expected.magnitude.data[i];
            check_within("out", Dense(merge.args.out, GYRE_BSHD).data, expected.out.data, allowed.out);
        });
    }
}

TEST_CASE("merge: a workspace of exactly the size that was asked for is enough, and lse may be left out") {
    MergeCase c(3, 2, 40, 5, 64);
    each_target([&](gyre_context *context) {
        gyre_attention_merge_args sizes = c.args;
        sizes.part_out.data = sizes.part_lse.data = sizes.out.data = nullptr;
        size_t bytes = 0;
        REQUIRE(gyre_attention_merge_workspace_size(context, &sizes, &bytes) == GYRE_OK);
        REQUIRE(c.run(context) == GYRE_OK);
        const std::vector<uint64_t> expected = c.out.bits();
        std::vector<char> memory(bytes);
        c.args.workspace = memory.data();
        c.args.workspace_size = bytes;
        c.args.lse = nullptr;
        CHECK(c.run(context) == GYRE_OK);
        CHECK(c.out.bits() == expected);
        CHECK(c.lse.untouched());
        c.args.workspace_size = 1;
        check_refused("small", c.run(context), GYRE_WORKSPACE_TOO_SMALL, "workspace_size");
        c.args.workspace = nullptr;
        c.args.workspace_size = 0;
        c.args.lse = &c.lse_view;
    });
}

TEST_CASE("merge: bad arguments are refused by name, and nothing is written") {
    const bool addresses_end = sizeof(void *) < 8; // before 2^31 elements of 4 bytes do
    const gyre_status past_2_31 = addresses_end ? GYRE_BAD_ARGUMENT : GYRE_UNSUPPORTED;
    const std::vector<Refusal<MergeCase>> refusals = {
        {"size", GYRE_BAD_ARGUMENT, "size", [](MergeCase &c) { c.args.size--; }},
        {"layout", GYRE_BAD_ARGUMENT, "layout", [](MergeCase &c) { c.args.layout = (gyre_layout)7; }},
        {"parts", GYRE_BAD_ARGUMENT, "parts", [](MergeCase &c) { c.args.parts = -1; }},
        {"stride", GYRE_BAD_ARGUMENT, "part_out_stride", [](MergeCase &c) { c.args.part_out_stride = -1; }},
        {"lse stride", GYRE_BAD_ARGUMENT, "part_lse_stride", [](MergeCase &c) { c.args.part_lse_stride = -8; }},
        {"stride that wraps to the first part", GYRE_BAD_ARGUMENT, "part_out_stride",
         [](MergeCase &c) { c.args.part_out_stride = INT64_C(1) << 62; }},
        {"largest stride", GYRE_BAD_ARGUMENT, "part_out_stride",
         [](MergeCase &c) { c.args.part_out_stride = INT64_MAX; }},
        {"stride past the address space", GYRE_BAD_ARGUMENT, "part_out_stride",
         [](MergeCase &c) { c.args.part_out_stride = INT64_C(1) << 60; }},
        {"lse stride that wraps", GYRE_BAD_ARGUMENT, "part_lse_stride",
         [](MergeCase &c) { c.args.part_lse_stride = INT64_C(1) << 62; }},
        {"largest lse stride", GYRE_BAD_ARGUMENT, "part_lse_stride",
         [](MergeCase &c) { c.args.part_lse_stride = INT64_MAX; }},
        {"parts that end past 2^31 elements", past_2_31, addresses_end ? "part_out_stride" : "part_out",
         [](MergeCase &c) { c.args.part_out_stride = INT32_MAX / c.args.parts + 1; }},
        {"lse that ends past 2^31 elements", past_2_31, addresses_end ? "part_lse_stride" : "part_lse",
         [](MergeCase &c) { c.args.part_lse_stride = INT32_MAX / c.args.parts + 1; }},
        {"no parts' data", GYRE_BAD_ARGUMENT, "part_out", [](MergeCase &c) { c.args.part_out.data = nullptr; }},
        {"no lse's data", GYRE_BAD_ARGUMENT, "part_lse", [](MergeCase &c) { c.args.part_lse.data = nullptr; }},
        {"rank", GYRE_BAD_SHAPE, "part_out", [](MergeCase &c) { c.args.part_out.rank = 3; }},
        {"lse shape", GYRE_BAD_SHAPE, "part_lse", [](MergeCase &c) { c.args.part_lse.shape[1]++; }},
        {"out shape", GYRE_BAD_SHAPE, "out", [](MergeCase &c) { c.args.out.shape[3]--; }},
        {"out's lse shape", GYRE_BAD_SHAPE, "lse", [](MergeCase &c) { c.lse_view.shape[2]--; }},
        {"part type", GYRE_BAD_TYPE, "part_out", [](MergeCase &c) { c.args.part_out.dtype = GYRE_I32; }},
        {"lse type", GYRE_BAD_TYPE, "part_lse", [](MergeCase &c) { c.args.part_lse.dtype = GYRE_BF16; }},
        {"out in a part", GYRE_BAD_ARGUMENT, "out part_out",
         [](MergeCase &c) { c.args.out.data = c.args.part_out.data; }},
        {"out in the last part", GYRE_BAD_ARGUMENT, "out part_out",
         [](MergeCase &c) { c.args.out.data = (float *)c.args.part_out.data + 2 * c.args.part_out_stride; }},
        {"lse in a part", GYRE_BAD_ARGUMENT, "lse part_lse",
         [](MergeCase &c) { c.lse_view.data = (float *)c.args.part_lse.data + c.args.part_lse_stride; }},
        {"elements that share memory", GYRE_BAD_SHAPE, "out", [](MergeCase &c) { c.args.out.strides[1] = 0; }},
    };
    for (const auto &refusal : refusals) {
        MergeCase c(3, 2, 3, 4, 8);
        c.out.poison();
        c.lse.poison();
        refusal.spoil(c);
        check_refused(refusal.what, gyre_attention_merge(nullptr, &c.args), refusal.status, refusal.named);
        CHECK(c.out.untouched());
        CHECK(c.lse.untouched());
    }
    MergeCase narrower(2, 1, 2, 2, 8, GYRE_BF16, GYRE_BF16);
    narrower.args.out.dtype = GYRE_F16;
    check_refused("types", gyre_attention_merge(nullptr, &narrower.args), GYRE_BAD_TYPE, "out");
    check_refused("NULL", gyre_attention_merge(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
}
