#include "linear_case.h"
#include "compare.h"
#include "each_kernel.h"
#include "linear_allowance.h"
#include "on_device.h"

#include <sstream>

namespace gyre::test {
namespace {

std::vector<int64_t> state_shape(const AttentionShape &s, int64_t sequences, bool of_values) {
    const int64_t count = sequences ? sequences : s.batch;
    if (of_values) return {count, s.kv_heads, s.head_dim, s.v_head_dim};
    return {count, s.kv_heads, s.head_dim};
}

} // namespace

LinearCase::LinearCase(const AttentionShape &given, uint64_t seed, int64_t sequences)
    : shape(given),
      q(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_q, shape.heads, shape.head_dim), shape.placement),
      k(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_kv, shape.kv_heads, shape.head_dim),
        shape.placement),
      v(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_kv, shape.kv_heads, shape.v_head_dim),
        shape.placement),
      out(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen_q, shape.heads, shape.v_head_dim),
          shape.placement),
      kv_state(shape.dtype == GYRE_F64 ? GYRE_F64 : GYRE_F32, state_shape(shape, sequences, true)),
      k_state(kv_state.dtype(), state_shape(shape, sequences, false)), kv_state_out(kv_state), k_state_out(k_state),
      args(gyre_linear_attention_defaults()),
      state_views_{kv_state.view(), k_state.view(), kv_state_out.view(), k_state_out.view()} {
    q.fill_normal(seed * 3 + 1);
    k.fill_normal(seed * 3 + 2);
    v.fill_normal(seed * 3 + 3);
    args.layout = shape.layout;
    args.q = q.view();
    args.k = k.view();
    args.v = v.view();
    args.out = out.view();
}

void LinearCase::give_states(uint64_t seed) {
    kv_state.fill_normal(seed, 10);
    k_state.fill_normal(seed + 1, 10);
    std::vector<double> sums = k_state.values();
    for (double &sum : sums) sum = sum * sum + 1; // of positive features
    k_state.set_values(sums);
    args.kv_state = &state_views_[0];
    args.k_state = &state_views_[1];
}

void LinearCase::want_states() {
    args.kv_state_out = &state_views_[2];
    args.k_state_out = &state_views_[3];
}

void LinearCase::rotate(gyre_pairing pairing, int32_t rotary_dim, bool positions) {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = pairing;
    rope.rotary_dim = rotary_dim;
    rope.attention_factor = 1.125;
    args.rope = hold(rope);
    if (!positions) return;
    Tensor q_positions(GYRE_I32, {shape.batch, shape.seqlen_q}), k_positions(GYRE_I64, {shape.seqlen_kv});
    q_positions.fill_uniform_integers(3, 0, 100000);
    k_positions.fill_uniform_integers(4, 0, 100000);
    args.q_positions = hold(q_positions);
    args.k_positions = hold(k_positions);
}

gyre_status LinearCase::run(gyre_context *context) {
    const Tensor *const read[] = {&q, &k, &v, &kv_state, &k_state};
    Tensor *const written[] = {&out, &kv_state_out, &k_state_out};
    std::vector<std::vector<unsigned char>> before;
    for (const Tensor *t : read) before.push_back(t->memory());
    for (Tensor *t : written) t->poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_linear_attention(context, &args);
    for (size_t i = 0; i < before.size(); i++)
        CHECK_MESSAGE(read[i]->memory() == before[i], "an input was written, or memory around it");
    for (const Tensor *t : written) CHECK_MESSAGE(t->surroundings_intact(), "memory around an output was written");
    if (!args.kv_state_out)
        CHECK_MESSAGE((kv_state_out.elements_poisoned() && k_state_out.elements_poisoned()),
                      "states were written though they were not asked for");
    return status;
}

gyre_status LinearCase::run_on_device(gyre_context *context) {
    OnDevice device;
    for (Tensor *t : {&q, &k, &v, &out, &kv_state, &k_state, &kv_state_out, &k_state_out}) device.add(*t);
    gyre_linear_attention_args there = args;
    for (gyre_tensor *t : {&there.q, &there.k, &there.v, &there.out}) *t = device.view(*t);
    for (const gyre_tensor **t :
         {&there.seqused_k, &there.cu_seqlens_q, &there.cu_seqlens_k, &there.q_positions, &there.k_positions,
          &there.kv_state, &there.k_state, &there.kv_state_out, &there.k_state_out})
        *t = device.view(*t);
    there.rope = device.view(there.rope);
    const gyre_status status = gyre_linear_attention(context, &there);
    device.fetch();
    return status;
}

void check_numbers(const char *name, const std::vector<double> &got, const OracleNumbers &expected, gyre_dtype dtype,
                   double relative) {
    check_within(name, got, expected.exact, linear_allowance(expected, dtype, relative));
}

void LinearCase::check_against(const OracleLinear &expected, gyre_context *context) {
    REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
    CAPTURE(text(gyre_selected_kernel(context)));
    const double relative = linear_error(args);
    check_numbers("out", Dense(args.out, args.layout).data, expected.out, shape.dtype, relative);
    if (!args.kv_state_out) return;
    check_numbers("kv_state_out", kv_state_out.values(), expected.kv_state, GYRE_F32, relative);
    check_numbers("k_state_out", k_state_out.values(), expected.k_state, GYRE_F32, relative);
}

void LinearCase::check(int32_t threads) {
    const std::string description = describe();
    CAPTURE(description);
    const OracleLinear expected = oracle_linear(args);
    each_target([&](gyre_context *context) { check_against(expected, context); }, threads);
}

void LinearCase::check_on_devices() {
    const std::string description = describe();
    CAPTURE(description);
    const OracleLinear expected = oracle_linear(args);
    each_device([&](gyre_context *context) { check_against(expected, context); });
}

std::string LinearCase::describe() const {
    static const char *const layouts[] = {"bshd", "bhsd", "thd"};
    std::ostringstream text;
    text << (shape.dtype == GYRE_F32   ? "f32 "
             : shape.dtype == GYRE_F16 ? "f16 "
                                       : "bf16 ")
         << layouts[args.layout] << " b=" << shape.batch << " lq=" << shape.seqlen_q << " lk=" << shape.seqlen_kv
         << " h=" << shape.heads << " hkv=" << shape.kv_heads << " d=" << shape.head_dim << " dv=" << shape.v_head_dim
         << " causal=" << args.causal;
    const auto flag = [&](const char *name, const void *pointer) { text << (pointer ? name : ""); };
    flag(" seqused_k", args.seqused_k);
    flag(" cu_seqlens", args.cu_seqlens_q);
    flag(" rope", args.rope);
    flag(" positions", args.q_positions);
    flag(" kv_state", args.kv_state);
    flag(" kv_state_out", args.kv_state_out);
    return text.str();
}

} // namespace gyre::test
