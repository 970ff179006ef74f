#include "linear_call.h"
#include "support/random.h"

#include <algorithm>

namespace gyre::fuzz {
namespace {

AttentionPlan plan_of(ByteReader &r, bool causal) {
    PlanRules rules;
    rules.may_have_pages = false;
    rules.same_lengths = causal;
    return random_plan(r, rules);
}

/// Tokens that do not exist, by C order.
std::vector<bool> behind_lengths(const AttentionPlan &p, const Extents &of) {
    std::vector<bool> tokens((size_t)(of.batch * of.tokens), true);
    for (size_t s = 0; s < p.k_length.size(); s++)
        for (int64_t j = 0; j < p.k_length[s]; j++)
            tokens[(size_t)(p.packed() ? p.k_begin[s] + j : (int64_t)s * of.tokens + j)] = false;
    return of.of_tokens(tokens);
}

const gyre_tensor &random_keys(ByteReader &r, Store &store, const AttentionPlan &p, const Extents &of) {
    Input &input = random_heads(r, store, of, p.dtype, random_numbers(r, of.count()), !p.has_lengths);
    if (p.has_lengths) input.hide(behind_lengths(p, of));
    return input.view();
}

} // namespace

LinearArguments::LinearArguments(ByteReader &r, Store &store) {
    clean.causal = r.rarely(2);
    plan = plan_of(r, clean.causal);
    clean.layout = plan.layout;
    clean.q = random_heads(r, store, plan.queries(), plan.dtype).view();
    clean.k = random_keys(r, store, plan, plan.keys());
    clean.v = random_keys(r, store, plan, plan.values());
    out = &random_output(r, store, "out", plan.outputs(), plan.dtype);
    clean.out = out->view();
    const auto list = [&](const std::vector<int64_t> &numbers) {
        return store.list(std::vector<double>(numbers.begin(), numbers.end()));
    };
    if (plan.packed()) clean.cu_seqlens_q = list(plan.q_begin);
    if (plan.packed()) clean.cu_seqlens_k = list(plan.k_begin);
    if (plan.has_lengths) clean.seqused_k = list(plan.k_length);
    kv_state_shape = {plan.sequences(), plan.kv_heads, plan.dim, plan.v_dim};
    k_state_shape = {plan.sequences(), plan.kv_heads, plan.dim};
    if (r.rarely(2)) draw_states(r, store);
    given = clean;
    if (plan.dim > 1 && r.rarely(2)) draw_rotation(r, store);
}

void LinearArguments::draw_states(ByteReader &r, Store &store) {
    const int64_t rows = plan.sequences() * plan.kv_heads * plan.dim;
    std::vector<double> sums = test::normal_numbers(r.number<uint16_t>(), rows, 10);
    for (double &sum : sums) sum = sum * sum + 1; // of positive features
    clean.kv_state = &store
                          .read(GYRE_F32, kv_state_shape, random_placement(r, kv_state_shape, {}),
                                test::normal_numbers(r.number<uint16_t>(), rows * plan.v_dim, 10))
                          .view();
    clean.k_state = &store.read(GYRE_F32, k_state_shape, random_placement(r, k_state_shape, {}), sums).view();
}

const gyre_tensor *LinearArguments::draw_positions(ByteReader &r, Store &store, bool of_keys, int32_t axes,
                                                   int64_t limit) {
    PositionRules rules;
    rules.axes = axes;
    rules.batch = plan.batch;
    rules.tokens = of_keys ? plan.seqlen_kv : plan.seqlen_q;
    rules.limit = limit;
    if (of_keys) rules.lengths = plan.lengths_by_entry();
    RandomPositions &p = positions_.emplace_back(random_positions(r, store, rules));
    (of_keys ? clean.k_positions : clean.q_positions) = &p.clean_view;
    return p.given;
}

TableRows LinearArguments::rows_of_tables(int64_t count) const {
    TableRows rows;
    rows.count = count;
    for (const RandomPositions &p : positions_)
        for (const int64_t row : p.used) rows.use(row);
    for (size_t s = 0; s < plan.q_length.size(); s++) {
        const int64_t shift = clean.causal ? 0 : plan.k_length[s] - plan.q_length[s];
        for (int64_t i = 0; !clean.q_positions && i < plan.q_length[s]; i++) rows.use(shift + i);
        for (int64_t j = 0; !clean.k_positions && j < plan.k_length[s]; j++) rows.use(j);
    }
    rows.use(0); // where the oracle sees tokens that do not count
    rows.used.resize((size_t)count);
    return rows;
}

void LinearArguments::draw_rotation(ByteReader &r, Store &store) {
    const int32_t axes = r.rarely(6) ? (int32_t)r.between(2, 4) : 1;
    gyre_rope &rope = random_rope(r, store, {plan.dim, axes, false});
    const bool with_tables = axes == 1 && r.rarely(3);
    const bool may_default = !with_tables || clean.causal || plan.queries_within_keys();
    const bool given_q = r.rarely(2) || !may_default, given_k = clean.causal ? given_q : r.rarely(2);
    const int64_t rows = std::max<int64_t>({plan.seqlen_q, plan.seqlen_kv, 1}) + r.below(4);
    const int64_t limit = with_tables ? rows : 1 << 20;
    if (given_q) given.q_positions = draw_positions(r, store, false, axes, limit);
    if (given_k) given.k_positions = draw_positions(r, store, true, axes, limit);
    if (clean.causal && given_q && r.rarely(2)) {
        given.k_positions = given.q_positions;
        clean.k_positions = clean.q_positions;
    }
    if (with_tables) add_tables(r, store, &rope, plan.dim, rows_of_tables(rows));
    given.rope = clean.rope = &rope;
}

} // namespace gyre::fuzz
