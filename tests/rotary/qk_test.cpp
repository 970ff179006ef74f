/// gyre_rotary_qk(): the bits of two calls of gyre_rotary(), which is compared with the oracle.
#include "support/dense.h"
#include "support/each_kernel.h"
#include "support/keeper.h"
#include "support/refusal.h"
#include "support/tensor.h"

using namespace gyre::test;

namespace {

/// Queries and keys of two batch entries, 37 tokens, 6 heads on 2.
struct QkCase : Keeper {
    Tensor q, k, q_out, k_out;
    gyre_rotary_qk_args args = gyre_rotary_qk_defaults();

    explicit QkCase(gyre_dtype dtype = GYRE_F32, gyre_layout layout = GYRE_BSHD, int64_t seqlen = 37, int64_t heads = 6,
                    int64_t kv_heads = 2, Placement placement = {})
        : q(dtype, shape_in(layout, batch(layout), seqlen, heads, 40), placement),
          k(dtype, shape_in(layout, batch(layout), seqlen, kv_heads, 40), placement), q_out(dtype, q.shape()),
          k_out(dtype, k.shape(), placement) {
        q.fill_normal(1);
        k.fill_normal(2);
        q_out.poison();
        k_out.poison();
        args.layout = layout;
        args.q = q.view();
        args.k = k.view();
        args.q_out = q_out.view();
        args.k_out = k_out.view();
    }

    /// Rotates one of the two alone, into `out`.
    gyre_status alone(gyre_context *context, const Tensor &x, const Tensor &out) const {
        gyre_rotary_args one = gyre_rotary_defaults();
        one.layout = args.layout;
        one.x = x.view();
        one.out = out.view();
        one.rope = args.rope;
        one.reverse = args.reverse;
        one.positions = args.positions;
        one.position_offset = args.position_offset;
        return gyre_rotary(context, &one);
    }

    void check() {
        each_target([&](gyre_context *context) {
            const std::vector<uint64_t> q_before = q.bits(), k_before = k.bits();
            Tensor q_alone(q.dtype(), q.shape()), k_alone(k.dtype(), k.shape());
            REQUIRE_MESSAGE(alone(context, q, q_alone) == GYRE_OK, text(gyre_last_error()));
            REQUIRE_MESSAGE(alone(context, k, k_alone) == GYRE_OK, text(gyre_last_error()));
            q_out.poison();
            k_out.poison();
            REQUIRE_MESSAGE(gyre_rotary_qk(context, &args) == GYRE_OK, text(gyre_last_error()));
            CHECK(q_out.bits() == q_alone.bits());
            CHECK(k_out.bits() == k_alone.bits());
            CHECK(q.bits() == q_before);
            CHECK(k.bits() == k_before);
            for (const Tensor *t : {&q, &k, &q_out, &k_out}) CHECK(t->surroundings_intact());
        });
    }

private:
    static int64_t batch(gyre_layout layout) { return layout == GYRE_THD ? 1 : 2; }
};

} // namespace

TEST_CASE("rotary_qk: no heads of queries, or of keys") {
    QkCase(GYRE_F32, GYRE_BSHD, 37, 0, 2).check();
    QkCase(GYRE_F32, GYRE_BHSD, 37, 6, 0).check();
}

TEST_CASE("rotary_qk: every type, layout and pairing, forwards and back") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD, GYRE_THD})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
                for (const int32_t reverse : {0, 1}) {
                    QkCase c(dtype, layout);
                    c.args.rope.pairing = pairing;
                    c.args.reverse = reverse;
                    c.check();
                }
}

TEST_CASE("rotary_qk: positions, windows of features, gaps between heads, and empty tensors") {
    QkCase c(GYRE_F32, GYRE_BSHD, 70, 6, 2, Placement::with_gaps(5));
    Tensor positions(GYRE_I32, {2, 70});
    positions.fill_uniform_integers(3, 0, 5000);
    c.args.positions = c.hold(std::move(positions));
    c.args.rope.rotary_dim = 16;
    c.args.rope.rotary_offset = 8;
    c.check();
    for (const int64_t seqlen : {0, 1})
        for (const int64_t kv_heads : {0, 3}) QkCase(GYRE_BF16, GYRE_BSHD, seqlen, 5, kv_heads).check();
}

