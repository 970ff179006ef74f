/// Mistakes that no other test makes: what the coverage of the suite had left out (tests/fuzz/README.md).
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <cmath>
#include <vector>

using namespace gyre::test;

namespace {

/// Two parts of one row, merged.
struct Merge {
    Tensor parts{GYRE_F32, {2, 1, 1, 64}}, part_lse{GYRE_F32, {2, 1, 1}}, out{GYRE_F32, {1, 1, 1, 64}};
    Tensor lse{GYRE_F32, {1, 1, 1}};
    gyre_tensor lse_view = lse.view();
    gyre_attention_merge_args args = gyre_attention_merge_defaults();

    Merge() {
        parts.fill(1);
        part_lse.fill(0);
        args.parts = 2;
        args.part_out = parts.view();
        args.part_lse = part_lse.view();
        args.part_out.shape[0] = args.part_lse.shape[0] = 1;
        args.part_out_stride = 64;
        args.part_lse_stride = 1;
        args.out = out.view();
        args.lse = &lse_view;
    }
};

} // namespace

TEST_CASE("merge refuses lse within out, heads of no feature or too many, and lse whose elements share memory") {
    Merge good;
    REQUIRE_MESSAGE(gyre_attention_merge(nullptr, &good.args) == GYRE_OK, text(gyre_last_error()));
    const auto refused = [](Merge &m, gyre_status status, const char *named) {
        check_refused(named, gyre_attention_merge(nullptr, &m.args), status, named);
    };
    Merge within;
    within.lse_view.data = (float *)within.args.out.data + 5;
    refused(within, GYRE_BAD_ARGUMENT, "lse");
    for (const int64_t dim : {0, 513}) {
        Merge m;
        m.args.part_out.shape[3] = m.args.out.shape[3] = dim;
        refused(m, dim ? GYRE_UNSUPPORTED : GYRE_BAD_SHAPE, "part_out");
    }
    Merge shared;
    Tensor parts(GYRE_F32, {2, 2, 1, 64}), part_lse(GYRE_F32, {2, 1, 2}), out(GYRE_F32, {1, 2, 1, 64});
    shared.args.part_out = parts.view();
    shared.args.part_lse = part_lse.view();
    shared.args.part_out.shape[0] = shared.args.part_lse.shape[0] = 1;
    shared.args.part_out_stride = 128;
    shared.args.part_lse_stride = 2;
    shared.args.out = out.view();
    Tensor lse(GYRE_F32, {2, 1, 2});
    shared.lse_view = lse.view();
    shared.lse_view.shape[0] = 1;
    shared.lse_view.shape[1] = 1;
    shared.lse_view.strides[1] = 0; // of one head: means nothing
    CHECK_MESSAGE(gyre_attention_merge(nullptr, &shared.args) == GYRE_OK, text(gyre_last_error()));
}

TEST_CASE("a backward pass refuses a forward call with values in blocks") {
    BackwardCase c(AttentionShape().lengths(4, 4).dims(64));
    c.forward.args.value_order = GYRE_VALUES_IN_BLOCKS;
    check_refused("value_order", gyre_attention_backward(nullptr, &c.args), GYRE_UNSUPPORTED, "forward.value_order");
}

TEST_CASE("a table of angles must have rows for where queries and keys stand by default") {
    Tensor cos(GYRE_F32, {8, 32}), sin(GYRE_F32, {8, 32});
    cos.fill(1);
    sin.fill(0);
    const gyre_tensor cos_view = cos.view(), sin_view = sin.view();
    gyre_rope rope = gyre_rope_defaults();
    rope.cos = &cos_view;
    rope.sin = &sin_view;
    const auto status_of = [&](int64_t queries, int64_t keys, bool keys_rotated, gyre_rope table) {
        AttentionCase c(AttentionShape().lengths(queries, keys).dims(64));
        c.args.rope = &table;
        c.args.keys_rotated = keys_rotated;
        return gyre_attention(nullptr, &c.args);
    };
    CHECK(status_of(3, 8, false, rope) == GYRE_OK);
    check_refused("queries before the first key", status_of(5, 4, true, rope), GYRE_BAD_ARGUMENT, "rope.cos");
    check_refused("queries behind the last row", status_of(1, 9, true, rope), GYRE_BAD_ARGUMENT, "rope.cos");
    check_refused("keys behind the last row", status_of(1, 9, false, rope), GYRE_BAD_ARGUMENT, "rope.cos");
    rope.axes = 2;
    rope.sections[0] = rope.sections[1] = 16;
    check_refused("axes", status_of(3, 8, false, rope), GYRE_BAD_ARGUMENT, "rope.axes");
    // Keys alone may be too many, where queries have positions of their own.
    rope.axes = 0;
    AttentionCase c(AttentionShape().lengths(1, 9).dims(64));
    c.args.rope = &rope;
    c.args.q_positions = c.hold(GYRE_I32, {2});
    check_refused("keys", gyre_attention(nullptr, &c.args), GYRE_BAD_ARGUMENT, "rope.cos");
}

