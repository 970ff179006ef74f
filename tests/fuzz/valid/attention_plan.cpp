#include "attention_plan.h"

#include <algorithm>

namespace gyre::fuzz {
namespace {

int64_t random_length(ByteReader &r) {
    switch (r.below(8)) {
    case 0:
        return r.between(0, 2);
    case 1:
        return r.between(60, 70);
    case 2:
        return r.between(100, 300);
    default:
        return r.between(1, 48);
    }
}

/// Kernels are chosen by the number of keys, too: by limits of which some are above a thousand.
int64_t random_keys_of_tokens(ByteReader &r) { return r.rarely(12) ? r.between(400, 3000) : r.between(1, 400); }

int64_t random_dim(ByteReader &r) {
    if (r.rarely(24)) return r.between(1, 512);
    return r.rarely(4) ? r.between(1, 130) : r.pick<int64_t>({64, 64, 64, 32, 128, 80, 16});
}

/// Bounds of sequences that share `total` tokens.
std::vector<int64_t> random_bounds(ByteReader &r, int64_t sequences, int64_t total) {
    std::vector<int64_t> bounds{0};
    for (int64_t i = 1; i < sequences; i++) bounds.push_back(r.between(0, total));
    bounds.push_back(total);
    std::sort(bounds.begin(), bounds.end());
    return bounds;
}

std::vector<int64_t> lengths_between(const std::vector<int64_t> &bounds) {
    std::vector<int64_t> lengths;
    for (size_t i = 1; i < bounds.size(); i++) lengths.push_back(bounds[i] - bounds[i - 1]);
    return lengths;
}

void draw_packed(ByteReader &r, const PlanRules &rules, AttentionPlan *p) {
    const int64_t sequences = r.between(1, 4);
    p->q_begin = random_bounds(r, sequences, p->seqlen_q);
    p->k_begin = rules.same_lengths ? p->q_begin : random_bounds(r, sequences, p->seqlen_kv);
    p->q_length = lengths_between(p->q_begin);
    p->k_length = lengths_between(p->k_begin);
}

void draw_lengths(ByteReader &r, AttentionPlan *p) {
    if (!r.rarely(2)) return;
    p->has_lengths = true;
    for (int64_t &length : p->k_length) length = r.between(0, length);
}

/// Keys are what pages have room for, of which not all exist; of packed sequences, those that exist.
void draw_pages(ByteReader &r, AttentionPlan *p) {
    p->value_blocks = p->dtype == GYRE_BF16 && r.rarely(2);
    if (p->value_blocks) p->dim = p->v_dim = 64; // kernels for blocks are few
    p->page_size = INT64_C(1) << (p->value_blocks ? r.between(5, 6) : r.between(0, 6));
    p->pages = (p->seqlen_kv + p->page_size - 1) / p->page_size + r.below(2);
    p->has_lengths = p->has_lengths || p->packed() || p->seqlen_kv != p->pages * p->page_size;
    if (!p->packed()) p->seqlen_kv = p->pages * p->page_size;
}

} // namespace

std::vector<int64_t> AttentionPlan::lse_shape() const {
    if (packed()) return {heads, seqlen_q};
    return {batch, heads, seqlen_q};
}

int64_t AttentionPlan::longest_key() const {
    return k_length.empty() ? 0 : *std::max_element(k_length.begin(), k_length.end());
}

bool AttentionPlan::queries_within_keys() const {
    for (size_t i = 0; i < q_length.size(); i++)
        if (q_length[i] > k_length[i]) return false;
    return true;
}

AttentionPlan random_plan(ByteReader &r, const PlanRules &rules) {
    AttentionPlan p;
    p.layout = random_layout(r);
    p.dtype = random_dtype(r);
    p.kv_heads = r.rarely(8) ? r.between(4, 10) : r.between(1, 3);
    p.heads = p.kv_heads * r.pick<int64_t>({1, 1, 2, 3, 8});
    p.dim = random_dim(r);
    p.v_dim = r.rarely(3) ? random_dim(r) : p.dim;
    const bool decoding = !rules.same_lengths && r.rarely(3);
    p.seqlen_kv = decoding ? random_keys_of_tokens(r) : random_length(r);
    p.seqlen_q = rules.same_lengths ? p.seqlen_kv : decoding ? r.between(1, 16) : random_length(r);
    p.batch = p.packed() ? 1 : r.between(1, 3);
    if (p.packed()) {
        draw_packed(r, rules, &p);
    } else {
        p.q_length.assign((size_t)p.batch, p.seqlen_q);
        p.k_length.assign((size_t)p.batch, p.seqlen_kv);
    }
    draw_lengths(r, &p);
    if (rules.may_have_pages && r.rarely(4)) draw_pages(r, &p);
    return p;
}

} // namespace gyre::fuzz