TEST_CASE("rotary_qk: in place, in one array with the values, which stay as they are") {
    each_target([&](gyre_context *context) {
        QkCase apart(GYRE_F32, GYRE_BSHD, 33);
        Tensor qkv(GYRE_F32, {2, 33, 6 + 2 + 2, 40});
        qkv.fill_normal(9);
        gyre_tensor slots[3];
        const int64_t first[3] = {0, 6, 8}, count[3] = {6, 2, 2};
        for (int i = 0; i < 3; i++) {
            slots[i] = qkv.view();
            slots[i].data = (float *)slots[i].data + first[i] * slots[i].strides[2];
            slots[i].shape[2] = count[i];
        }
        apart.q.set_values(values_of(slots[0]));
        apart.k.set_values(values_of(slots[1]));
        const std::vector<double> values = values_of(slots[2]);
        REQUIRE(gyre_rotary_qk(context, &apart.args) == GYRE_OK);
        gyre_rotary_qk_args args = apart.args;
        args.q = args.q_out = slots[0];
        args.k = args.k_out = slots[1];
        REQUIRE_MESSAGE(gyre_rotary_qk(context, &args) == GYRE_OK, text(gyre_last_error()));
        CHECK(values_of(slots[0]) == apart.q_out.values());
        CHECK(values_of(slots[1]) == apart.k_out.values());
        CHECK(values_of(slots[2]) == values);
        CHECK(qkv.surroundings_intact());
    });
}

TEST_CASE("rotary_qk: the number of threads does not change a bit, and a workspace of the told size is enough") {
    QkCase c(GYRE_F32, GYRE_BHSD, 300);
    std::vector<uint64_t> q, k;
    for (const int32_t threads : {1, 2, 7}) {
        const Context context(nullptr, threads);
        size_t bytes = 0;
        REQUIRE(gyre_rotary_qk_workspace_size(context, &c.args, &bytes) == GYRE_OK);
        std::vector<char> memory(bytes);
        c.args.workspace = memory.data();
        c.args.workspace_size = bytes;
        REQUIRE_MESSAGE(gyre_rotary_qk(context, &c.args) == GYRE_OK, text(gyre_last_error()));
        if (q.empty()) {
            q = c.q_out.bits();
            k = c.k_out.bits();
        }
        CHECK(c.q_out.bits() == q);
        CHECK(c.k_out.bits() == k);
        c.args.workspace_size = 1;
        check_refused("small", gyre_rotary_qk(context, &c.args), GYRE_WORKSPACE_TOO_SMALL, "workspace_size");
    }
}

TEST_CASE("rotary_qk: bad arguments are refused by name, and nothing is written") {
    const std::vector<Refusal<QkCase>> refusals = {
        {"size", GYRE_BAD_ARGUMENT, "size", [](QkCase &c) { c.args.size = 8; }},
        {"layout", GYRE_BAD_ARGUMENT, "layout", [](QkCase &c) { c.args.layout = (gyre_layout)9; }},
        {"no q", GYRE_BAD_ARGUMENT, "q", [](QkCase &c) { c.args.q.data = nullptr; }},
        {"no k_out", GYRE_BAD_ARGUMENT, "k_out", [](QkCase &c) { c.args.k_out.data = nullptr; }},
        {"types", GYRE_BAD_TYPE, "k", [](QkCase &c) { c.args.k.dtype = c.args.k_out.dtype = GYRE_F16; }},
        {"out's type", GYRE_BAD_TYPE, "q_out", [](QkCase &c) { c.args.q_out.dtype = GYRE_BF16; }},
        {"lengths", GYRE_BAD_SHAPE, "k", [](QkCase &c) { c.args.k.shape[1] = c.args.k_out.shape[1] = 36; }},
        {"head sizes", GYRE_BAD_SHAPE, "k", [](QkCase &c) { c.args.k.shape[3] = c.args.k_out.shape[3] = 38; }},
        {"out's shape", GYRE_BAD_SHAPE, "k_out", [](QkCase &c) { c.args.k_out.shape[2] = 1; }},
        {"k_out is q_out", GYRE_BAD_ARGUMENT, "k_out", [](QkCase &c) { c.args.k_out.data = c.args.q_out.data; }},
        {"k_out is q", GYRE_BAD_ARGUMENT, "k_out", [](QkCase &c) { c.args.k_out.data = c.args.q.data; }},
        {"k is q_out", GYRE_BAD_ARGUMENT, "k", [](QkCase &c) { c.args.k.data = c.args.q_out.data; }},
        {"offset", GYRE_BAD_ARGUMENT, "position_offset", [](QkCase &c) { c.args.position_offset = -1; }},
        {"rotary_dim", GYRE_BAD_SHAPE, "rotary_dim", [](QkCase &c) { c.args.rope.rotary_dim = 3; }},
    };
    for (const auto &refusal : refusals) {
        QkCase c;
        refusal.spoil(c);
        check_refused(refusal.what, gyre_rotary_qk(nullptr, &c.args), refusal.status, refusal.named);
        CHECK(c.q_out.untouched());
        CHECK(c.k_out.untouched());
    }
    check_refused("NULL", gyre_rotary_qk(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
}
