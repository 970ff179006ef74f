/// gyre_attention() with a paged cache, beside the same tokens without pages.
#pragma once
#include "attention_case.h"
#include "each_kernel.h"
#include "random.h"

#include <algorithm>
#include <numeric>

namespace gyre::test {

/// A case without pages but with key lengths, and the same with k and v in pools: pages in random order, poison in slots
/// without a key and in pages without an entry, and nonsense in the table behind the last page.
struct PagedCase : Keeper {
    AttentionCase plain;
    std::vector<double> used;
    gyre_attention_args paged_args;
    Tensor k_pool, v_pool;

    PagedCase(const AttentionShape &shape, int64_t page_size, std::vector<double> lengths, int64_t row_gap = 0)
        : plain(shape), used(std::move(lengths)), k_pool(pool(shape, page_size, shape.head_dim, row_gap)),
          v_pool(pool(shape, page_size, shape.v_head_dim, row_gap)) {
        plain.args.seqused_k = plain.hold(GYRE_I32, used);
        const int64_t pages = pages_of(shape, page_size);
        std::vector<int64_t> free((size_t)(shape.batch * pages + 1));
        std::iota(free.begin(), free.end(), 0);
        Random random(11);
        for (size_t i = free.size(); i > 1; i--)
            std::swap(free[i - 1], free[(size_t)random.integer(0, (int64_t)i - 1)]);
        std::vector<double> table((size_t)(shape.batch * pages), -7e8);
        k_pool.poison();
        v_pool.poison();
        for (int64_t b = 0; b < shape.batch; b++)
            for (int64_t j = 0; j < (int64_t)used[(size_t)b]; j++) {
                double &page = table[(size_t)(b * pages + j / page_size)];
                if (j % page_size == 0) {
                    page = (double)free.back();
                    free.pop_back();
                }
                copy(plain.k, b, j, &k_pool, (int64_t)page, j % page_size);
                copy(plain.v, b, j, &v_pool, (int64_t)page, j % page_size);
            }
        table_ = hold(GYRE_I32, table, {shape.batch, pages});
    }

    /// Every target: the bits of the case without pages, which is checked against the oracle.
    void check() {
        plain.check();
        const gyre_attention_args without = plain.args;
        each_target([&](gyre_context *context) {
            plain.args = without;
            REQUIRE_MESSAGE(plain.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<uint64_t> out = plain.out.bits(), lse = plain.lse.bits();
            plain.args = paged();
            REQUIRE_MESSAGE(plain.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(plain.out.bits() == out);
            CHECK(plain.lse.bits() == lse);
            CHECK(k_pool.surroundings_intact());
            CHECK(v_pool.surroundings_intact());
        });
        plain.args = without;
    }

    gyre_attention_args paged() const {
        gyre_attention_args args = plain.args;
        args.k = k_pool.view();
        args.v = v_pool.view();
        args.page_table = table_;
        return args;
    }

private:
    const gyre_tensor *table_ = nullptr;

    static int64_t pages_of(const AttentionShape &s, int64_t page_size) {
        return (s.seqlen_kv + page_size - 1) / page_size;
    }
    static Tensor pool(const AttentionShape &s, int64_t page_size, int64_t dim, int64_t row_gap) {
        return Tensor(s.key_dtype, shape_in(s.layout, s.batch * pages_of(s, page_size) + 1, page_size, s.kv_heads, dim),
                      Placement::with_gaps(row_gap));
    }
    void copy(const Tensor &from, int64_t b, int64_t j, Tensor *to, int64_t page, int64_t slot) const {
        const bool heads_first = plain.args.layout == GYRE_BHSD;
        const int64_t heads = from.shape()[heads_first ? 1 : 2], dim = from.shape()[3];
        for (int64_t h = 0; h < heads; h++)
            for (int64_t d = 0; d < dim; d++)
                to->set({page, heads_first ? h : slot, heads_first ? slot : h, d},
                        from.get({b, heads_first ? h : j, heads_first ? j : h, d}));
    }
};

} // namespace gyre::test
