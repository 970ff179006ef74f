/// gyre_linear_attention() on CUDA devices, against the oracle.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/linear_case.h"
#include "support/on_device.h"

#include <cmath>

using namespace gyre::test;

namespace {

void with_states(LinearCase &c) {
    c.give_states();
    c.want_states();
}

} // namespace

TEST_CASE("linear on devices: head sizes of keys and of values, in every type, with and without states") {
    const int64_t pairs[][2] = {{64, 64}, {128, 128}, {1, 1}, {7, 5}, {33, 70}, {256, 16}};
    for (const int causal : {0, 1})
        for (const auto &dims : pairs)
            for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
                LinearCase c(AttentionShape().lengths(130, 130).dims(dims[0], dims[1]).of(type));
                c.args.causal = causal;
                if (dims[0] != 64) with_states(c);
                c.check_on_devices();
            }
}

TEST_CASE("linear on devices: lengths around the ends of chunks, and none") {
    for (const int64_t length : {0, 1, 2, 63, 64, 65, 128, 193})
        for (const bool states : {false, true}) {
            LinearCase causal(AttentionShape().lengths(length, length).dims(32));
            causal.args.causal = 1;
            if (states) with_states(causal);
            causal.check_on_devices();
            for (const int64_t queries : {0, 1, 97}) {
                LinearCase full(AttentionShape().lengths(queries, length).dims(32));
                if (states) with_states(full);
                full.check_on_devices();
            }
        }
}

TEST_CASE("linear on devices: grouped heads, batches, layouts and strides") {
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
        for (const int causal : {0, 1})
            for (const int64_t gap : {0, 5}) {
                LinearCase c(
                    AttentionShape().batches(2).lengths(110, 110).head_counts(6, 3).dims(40, 24).of(GYRE_BF16).in(
                        layout, Placement::with_gaps(gap)));
                c.args.causal = causal;
                with_states(c);
                c.check_on_devices();
            }
}

TEST_CASE("linear on devices: RoPE of both pairings, of parts of heads, at positions and by factors") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int32_t rotary_dim : {0, 6})
            for (const int causal : {0, 1})
                for (const bool given : {false, true}) {
                    LinearCase c(
                        AttentionShape().batches(2).lengths(110, 110).head_counts(4, 2).dims(40).of(GYRE_BF16));
                    c.rotate(pairing, rotary_dim, given);
                    c.args.causal = causal;
                    with_states(c);
                    c.check_on_devices();
                }
    LinearCase longer(AttentionShape().lengths(20, 130).dims(32)); // queries stand where the last keys do
    const gyre_rope rope = gyre_rope_defaults();
    longer.args.rope = &rope;
    longer.check_on_devices();
}

TEST_CASE("linear on devices: key lengths and packed sequences") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int causal : {0, 1})
        for (const bool rotated : {false, true}) {
            LinearCase used(AttentionShape().batches(4).lengths(130, 130).head_counts(2, 1).dims(32));
            used.args.causal = causal;
            used.args.rope = rotated ? &rope : nullptr;
            used.args.seqused_k = used.hold(GYRE_I32, {0, 97, 130, 1});
            LinearCase packed(AttentionShape().lengths(260, 260).head_counts(4, 2).dims(32).in(GYRE_THD), 1, 4);
            packed.args.causal = causal;
            packed.args.rope = rotated ? &rope : nullptr;
            packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 0, 20, 125, 260});
            packed.args.cu_seqlens_k = causal ? packed.args.cu_seqlens_q : packed.hold(GYRE_I32, {0, 30, 90, 90, 260});
            if (rotated && !causal) {
                each_device([&](gyre_context *context) { // where queries stand, the host does not know
                    CHECK(used.run(context) == GYRE_UNSUPPORTED);
                    CHECK(text(gyre_last_error_argument()) == "q_positions");
                    CHECK(packed.run(context) == GYRE_UNSUPPORTED);
                });
                Tensor positions(GYRE_I32, {130}), of_packed(GYRE_I32, {260});
                positions.fill_uniform_integers(3, 0, 1000);
                of_packed.fill_uniform_integers(4, 0, 1000);
                used.args.q_positions = used.hold(positions);
                packed.args.q_positions = packed.hold(of_packed);
            }
            used.check_on_devices();
            with_states(used);
            used.check_on_devices();
            packed.check_on_devices();
            with_states(packed);
            packed.check_on_devices();
            packed.args.seqused_k = packed.hold(GYRE_I32, {0, 15, 0, 100});
            packed.check_on_devices();
        }
}

