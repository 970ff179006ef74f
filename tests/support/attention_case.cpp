#include "attention_case.h"
#include "attention_allowance.h"
#include "compare.h"
#include "each_kernel.h"
#include "kernel_facts.h"
#include "on_device.h"

#include <algorithm>
#include <sstream>

namespace gyre::test {
namespace {

std::vector<int64_t> lse_shape(const AttentionShape &shape) {
    if (shape.layout == GYRE_THD) return {shape.heads, shape.seqlen_q};
    return {shape.batch, shape.heads, shape.seqlen_q};
}

} // namespace

AttentionCase::AttentionCase(const AttentionShape &given, uint64_t seed)
    : shape(given),
      q(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_q, shape.heads, shape.head_dim), shape.placement),
      k(shape.key_dtype, shape_in(shape.layout, shape.batch, shape.seqlen_kv, shape.kv_heads, shape.head_dim),
        shape.placement),
      v(shape.key_dtype, shape_in(shape.layout, shape.batch, shape.seqlen_kv, shape.kv_heads, shape.v_head_dim),
        shape.placement),
      out(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_q, shape.heads, shape.v_head_dim),
          shape.placement),
      lse(GYRE_F32, lse_shape(shape)), args(gyre_attention_defaults()), lse_view_(lse.view()) {
    q.fill_normal(seed * 3 + 1);
    k.fill_normal(seed * 3 + 2);
    v.fill_normal(seed * 3 + 3);
    args.layout = shape.layout;
    args.q = q.view();
    args.k = k.view();
    args.v = v.view();
    args.out = out.view();
    args.lse = &lse_view_;
}

gyre_status AttentionCase::run(gyre_context *context) {
    const uint64_t q_before = q.fingerprint(), k_before = k.fingerprint(), v_before = v.fingerprint();
    out.poison();
    lse.poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_attention(context, &args);
    CHECK_MESSAGE((q.fingerprint() == q_before && k.fingerprint() == k_before && v.fingerprint() == v_before),
                  "an input was written, or memory around it");
    CHECK_MESSAGE(out.surroundings_intact(), "memory around out was written");
    CHECK_MESSAGE(lse.surroundings_intact(), "memory around lse was written");
    if (!args.lse) CHECK_MESSAGE(lse.elements_poisoned(), "lse was written though it was not asked for");
    return status;
}

gyre_attention_args AttentionCase::views(OnDevice &device) {
    for (Tensor *t : {&q, &k, &v, &out, &lse}) device.add(*t);
    gyre_attention_args there = args;
    for (gyre_tensor *t : {&there.q, &there.k, &there.v, &there.out}) *t = device.view(*t);
    for (const gyre_tensor **t :
         {&there.lse, &there.bias, &there.mask, &there.sinks, &there.alibi, &there.seqused_k, &there.cu_seqlens_q,
          &there.cu_seqlens_k, &there.page_table, &there.q_positions, &there.k_positions})
        *t = device.view(*t);
    for (const gyre_rope **rope : {&there.rope, &there.value_rope}) *rope = device.view(*rope);
    return there;
}

gyre_status AttentionCase::run_on_device(gyre_context *context) {
    OnDevice device;
    gyre_attention_args there = views(device);
    std::vector<gyre_score_input> inputs(args.score_inputs, args.score_inputs + args.score_input_count);
    for (gyre_score_input &input : inputs) input.tensor = device.view(input.tensor);
    there.score_inputs = inputs.data();
    const gyre_status status = gyre_attention(context, &there);
    device.fetch();
    return status;
}

void AttentionCase::check_against(const OracleAttention &expected, double tolerance, gyre_context *context) {
    REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
    CAPTURE(text(gyre_selected_kernel(context)));
    const KernelRounding rounding = rounding_of_call(args, gyre_selected_kernel(context), gyre_context_target(context));
    const AttentionAllowance allowed = attention_allowance(expected, args, rounding, {roundings_of_score, tolerance});
    check_within("out", output().data, expected.out.data, allowed.out);
    if (!args.lse) return;
    check_within("lse", lse.values(), expected.lse, allowed.lse);
    if (is_on_device(context) || fact_of(gyre_selected_kernel(context), "bounded").empty()) return;
    args.lse = nullptr; // such kernels then take another way
    REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
    check_within("out without lse", output().data, expected.out.data, allowed.out);
    args.lse = &lse_view_;
}

void AttentionCase::check(double tolerance) {
    const std::string description = describe();
    CAPTURE(description);
    const OracleAttention expected = oracle_attention(args, oracle_score);
    each_target([&](gyre_context *context) { check_against(expected, tolerance, context); });
}

void AttentionCase::check_threads(const std::vector<int32_t> &numbers) {
    for (const std::string &target : runnable_targets()) {
        std::vector<uint64_t> expected, expected_lse;
        for (const int32_t threads : numbers) {
            INFO(target, ", ", threads, " threads");
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
            if (threads == numbers.front()) {
                expected = out.bits();
                expected_lse = lse.bits();
            }
            CHECK(out.bits() == expected);
            CHECK(lse.bits() == expected_lse);
        }
    }
}

void AttentionCase::check_in_place() {
    const int threads = 2;
    each_target(
        [&](gyre_context *context) {
            REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
            Tensor both = q;
            gyre_attention_args in_place = args;
            in_place.q = in_place.out = both.view();
            REQUIRE_MESSAGE(gyre_attention(context, &in_place) == GYRE_OK, text(gyre_last_error()));
            CHECK(both.bits() == out.bits());
            CHECK(both.surroundings_intact());
        },
        threads);
}

void AttentionCase::check_on_devices(const gyre_attention_args *as) {
    const std::string description = describe();
    CAPTURE(description);
    const OracleAttention expected = oracle_attention(args, oracle_score);
    const gyre_attention_args own = args;
    if (as) args = *as;
    each_device([&](gyre_context *context) { check_against(expected, 0, context); });
    args = own;
}

void AttentionCase::check_output(const Dense &expected, double tolerance) {
    const std::string description = describe();
    CAPTURE(description);
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
        CAPTURE(text(gyre_selected_kernel(context)));
        check_close("out", output().data, expected.data, tolerance);
    });
}

std::string AttentionCase::describe() const {
    static const char *const layouts[] = {"bshd", "bhsd", "thd"};
    std::ostringstream text;
    const char *const type = shape.dtype == GYRE_F32 ? "f32 " : shape.dtype == GYRE_F16 ? "f16 " : "bf16 ";
    text << type << layouts[args.layout] << " b=" << shape.batch << " lq=" << shape.seqlen_q
         << " lk=" << shape.seqlen_kv << " h=" << shape.heads << " hkv=" << shape.kv_heads << " d=" << shape.head_dim
         << " dv=" << shape.v_head_dim << " causal=" << args.causal << " alignment=" << args.alignment
         << " window=" << args.window_left << "," << args.window_right << " softcap=" << args.softcap
         << " scale=" << args.scale;
    if (args.score) text << " score=" << args.score;
    const auto flag = [&](const char *name, const void *pointer) { text << (pointer ? name : ""); };
    flag(" bias", args.bias);
    flag(" mask", args.mask);
    flag(" sinks", args.sinks);
    flag(" alibi", args.alibi);
    flag(" seqused_k", args.seqused_k);
    flag(" cu_seqlens", args.cu_seqlens_q);
    flag(" rope", args.rope);
    flag(" value_rope", args.value_rope);
    flag(" q_positions", args.q_positions);
    flag(" k_positions", args.k_positions);
    return text.str();
}

} // namespace gyre::test
