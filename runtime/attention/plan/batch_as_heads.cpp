#include "attention/plan/batch_as_heads.h"

#include "attention/dispatch/dispatch.h"
#include "attention/task/heads.h"

namespace gyre {
namespace {

/// True if the heads of each entry follow those of the one before, or are one.
bool follow(int64_t batch_stride, int64_t head_stride, int64_t heads) {
    return heads == 1 || batch_stride == heads * head_stride;
}

bool has_only_heads(const AttentionCall &c) {
    const bool has_entries = c.layout == GYRE_THD || c.pages.pages > 0 || c.has_lengths();
    const bool has_positions = c.rope.on || c.value_rope.on;
    const bool has_terms = c.mask.data || c.alibi || c.sinks || c.score || c.dropout.on;
    return !has_entries && !has_positions && !has_terms && !c.value_blocks;
}

void join(int64_t heads, int64_t *batch_stride, int64_t *head_stride) {
    if (heads == 1) *head_stride = *batch_stride;
    *batch_stride = 0;
}

} // namespace

void take_batch_as_heads(AttentionCall *c) {
    const int64_t batch = c->q.batch;
    if (!is_x86 || batch < 2 || c->empty() || !has_only_heads(*c)) return;
    if (c->q.seqlen > most_few_queries || c->k.seqlen > most_own_keys) return;
    for (const Heads *t : {&c->q, &c->k, &c->v, &c->out})
        if (!follow(t->batch_stride, t->head_stride, t->heads)) return;
    if (!follow(c->lse.batch_stride, c->lse.head_stride, c->q.heads)) return;
    if (c->bias.data && !follow(c->bias.strides[0], c->bias.strides[1], c->q.heads)) return;
    join(c->q.heads, &c->lse.batch_stride, &c->lse.head_stride);
    join(c->q.heads, &c->bias.strides[0], &c->bias.strides[1]);
    for (Heads *t : {&c->q, &c->k, &c->v, &c->out}) {
        join(t->heads, &t->batch_stride, &t->head_stride);
        t->heads *= batch;
        t->batch = 1;
    }
    c->sequences = 1;
}

} // namespace gyre
