/// gyre_attention_backward() on CUDA devices, whose kernels libraries made by gyre_add_kernels() have, against the oracle.
#include "device_attention.h"
#include "made_gradients.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AttentionShape shape_of(const Made &of, int64_t lq, int64_t lk) { return of.shape(lq, lk).head_counts(2, 1); }

} // namespace

TEST_CASE("backward on devices: lengths, with causal and without") {
    for (const Made &of : made)
        for (const int64_t lq : {1, 64, 97})
            for (const int64_t lk : {1, 63, 100})
                for (const int causal : {0, 1}) {
                    BackwardCase c(shape_of(of, lq, lk));
                    c.forward.args.causal = causal;
                    c.check_on_devices();
                }
}

TEST_CASE("backward on devices: nothing on one side, so that gradients of the other are 0") {
    for (const Made &of : made)
        for (const auto &[lq, lk] : {std::pair(0, 40), std::pair(40, 0), std::pair(0, 0)}) {
            BackwardCase c(shape_of(of, lq, lk));
            c.check_on_devices();
        }
}

TEST_CASE("backward on devices: windows on either side, both alignments") {
    for (const Made &of : made)
        for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
            for (const auto &[left, right] :
                 {std::pair(0, 0), std::pair(40, -1), std::pair(-1, 30), std::pair(50, 20)}) {
                BackwardCase c(shape_of(of, 100, 90));
                c.forward.args.alignment = alignment;
                c.forward.args.window_left = left;
                c.forward.args.window_right = right;
                c.check_on_devices();
            }
}

TEST_CASE("backward on devices: grouped heads, batches, layouts, strides and rows that are not aligned") {
    const int64_t counts[][2] = {{1, 1}, {4, 2}, {6, 2}, {5, 1}};
    for (const Made &of : made)
        for (const auto &heads : counts)
            for (const int64_t gap : {0, 5}) {
                const gyre_layout layout = gap ? GYRE_BHSD : GYRE_BSHD;
                BackwardCase c(shape_of(of, 20, 50)
                                   .batches(2)
                                   .head_counts(heads[0], heads[1])
                                   .in(layout, Placement::with_gaps(gap)));
                c.forward.args.causal = 1;
                c.check_on_devices();
            }
}

TEST_CASE("backward on devices: RoPE and RoPER, both pairings, parts of heads, positions, keys and values as rotated") {
    for (const Made &of : made)
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
            for (const int rotated : {0, 1, 3}) // of keys, of values
                for (const int given : {0, 1}) {
                    BackwardCase c(shape_of(of, 50, 70).batches(2));
                    gyre_attention_args &args = c.forward.args;
                    gyre_rope rope = gyre_rope_defaults();
                    rope.pairing = pairing;
                    if (rotated) rope.rotary_dim = 16;
                    rope.attention_factor = 1.125;
                    args.rope = c.forward.hold(rope);
                    rope.theta = 500;
                    args.value_rope = c.forward.hold(rope);
                    args.keys_rotated = rotated & 1;
                    args.values_rotated = rotated >> 1;
                    args.causal = 1;
                    if (given) {
                        Tensor q_positions(GYRE_I32, {2, 50}), k_positions(GYRE_I64, {70});
                        q_positions.fill_uniform_integers(3, 0, 100000);
                        k_positions.fill_uniform_integers(4, 0, 100000);
                        args.q_positions = c.forward.hold(q_positions);
                        args.k_positions = c.forward.hold(k_positions);
                    }
                    c.check_on_devices();
                }
}

TEST_CASE("backward on devices: key lengths, packed sequences, and what nobody sees gets 0") {
    for (const Made &of : made) {
        BackwardCase used(shape_of(of, 30, 130).batches(3));
        used.forward.args.seqused_k = used.forward.hold(GYRE_I32, {0, 97, 130});
        used.check_on_devices();
        used.forward.args.causal = 1; // and the first entry's queries see no key
        used.check_on_devices();
        BackwardCase packed(shape_of(of, 110, 160).head_counts(4, 2).in(GYRE_THD));
        gyre_attention_args &args = packed.forward.args;
        args.cu_seqlens_q = packed.forward.hold(GYRE_I32, {0, 0, 20, 90, 110});
        args.cu_seqlens_k = packed.forward.hold(GYRE_I32, {0, 30, 60, 140, 160});
        args.causal = 1;
        packed.check_on_devices();
        args.seqused_k = packed.forward.hold(GYRE_I32, {0, 25, 80, 20});
        packed.check_on_devices();
        Tensor q_positions(GYRE_I32, {1, 110}), k_positions(GYRE_I32, {1, 160});
        q_positions.fill_uniform_integers(3, 0, 1000);
        k_positions.fill_uniform_integers(4, 0, 1000);
        const gyre_rope rope = gyre_rope_defaults();
        args.rope = args.value_rope = &rope;
        args.q_positions = packed.forward.hold(q_positions);
        args.k_positions = packed.forward.hold(k_positions);
        packed.check_on_devices();
    }
}

