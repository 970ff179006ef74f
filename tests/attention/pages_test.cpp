/// gyre_attention() with paged caches: the bits that the same tokens give without pages.
#include "support/attention_refusals.h"
#include "support/paged_case.h"

using namespace gyre::test;

TEST_CASE("pages: every page size, type and layout, in prefill and in decode") {
    for (const int64_t page_size : {1, 16, 64, 256})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
                for (const int64_t seqlen_q : {2, 30}) {
                    PagedCase c(AttentionShape()
                                    .batches(3)
                                    .lengths(seqlen_q, 300)
                                    .head_counts(4, 2)
                                    .dims(64)
                                    .of(dtype)
                                    .in(layout),
                                page_size, {300, 131, 0}, layout == GYRE_BHSD ? 3 : 0);
                    c.plain.args.causal = 1;
                    c.check();
                }
}

TEST_CASE("pages: windows and parts that begin within a page, and head sizes that differ") {
    for (const int64_t page_size : {32, 2048}) {
        PagedCase c(AttentionShape().batches(2).lengths(3, 2500).head_counts(8, 2).dims(72, 40), page_size,
                    {2500, 1500});
        c.plain.args.causal = 1;
        c.plain.args.window_left = 1100;
        c.check();
    }
}

TEST_CASE("pages: RoPE and RoPER of a cache that is rotated, or that is not") {
    for (const int rotated : {0, 1}) {
        PagedCase c(AttentionShape().batches(2).lengths(20, 200).head_counts(4, 2).dims(64), 16, {200, 90});
        gyre_rope rope = gyre_rope_defaults();
        c.plain.args.causal = 1;
        c.plain.args.rope = c.plain.args.value_rope = &rope;
        c.plain.args.keys_rotated = c.plain.args.values_rotated = rotated;
        c.check();
    }
}

TEST_CASE("pages: with softcap, bias, mask, ALiBi and sinks") {
    PagedCase c(AttentionShape().batches(2).lengths(5, 128).head_counts(4, 2).dims(64), 32, {128, 50});
    Tensor bias(GYRE_F32, {4, 1, 128}), mask(GYRE_BOOL, {2, 1, 5, 128});
    bias.fill_normal(3);
    mask.fill_uniform_integers(4, 0, 1);
    c.plain.args.bias = c.hold(std::move(bias));
    c.plain.args.mask = c.hold(std::move(mask));
    c.plain.args.softcap = 4;
    c.plain.args.alibi = c.hold(GYRE_F32, {0.1, 0.2, 0.3, 0.4});
    c.plain.args.sinks = c.hold(GYRE_F32, {1, 0, -1, 2});
    c.check();
}

