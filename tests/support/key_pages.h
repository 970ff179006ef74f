/// The keys and values of an attention call once more, in pages: in random order, poison in slots without a key and in pages
/// without an entry, and nonsense in the table behind the last page.
///
///     KeyPages pages(c, 16, {130, 0, 64});          // c: an AttentionCase, seqused_k of its sequences
///     c.check_on_devices(&in_pages);
#pragma once
#include "attention_case.h"
#include "random.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gyre::test {

class KeyPages : public Keeper {
public:
    /// `first`: of packed sequences, where each begins among the keys; else sequences are batch entries.
    KeyPages(const AttentionCase &c, int64_t page_size, const std::vector<double> &used,
             std::vector<int64_t> first = {}, Placement placement = {})
        : c_(c), packed_(!first.empty()), pages_((c.shape.seqlen_kv + page_size - 1) / page_size),
          k_pool_(pool(page_size, c.shape.head_dim, (int64_t)used.size(), placement)),
          v_pool_(pool(page_size, c.shape.v_head_dim, (int64_t)used.size(), placement)) {
        const auto sequences = (int64_t)used.size();
        std::vector<int64_t> free((size_t)(sequences * pages_ + 1));
        std::iota(free.begin(), free.end(), 0);
        Random random(11);
        for (size_t i = free.size(); i > 1; i--)
            std::swap(free[i - 1], free[(size_t)random.integer(0, (int64_t)i - 1)]);
        std::vector<double> table((size_t)(sequences * pages_), -7e8);
        k_pool_.poison();
        v_pool_.poison();
        for (int64_t s = 0; s < sequences; s++)
            for (int64_t j = 0; j < (int64_t)used[(size_t)s]; j++) {
                double &page = table[(size_t)(s * pages_ + j / page_size)];
                if (j % page_size == 0) {
                    page = (double)free.back();
                    free.pop_back();
                }
                const int64_t token = packed_ ? first[(size_t)s] + j : j;
                copy(c.k, s, token, &k_pool_, (int64_t)page, j % page_size);
                copy(c.v, s, token, &v_pool_, (int64_t)page, j % page_size);
            }
        table_ = hold(GYRE_I32, table, {sequences, pages_});
        used_ = hold(GYRE_I32, used);
    }

    /// The case's call with these.
    gyre_attention_args args() const {
        gyre_attention_args a = c_.args;
        a.k = k_pool_.view();
        a.v = v_pool_.view();
        a.page_table = table_;
        a.seqused_k = used_;
        a.cu_seqlens_k = nullptr;
        return a;
    }

private:
    const AttentionCase &c_;
    const bool packed_;
    const int64_t pages_;
    Tensor k_pool_, v_pool_;
    const gyre_tensor *table_ = nullptr, *used_ = nullptr;

    bool heads_first() const { return c_.args.layout == GYRE_BHSD; }
    Tensor pool(int64_t page_size, int64_t dim, int64_t sequences, const Placement &placement) const {
        return Tensor(
            c_.args.k.dtype,
            shape_in(heads_first() ? GYRE_BHSD : GYRE_BSHD, sequences * pages_ + 1, page_size, c_.shape.kv_heads, dim),
            placement);
    }
    void copy(const Tensor &from, int64_t s, int64_t token, Tensor *to, int64_t page, int64_t slot) const {
        for (int64_t h = 0; h < c_.shape.kv_heads; h++)
            for (int64_t d = 0; d < to->shape()[3]; d++) {
                const std::vector<int64_t> of = packed_         ? std::vector<int64_t>{token, h, d}
                                                : heads_first() ? std::vector<int64_t>{s, h, token, d}
                                                                : std::vector<int64_t>{s, token, h, d};
                to->set({page, heads_first() ? h : slot, heads_first() ? slot : h, d}, from.get(of));
            }
    }
};

} // namespace gyre::test
