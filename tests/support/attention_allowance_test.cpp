/// What attention_allowance() accepts and rejects: results as kernels could write them, right and wrong.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/element.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

/// A causal call, whose late rows are much smaller than its first, and the right results as they are stored.
struct CausalCall {
    AttentionCase c;
    OracleAttention expected;
    std::vector<double> out;

    explicit CausalCall(gyre_dtype type) : c(AttentionShape().lengths(200, 200).dims(64).of(type)) {
        c.args.causal = 1;
        expected = oracle_attention(c.args);
        for (const double exact : expected.out.data) out.push_back(rounded(type, exact));
    }
    size_t outside(const KernelRounding &kernel) const {
        return outside_of(out, expected.out.data, attention_allowance(expected, c.args, kernel).out).count;
    }
    size_t lse_outside(const KernelRounding &kernel, double off_by) const {
        std::vector<double> lse = expected.lse;
        for (double &value : lse) value += off_by;
        return outside_of(lse, expected.lse, attention_allowance(expected, c.args, kernel).lse).count;
    }
    void scale_row(int64_t row, double factor) {
        for (int64_t d = 0; d < 64; d++) out[(size_t)(row * 64 + d)] *= factor;
    }
};

/// Kernels in f32, on tiles of sums of two bf16 numbers, on CUDA devices, and on tiles of bf16.
const std::vector<std::pair<gyre_dtype, KernelRounding>> kernels = {
    {GYRE_F32, {}},
    {GYRE_F16, {}},
    {GYRE_BF16, {}},
    {GYRE_F16, {half_spacing("bf16x2"), 0, 2}},
    {GYRE_F16, {half_spacing("f16"), 0}},
    {GYRE_BF16, {half_spacing("bf16"), 0}},
    {GYRE_BF16, {half_spacing("bf16"), half_spacing("bf16")}},
};

} // namespace

TEST_CASE("allowance: right results are accepted, and a late causal row times 1.1 or 0.9 is not") {
    for (const auto &[type, kernel] : kernels)
        for (const int64_t row : {1, 20, 150, 199})
            for (const double factor : {1.1, 0.9}) {
                CausalCall call(type);
                CHECK(call.outside(kernel) == 0);
                call.scale_row(row, factor);
                CHECK(call.outside(kernel) > 8);
            }
}

TEST_CASE("allowance: lse off by 1/250 is accepted of kernels that sum weights in bf16 alone") {
    for (const auto &[type, kernel] : kernels) {
        const CausalCall call(type);
        CHECK(call.lse_outside(kernel, 1e-7) == 0);
        const bool in_bf16 = kernel.sum == half_spacing("bf16");
        CHECK(call.lse_outside(kernel, 1.0 / 250) == (in_bf16 ? 0 : 200));
        CHECK(call.lse_outside(kernel, -1.0 / 100) == 200);
    }
}

TEST_CASE("allowance: what sums of two bf16 numbers leave out of products is accepted of kernels that multiply them") {
    CausalCall call(GYRE_F16);
    for (size_t n = 0; n < call.out.size(); n++)
        call.out[n] = rounded(GYRE_F16, call.expected.out.data[n] * (1 - 0x1p-14));
    CHECK(call.outside({half_spacing("bf16x2"), 0, 2}) == 0);
    CHECK(call.outside({half_spacing("bf16x2"), 0, 0}) > 0);
}

TEST_CASE(
    "allowance: a call with a mask may be off by as much as the call without it, whose kernel runs some of its rows") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
        AttentionCase c(AttentionShape().lengths(40, 40).dims(64).of(dtype));
        Tensor mask(GYRE_BOOL, {40, 40});
        for (int64_t i = 0; i < 40; i++)
            for (int64_t j = 0; j < 40; j++) mask.set({i, j}, (i + j) % 3 != 0);
        const gyre_tensor view = mask.view();
        each_target([&](gyre_context *context) {
            c.args.mask = nullptr;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const KernelRounding without = rounding_of_kernel(gyre_selected_kernel(context));
            c.args.mask = &view;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const KernelRounding with =
                rounding_of_call(c.args, gyre_selected_kernel(context), gyre_context_target(context));
            CHECK(with.operands >= without.operands);
            CHECK(with.products() >= without.products());
        });
    }
}

TEST_CASE("allowance: what is no number, or a number where there should be none, is rejected") {
    for (const auto &[type, kernel] : kernels)
        for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
            CausalCall call(type);
            call.out[70] = wrong;
            CHECK(call.outside(kernel) == 1);
            call.expected.lse[3] = -wrong;
            call.expected.lse[5] = wrong;
            std::vector<double> lse = call.expected.lse;
            lse[3] = 0;
            const AttentionAllowance allowed = attention_allowance(call.expected, call.c.args, kernel);
            CHECK(outside_of(lse, call.expected.lse, allowed.lse).count == 1);
        }
}

TEST_CASE("allowance: kernels of f32 tensors say of no operand that it is rounded") {
    gyre_kernel_info info;
    int of_f32 = 0;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (std::string(info.operation) != "attention" || fact_of(info.name, "dtype") != "float32") continue;
        const KernelRounding rounding = rounding_of_kernel(info.name);
        CHECK_MESSAGE((rounding.operands == 0 && rounding.sum == 0), text(info.name));
        const bool on_tiles = std::string(info.target) == "x86_64_amx";
        CHECK_MESSAGE(rounding.terms == (on_tiles ? 3 : 0), text(info.name)); // as bf16 numbers, which hold f32
        of_f32++;
    }
    CHECK(of_f32 > 0);
}