TEST_CASE("frequencies beyond 1024 radians a token are refused by their index") {
    std::vector<double> frequencies(32, 1.0);
    gyre_rope rope = gyre_rope_defaults();
    rope.inv_freq = frequencies.data();
    AttentionCase c(AttentionShape().lengths(2, 2).dims(64));
    c.args.rope = &rope;
    for (const double frequency : {1025.0, -1e9, (double)INFINITY, (double)NAN}) {
        frequencies[7] = frequency;
        check_refused("inv_freq", gyre_attention(nullptr, &c.args), GYRE_BAD_ARGUMENT, "rope.inv_freq[7]");
    }
    frequencies[7] = -1024;
    CHECK_MESSAGE(gyre_attention(nullptr, &c.args) == GYRE_OK, text(gyre_last_error()));
}

TEST_CASE("rotary refuses an offset beside positions, and keys of other tokens than the queries'") {
    Tensor q(GYRE_F32, {2, 3, 1, 8}), k(GYRE_F32, {1, 3, 1, 8}), positions(GYRE_I32, {3});
    q.fill(1);
    k.fill(1);
    positions.set_values({0, 1, 2});
    const gyre_tensor positions_view = positions.view();
    gyre_rotary_args rotary = gyre_rotary_defaults();
    rotary.x = rotary.out = q.view();
    rotary.positions = &positions_view;
    rotary.position_offset = 1;
    check_refused("offset", gyre_rotary(nullptr, &rotary), GYRE_BAD_ARGUMENT, "position_offset");
    gyre_rotary_qk_args both = gyre_rotary_qk_defaults();
    both.q = both.q_out = q.view();
    both.k = both.k_out = k.view();
    check_refused("batch", gyre_rotary_qk(nullptr, &both), GYRE_BAD_SHAPE, "k");
}

TEST_CASE("an output of another batch than the queries' is refused, and so are pools that go back from slot to slot") {
    AttentionCase c(AttentionShape().lengths(2, 2).dims(64));
    Tensor out(GYRE_F32, {2, 2, 1, 64});
    c.args.out = out.view();
    check_refused("out", gyre_attention(nullptr, &c.args), GYRE_BAD_SHAPE, "out");

    AttentionCase paged(AttentionShape().lengths(1, 4).dims(64)); // two pages of two keys
    Tensor pool(GYRE_F32, {2, 2, 1, 64});
    pool.fill(1);
    paged.args.k = paged.args.v = pool.view();
    paged.args.page_table = paged.hold(GYRE_I32, {0, 1}, {1, 2});
    REQUIRE_MESSAGE(gyre_attention(nullptr, &paged.args) == GYRE_OK, text(gyre_last_error()));
    paged.args.k.strides[1] = -64;
    paged.args.k.data = (float *)paged.args.k.data + 64;
    check_refused("k", gyre_attention(nullptr, &paged.args), GYRE_UNSUPPORTED, "k");
    // More keys than there may be, without their memory: a table of 2^20 pages of 2^10 keys each.
    paged.args.k = paged.args.v = pool.view();
    paged.args.k.shape[1] = paged.args.v.shape[1] = 1 << 10;
    std::vector<int32_t> table(1 << 20);
    const int64_t shape[2] = {1, (int64_t)table.size()};
    const gyre_tensor view = gyre_tensor_dense(table.data(), GYRE_I32, 2, shape);
    paged.args.page_table = &view;
    size_t bytes = 0;
    check_refused("pages", gyre_attention_workspace_size(nullptr, &paged.args, &bytes), GYRE_UNSUPPORTED, "page_table");
}