TEST_CASE("linear on devices: keys that a query does not see reach no result, whatever they hold") {
    LinearCase c(AttentionShape().lengths(100, 100).dims(32));
    c.args.causal = 1;
    c.args.seqused_k = c.hold(GYRE_I32, {90});
    for (int64_t token = 90; token < 100; token++)
        for (int64_t d = 0; d < 32; d++) {
            c.k.set({0, token, 0, d}, std::nan(""));
            c.v.set({0, token, 0, d}, INFINITY);
        }
    with_states(c);
    c.check_on_devices();
    LinearCase later(AttentionShape().lengths(100, 100).dims(32));
    later.args.causal = 1;
    each_device([&](gyre_context *context) {
        REQUIRE(later.run(context) == GYRE_OK);
        const std::vector<double> before = later.out.values();
        for (int64_t d = 0; d < 32; d++) {
            later.k.set({0, 70, 0, d}, std::nan(""));
            later.v.set({0, 70, 0, d}, std::nan(""));
        }
        REQUIRE(later.run(context) == GYRE_OK);
        const std::vector<double> after = later.out.values();
        for (size_t i = 0; i < 70 * 32; i++) CHECK(before[i] == after[i]);
        for (size_t i = 70 * 32; i < after.size(); i++) CHECK(std::isnan(after[i]));
    });
}

TEST_CASE("linear on devices: pieces of whole chunks give the bits of one call, and states stay in place") {
    const gyre_rope rope = gyre_rope_defaults();
    LinearCase whole(AttentionShape().lengths(160, 160).head_counts(2, 1).dims(32));
    whole.args.causal = 1;
    whole.args.rope = &rope;
    whole.want_states();
    each_device([&](gyre_context *context) {
        REQUIRE(whole.run(context) == GYRE_OK);
        const std::vector<double> expected = whole.out.values(), state = whole.kv_state_out.values();
        LinearCase piece(whole.shape); // of the same numbers
        OnDevice device;
        for (Tensor *t : {&piece.q, &piece.k, &piece.v, &piece.out, &piece.kv_state_out, &piece.k_state_out})
            device.add(*t);
        Tensor positions(GYRE_I32, {160});
        for (int64_t i = 0; i < 160; i++) positions.set({i}, (double)i);
        const gyre_tensor kv = device.view(piece.kv_state_out.view()), k = device.view(piece.k_state_out.view());
        for (const auto &[first, count] : {std::pair<int64_t, int64_t>(0, 64), {64, 64}, {128, 32}}) {
            gyre_linear_attention_args args = whole.args;
            args.q = piece.q.view();
            args.k = piece.k.view();
            args.v = piece.v.view();
            args.out = piece.out.view();
            for (gyre_tensor *t : {&args.q, &args.k, &args.v, &args.out}) {
                *t = device.view(*t);
                t->data = static_cast<char *>(t->data) + first * t->strides[1] * (int64_t)sizeof(float);
                t->shape[1] = count;
            }
            gyre_tensor there = device.view(positions.view());
            there.data = static_cast<int32_t *>(there.data) + first;
            there.shape[0] = count;
            args.q_positions = args.k_positions = &there;
            args.kv_state = first ? &kv : nullptr;
            args.k_state = first ? &k : nullptr;
            args.kv_state_out = &kv;
            args.k_state_out = &k;
            REQUIRE_MESSAGE(gyre_linear_attention(context, &args) == GYRE_OK, text(gyre_last_error()));
        }
        device.fetch();
        CHECK(piece.out.values() == expected);
        CHECK(piece.kv_state_out.values() == state);
    });
}