TEST_CASE("pages: without lengths every slot of every page in the table is a key") {
    PagedCase c(AttentionShape().batches(2).lengths(3, 64).head_counts(4, 2).dims(64), 16, {64, 64});
    each_target([&](gyre_context *context) {
        gyre_attention_args args = c.paged();
        REQUIRE_MESSAGE(gyre_attention(context, &args) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> expected = c.plain.out.bits();
        c.plain.out.poison();
        args.seqused_k = nullptr;
        REQUIRE_MESSAGE(gyre_attention(context, &args) == GYRE_OK, text(gyre_last_error()));
        CHECK(c.plain.out.bits() == expected);
    });
}

TEST_CASE("pages: bad tables, pools and lengths are refused by name, and nothing is written") {
    struct Paged : PagedCase {
        gyre_attention_args args;
        gyre_tensor table;
        Paged()
            : PagedCase(AttentionShape().batches(2).lengths(3, 64).head_counts(4, 2).dims(16), 16, {64, 20}),
              args(paged()) {
            table = *args.page_table;
            args.page_table = &table;
        }
        int32_t &entry(int64_t b, int64_t n) { return ((int32_t *)table.data)[b * table.strides[0] + n]; }
    };
    const std::vector<Refusal<Paged>> refusals = {
        {"a page that is not there", GYRE_BAD_ARGUMENT, "page_table", [](Paged &c) { c.entry(0, 3) = 9; }},
        {"a negative page", GYRE_BAD_ARGUMENT, "page_table", [](Paged &c) { c.entry(1, 1) = -1; }},
        {"rank", GYRE_BAD_SHAPE, "page_table", [](Paged &c) { c.table.rank = 1; }},
        {"type", GYRE_BAD_TYPE, "page_table", [](Paged &c) { c.table.dtype = GYRE_F32; }},
        {"batch", GYRE_BAD_SHAPE, "page_table", [](Paged &c) { c.table.shape[0] = 1; }},
        {"no data", GYRE_BAD_ARGUMENT, "page_table", [](Paged &c) { c.table.data = nullptr; }},
        {"misaligned", GYRE_BAD_ARGUMENT, "page_table", [](Paged &c) { c.table.data = (char *)c.table.data + 1; }},
        {"more keys than pages", GYRE_BAD_ARGUMENT, "seqused_k", [](Paged &c) { c.table.shape[1] = 3; }},
        {"page size", GYRE_BAD_SHAPE, "k", [](Paged &c) { c.args.k.shape[1] = c.args.v.shape[1] = 12; }},
        {"pools that differ", GYRE_BAD_SHAPE, "v", [](Paged &c) { c.args.v.shape[0]--; }},
        {"pages stored backwards", GYRE_UNSUPPORTED, "v",
         [](Paged &c) {
             c.args.v.data = (float *)c.args.v.data + (c.args.v.shape[0] - 1) * c.args.v.strides[0];
             c.args.v.strides[0] = -c.args.v.strides[0];
         }},
        {"out in the pool", GYRE_BAD_ARGUMENT, "out", [](Paged &c) { c.args.out.data = c.args.k.data; }},
    };
    for (const auto &refusal : refusals) {
        Paged c;
        c.plain.out.poison();
        c.plain.lse.poison();
        refusal.spoil(c);
        check_refused(refusal.what, gyre_attention(nullptr, &c.args), refusal.status, refusal.named);
        CHECK(c.plain.out.untouched());
        CHECK(c.plain.lse.untouched());
    }
    Paged good;
    CHECK_MESSAGE(gyre_attention(nullptr, &good.args) == GYRE_OK, text(gyre_last_error()));
}

namespace {

/// Queries of several lengths that follow each other, with the pages of a PagedCase.
struct PackedQueries : Keeper {
    std::vector<int64_t> lengths;
    Tensor q, out, lse;
    gyre_attention_args args;

    PackedQueries(const PagedCase &c, std::vector<int64_t> query_lengths)
        : lengths(std::move(query_lengths)), q(like(c.plain.q)), out(like(c.plain.out)),
          lse(GYRE_F32, {c.plain.q.shape()[2], total()}), args(c.paged()) {
        std::vector<double> cu{0};
        for (size_t b = 0; b < lengths.size(); b++) {
            for (int64_t i = 0; i < lengths[b]; i++)
                for (int64_t h = 0; h < q.shape()[1]; h++)
                    for (int64_t d = 0; d < q.shape()[2]; d++)
                        q.set({(int64_t)cu.back() + i, h, d}, c.plain.q.get({(int64_t)b, i, h, d}));
            cu.push_back(cu.back() + (double)lengths[b]);
        }
        args.layout = GYRE_THD;
        args.q = q.view();
        args.out = out.view();
        args.lse = hold(lse.view());
        args.cu_seqlens_q = hold(GYRE_I32, cu);
    }

    /// The call of sequence `b` alone, with layout bshd.
    gyre_attention_args alone(int64_t b, const PagedCase &c, Tensor *result, Tensor *result_lse) {
        gyre_attention_args one = c.paged();
        const auto entry = [&](gyre_tensor t) {
            t.shape[0] = 1;
            t.data = (char *)t.data + b * t.strides[0] * (int64_t)(t.dtype == GYRE_I32 || t.dtype == GYRE_F32 ? 4 : 2);
            return t;
        };
        one.q = entry(one.q);
        one.q.shape[1] = lengths[(size_t)b];
        one.out = result->view();
        one.lse = hold(result_lse->view());
        one.seqused_k = hold(entry(*one.seqused_k));
        one.page_table = hold(entry(*one.page_table));
        return one;
    }

private:
    int64_t total() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
    Tensor like(const Tensor &t) const { return Tensor(t.dtype(), {total(), t.shape()[2], t.shape()[3]}); }
};

} // namespace

TEST_CASE("pages: packed queries give the bits that each sequence has alone") {
    gyre_rope rope = gyre_rope_defaults();
    for (const std::vector<int64_t> &lengths : {std::vector<int64_t>{16, 0, 1}, {17, 30, 0}})
        for (const gyre_rope *turned : {(gyre_rope *)nullptr, &rope})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
                each_target([&](gyre_context *context) {
                    PagedCase c(AttentionShape().batches(3).lengths(30, 1300).head_counts(4, 2).dims(64).of(dtype), 16,
                                {1300, 40, 90});
                    c.plain.args.causal = 1;
                    c.plain.args.rope = c.plain.args.value_rope = turned;
                    PackedQueries packed(c, lengths);
                    REQUIRE_MESSAGE(gyre_attention(context, &packed.args) == GYRE_OK, text(gyre_last_error()));
                    for (int64_t b = 0, first = 0; b < 3; first += lengths[(size_t)b++]) {
                        const int64_t tokens = lengths[(size_t)b];
                        if (tokens == 0) continue;
                        Tensor out(dtype, {1, tokens, 4, 64}), lse(GYRE_F32, {1, 4, tokens});
                        const gyre_attention_args one = packed.alone(b, c, &out, &lse);
                        REQUIRE_MESSAGE(gyre_attention(context, &one) == GYRE_OK, text(gyre_last_error()));
                        int64_t different = 0;
                        for (int64_t i = 0; i < tokens; i++)
                            for (int64_t h = 0; h < 4; h++) {
                                for (int64_t d = 0; d < 64; d++)
                                    different += out.get({0, i, h, d}) != packed.out.get({first + i, h, d});
                                different += lse.get({0, h, i}) != packed.lse.get({h, first + i});
                            }
                        CHECK(different == 0);
                    }
                });
}

TEST_CASE("pages: what packed queries may not have with them is refused") {
    const std::vector<Refusal<PackedQueries>> refusals = {
        {"cu_seqlens_k", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
         [](PackedQueries &p) { p.args.cu_seqlens_k = p.args.cu_seqlens_q; }},
        {"rows of the table", GYRE_BAD_SHAPE, "page_table",
         [](PackedQueries &p) { p.args.cu_seqlens_q = p.hold(GYRE_I32, {0, 3}); }},
        {"packed keys", GYRE_BAD_SHAPE, "k", [](PackedQueries &p) { p.args.k = p.args.q; }},
        {"a score", GYRE_UNSUPPORTED, "page_table", [](PackedQueries &p) { p.args.score = "probe"; }},
        {"no cu_seqlens_q", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](PackedQueries &p) { p.args.cu_seqlens_q = nullptr; }},
    };
    for (const auto &refusal : refusals) {
        PagedCase c(AttentionShape().batches(2).lengths(3, 64).head_counts(4, 2).dims(16), 16, {64, 20});
        PackedQueries packed(c, {2, 1});
        packed.out.poison();
        refusal.spoil(packed);
        check_refused(refusal.what, gyre_attention(nullptr, &packed.args), refusal.status, refusal.named);
        CHECK(packed.out.untouched());
    }
}
