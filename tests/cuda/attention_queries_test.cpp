/// Queries on a CUDA device that are rotated before the kernel, into the workspace: which calls do so, and where their queries stand.
#include "device_attention.h"
#include "support/each_kernel.h"

#include <cmath>

using namespace gyre::test;

namespace {

constexpr int64_t few = 16, many = 17; // queries; of few, kernels rotate those rows that exist

AttentionShape shape(int64_t queries, int64_t keys, gyre_layout layout = GYRE_BSHD) {
    return AttentionShape().lengths(queries, keys).head_counts(2, 1).dims(64).of(GYRE_BF16).in(layout);
}

/// Keys and values that are rotated already, so that what is launched before the kernel is of queries.
struct Cached : DeviceAttention {
    const gyre_rope rope = gyre_rope_defaults();

    explicit Cached(const AttentionShape &shape) : DeviceAttention(shape) {
        args.rope = args.value_rope = &rope;
        args.keys_rotated = args.values_rotated = 1;
    }
    const gyre_tensor *list(const std::vector<double> &numbers) {
        return device.view(c.hold(GYRE_I32, numbers, {(int64_t)numbers.size()}));
    }
    /// More launches than without rotations, and whether the workspace holds the queries.
    void check(long rotations) {
        const Context context("cuda");
        gyre_attention_args plain = args;
        plain.rope = plain.value_rope = nullptr;
        plain.keys_rotated = plain.values_rotated = 0;
        plain.q_positions = nullptr;
        size_t bytes = 0, plain_bytes = 0;
        REQUIRE(gyre_attention_workspace_size(context, &args, &bytes) == GYRE_OK);
        REQUIRE(gyre_attention_workspace_size(context, &plain, &plain_bytes) == GYRE_OK);
        const size_t of_queries = (size_t)(c.shape.seqlen_q * c.shape.heads * c.shape.head_dim) * sizeof(uint16_t);
        CHECK(bytes - plain_bytes >= of_queries * (size_t)rotations);
        CHECK((bytes == plain_bytes) == (rotations == 0));
        const auto launched = [&](const gyre_attention_args &call) {
            const long before = launches();
            REQUIRE_MESSAGE(gyre_attention(context, &call) == GYRE_OK, text(gyre_last_error()));
            return launches() - before;
        };
        const long without = launched(plain);
        CHECK(launched(args) == without + rotations);
    }
};

} // namespace

TEST_CASE("queries on a CUDA device: many are rotated by one launch before the kernel, few by the kernel") {
    Cached(shape(many, 40)).check(1);
    Cached(shape(few, 40)).check(0);
    Cached results(shape(many, 40)); // which are rotated back by the kernel
    results.args.rope = nullptr;
    results.args.keys_rotated = 0;
    results.check(0);
    Cached none(shape(0, 40));
    none.args.lse = nullptr;
    none.check(0);
}

TEST_CASE("queries on a CUDA device: they are rotated before the kernel only where the host knows their positions") {
    Cached used(shape(many, 40));
    used.args.seqused_k = used.list({30});
    used.check(0);
    std::vector<double> positions(many, 3);
    used.args.q_positions = used.list(positions);
    used.check(1);
    Cached packed(shape(40, 40, GYRE_THD));
    packed.args.cu_seqlens_q = packed.args.cu_seqlens_k = packed.list({0, 20, 40});
    packed.check(1);
    packed.args.cu_seqlens_k = packed.list({0, 20, 40}); // the same numbers, which the host does not read
    packed.check(0);
    positions.resize(40, 5);
    packed.args.q_positions = packed.list(positions);
    packed.check(1);
}

TEST_CASE("queries that are rotated before the kernel stand at the last keys, also where there are fewer keys") {
    for (const auto &[queries, keys] : {std::pair(20, 75), std::pair(75, 20), std::pair(33, 33)})
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
            for (const int32_t rotary_dim : {0, 18}) {
                AttentionCase c(shape(queries, keys).batches(2));
                gyre_rope rope = gyre_rope_defaults();
                rope.pairing = pairing;
                rope.rotary_dim = rotary_dim;
                rope.attention_factor = 1.25f;
                c.args.causal = 1;
                c.args.rope = &rope;
                c.check_on_devices();
            }
}

TEST_CASE(
    "queries that are rotated before the kernel: tables, positions beside used keys, packed with their keys' bounds") {
    std::vector<double> cos, sin;
    for (int row = 0; row < 60; row++)
        for (int pair = 0; pair < 8; pair++) {
            cos.push_back(std::cos(row * 0.1 * (pair + 1)));
            sin.push_back(std::sin(row * 0.1 * (pair + 1)));
        }
    gyre_rope rope = gyre_rope_defaults();
    AttentionCase tables(shape(30, 60));
    rope.rotary_dim = 16;
    rope.cos = tables.hold(GYRE_F32, cos, {60, 8});
    rope.sin = tables.hold(GYRE_F32, sin, {60, 8});
    tables.args.rope = &rope;
    tables.check_on_devices();

    rope = gyre_rope_defaults();
    AttentionCase used(shape(30, 60).batches(2));
    Tensor positions(GYRE_I64, {2, 30});
    positions.fill_uniform_integers(1, 0, 5000);
    used.args.rope = &rope;
    used.args.q_positions = used.hold(std::move(positions));
    used.args.seqused_k = used.hold(GYRE_I32, {60, 31});
    used.check_on_devices();

    AttentionCase packed(shape(70, 70, GYRE_THD));
    packed.args.cu_seqlens_q = packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 3, 3, 50, 70});
    packed.args.rope = &rope;
    packed.args.causal = 1;
    packed.check_on_devices();
}