TEST_CASE("backward on devices: scales, and scores that are large") {
    for (const Made &of : made)
        for (const float scale : {0.0f, 1.0f, -0.3f}) {
            BackwardCase c(shape_of(of, 60, 150));
            c.forward.args.causal = 1;
            c.forward.args.scale = scale;
            c.check_on_devices();
        }
}

TEST_CASE("backward on devices: the same bits every time") {
    for (const Made &of : made) {
        BackwardCase c(shape_of(of, 100, 100).batches(2).head_counts(4, 2));
        c.forward.args.causal = 1;
        each_device([&](gyre_context *context) {
            std::vector<std::vector<uint64_t>> first;
            for (int time = 0; time < 2; time++) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<std::vector<uint64_t>> bits = {c.q_grad.bits(), c.k_grad.bits(), c.v_grad.bits()};
                if (first.empty()) first = bits;
                CHECK(bits == first);
            }
        });
    }
}

TEST_CASE("backward on devices: keys and values that no row sees, and rows that see none of a key, reach no gradient") {
    constexpr int64_t rows = 20, keys = 45, unseen = 30;
    for (const Made &of : made)
        for (const int by_window : {0, 1}) {
            BackwardCase c(shape_of(of, rows, keys));
            AttentionCase &f = c.forward;
            f.args.alignment = GYRE_TOP_LEFT;
            if (by_window) f.args.window_right = unseen - rows;
            if (!by_window) f.args.causal = 1;
            each_device([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const auto q = c.q_grad.values(), k = c.k_grad.values(), v = c.v_grad.values();
                for (const double garbage : {std::nan(""), infinity, 1e38}) {
                    for (int64_t j = unseen; j < keys; j++)
                        for (int64_t d = 0; d < of.dim; d++) {
                            f.k.set({0, j, 0, d}, garbage);
                            f.v.set({0, j, 0, d}, -garbage);
                        }
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CHECK(c.q_grad.values() == q);
                    CHECK(c.k_grad.values() == k);
                    CHECK(c.v_grad.values() == v);
                }
            });
        }
    // A query of NaN reaches the keys that it sees, and no others.
    for (const Made &of : made) {
        BackwardCase c(shape_of(of, 40, 40));
        c.forward.args.causal = 1;
        for (int64_t d = 0; d < of.dim; d++) c.forward.q.set({0, 17, 0, d}, std::nan(""));
        each_device([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            for (int64_t j = 0; j < 40; j++) {
                CAPTURE(j);
                CHECK(std::isnan(c.k_grad.get({0, j, 0, 3})) == (j <= 17));
                CHECK(std::isnan(c.v_grad.get({0, j, 0, 3})) == (j <= 17));
                CHECK(std::isnan(c.q_grad.get({0, j, 0, 3})) == (j == 17));
            }
        });
    }
}

TEST_CASE("backward on devices: what no kernel forms is refused by name, before anything is launched") {
    BackwardCase c(shape_of(made[0], 20, 30));
    OnDevice device;
    for (Tensor *t : {&c.out_grad, &c.q_grad, &c.k_grad, &c.v_grad}) device.add(*t);
    gyre_attention_args forward = c.forward.views(device);
    gyre_attention_backward_args args = c.args;
    args.forward = &forward;
    for (gyre_tensor *t : {&args.out_grad, &args.q_grad, &args.k_grad, &args.v_grad}) *t = device.view(*t);
    each_device([&](gyre_context *context) {
        const auto refused = [&](gyre_status status, const char *named) {
            check_refused_before_launch([&] { return gyre_attention_backward(context, &args); }, status, named);
        };
        REQUIRE_MESSAGE(gyre_attention_backward(context, &args) == GYRE_OK, text(gyre_last_error()));
        const gyre_tensor *lse = forward.lse;
        forward.lse = nullptr;
        refused(GYRE_BAD_ARGUMENT, "forward.lse");
        forward.lse = lse;
        const gyre_tensor on_device = forward.k;
        forward.k = c.forward.args.k;
        refused(GYRE_UNSUPPORTED, "forward.k");
        forward.k = on_device;
        const gyre_tensor k_grad = args.k_grad;
        args.k_grad = args.q_grad;
        refused(GYRE_BAD_SHAPE, "k_grad");
        args.k_grad = k_grad;
        size_t bytes = 0;
        CHECK(gyre_attention_backward_workspace_size(context, &args, &bytes) == GYRE_OK);
        CHECK(bytes > 0);
    });
    BackwardCase no_kernel(AttentionShape().lengths(20, 30).dims(128).of(GYRE_BF16));
    each_device(
        [&](gyre_context *context) { check_refused("128", no_kernel.run(context), GYRE_UNSUPPORTED, "forward.q"); });
}
