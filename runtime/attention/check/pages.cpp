// Checks of gyre_attention()'s paged cache.
#include "attention/check/check.h"

#include "core/error.h"
#include "core/kernel_call.h"
#include "core/sequence_lists.h"

namespace gyre {

gyre_status check_page_table(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (!a.page_table) return GYRE_OK;
    const gyre_tensor &t = *a.page_table;
    if (a.layout == GYRE_THD && a.score)
        return refuse(GYRE_UNSUPPORTED, "page_table",
                      "is given with layout thd and a score, expected one of these alone");
    GYRE_TRY(check_tensor(t, "page_table", {2}, {GYRE_I32}, need_data));
    if (t.shape[0] != c->sequences)
        return refuse(GYRE_BAD_SHAPE, "page_table", "got shape %s, expected a row for each of %lld sequences",
                      shape_text(t.shape, t.rank), static_cast<long long>(c->sequences));
    PageTable &p = c->pages;
    const int64_t page_size = c->k.seqlen;
    GYRE_TRY(check_page_size(page_size, "k", &p.bits));
    if (t.shape[1] > most_tokens >> p.bits)
        return refuse(GYRE_UNSUPPORTED, "page_table", "got %lld pages of %lld keys, expected at most %lld keys",
                      static_cast<long long>(t.shape[1]), static_cast<long long>(page_size),
                      static_cast<long long>(most_tokens));
    p.entries = static_cast<const int32_t *>(t.data);
    p.stride = t.strides[0];
    p.pages = c->k.batch;
    for (const Heads *pool : {&c->k, &c->v}) {
        const char *name = pool == &c->k ? "k" : "v";
        if (pool->batch_stride < 0 || pool->token_stride < 0)
            return refuse(GYRE_UNSUPPORTED, name, "got negative strides, expected pages that are stored forwards");
        if (!fits_kernel_index({{pool->batch, pool->batch_stride}, {page_size, pool->token_stride}, {pool->dim, 1}}))
            return refuse(GYRE_UNSUPPORTED, name, "one head's pages reach over 2^31 elements");
    }
    p.k_page_stride = c->k.batch_stride;
    p.v_page_stride = c->v.batch_stride;
    for (Heads *keys : {&c->k, &c->v}) {
        keys->batch = c->sequences;
        keys->seqlen = t.shape[1] * page_size;
        keys->batch_stride = 0;
    }
    return GYRE_OK;
}

gyre_status check_pages(bool need_data, const AttentionCall &c) {
    const PageTable &p = c.pages;
    if (!p.entries || !need_data || c.k.seqlen == 0) return GYRE_OK;
    const int64_t page_size = int64_t{1} << p.bits;
    for (int64_t b = 0; b < c.sequences; b++)
        GYRE_TRY(check_page_ids(p.entries + b * p.stride, b, 0, ceil_div(c.sequence(b).k_len, page_size), p.pages));
    return GYRE_OK;
}

} // namespace gyre
