#include "attention_call.h"
#include "attention_keys.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace gyre::fuzz {
namespace {

/// Tokens whose numbers are large, or no numbers: who does not see them must not know.
void make_loud(ByteReader &r, const Extents &extents, double value, std::vector<double> *numbers) {
    const int64_t tokens = r.between(1, 3);
    std::set<std::pair<int64_t, int64_t>> loud;
    for (int64_t n = 0; n < tokens && extents.count() > 0; n++) {
        const int64_t b = r.between(0, extents.batch - 1), t = r.between(0, extents.tokens - 1);
        if (!loud.insert({b, t}).second) continue;
        for (int64_t h = 0; h < extents.heads; h++)
            for (int64_t d = 0; d < extents.dim; d++) {
                double &number = (*numbers)[extents.index(b, t, h, d)];
                number = std::isnan(value) ? value : number * value;
            }
    }
}

} // namespace

AttentionArguments::AttentionArguments(ByteReader &r, Store &store, const CallRules &rules)
    : plan(random_plan(r, rules.plan)) {
    OptionRules options = rules.options;
    options.may_have_dropout = !draw_numbers(r, rules); // whether 0 times NaN is a number, there is nobody to ask
    clean.layout = plan.layout;
    q = &random_heads(r, store, plan.queries(), plan.dtype);
    in_place = rules.may_be_in_place && plan.dim == plan.v_dim && r.rarely(6);
    out = &random_output(r, store, "out", plan.outputs(), plan.dtype);
    clean.q = q->view();
    clean.out = out->view();
    clean.k = refer(plan.keys(), k_numbers_).view();
    clean.v = refer(plan.values(), v_numbers_).view();
    draw_lists(store);
    draw_options(r, store, plan, options, &clean);
    draw_rotations(r, store);
    const gyre_attention_args drawn = given; // positions
    given = clean;
    given.q_positions = drawn.q_positions;
    given.k_positions = drawn.k_positions;
    given.rope = drawn.rope;
    given.value_rope = drawn.value_rope;
    KeyPlacement keys(r, store, plan);
    keys.place_keys(k_numbers_, hidden_elements(clean, plan.keys()), &given);
    keys.place_values(v_numbers_, hidden_elements(clean, plan.values()), &given);
    if (!plan.page_size) { // repeated numbers, too
        clean.k = given.k;
        clean.v = given.v;
    }
    if (rules.has_lse || !r.rarely(4)) {
        PlacementRules placement;
        const std::vector<int64_t> shape = plan.lse_shape();
        lse = &store.write("lse", GYRE_F32, shape, random_placement(r, shape, placement));
        given.lse = clean.lse = &lse->view();
    }
}

const test::Tensor &AttentionArguments::refer(const Extents &extents, const std::vector<double> &numbers) {
    test::Tensor &tensor = reference_.emplace_back(plan.dtype, extents.shape());
    tensor.set_values(numbers);
    return tensor;
}

bool AttentionArguments::draw_numbers(ByteReader &r, const CallRules &rules) {
    k_numbers_ = random_numbers(r, plan.keys().count());
    v_numbers_ = random_numbers(r, plan.values().count());
    // In f16 dropout's factor, 10 at most, must not take results past the largest number: their gradients would be none.
    const double loud = plan.dtype == GYRE_F16 ? 250 : 1e25;
    if (r.rarely(4)) make_loud(r, plan.values(), loud, &v_numbers_);
    if (!rules.may_have_nan) return false;
    const bool in_values = r.rarely(6), in_keys = r.rarely(12);
    if (in_values) make_loud(r, plan.values(), NAN, &v_numbers_);
    if (in_keys) make_loud(r, plan.keys(), NAN, &k_numbers_);
    return in_values || in_keys;
}

void AttentionArguments::draw_lists(Store &store) {
    const auto numbers = [](const std::vector<int64_t> &list) { return std::vector<double>(list.begin(), list.end()); };
    if (plan.packed()) clean.cu_seqlens_q = store.list(numbers(plan.q_begin));
    if (plan.packed()) clean.cu_seqlens_k = store.list(numbers(plan.k_begin));
    if (plan.has_lengths) clean.seqused_k = store.list(numbers(plan.k_length));
}

gyre_rope *AttentionArguments::draw_rope(ByteReader &r, Store &store, int64_t dim, int32_t axes) {
    if (dim < 2 || !r.rarely(2)) return nullptr;
    RopeRules rules;
    rules.dim = dim;
    rules.axes = axes;
    return &random_rope(r, store, rules);
}

int64_t AttentionArguments::default_rows() const { return std::max<int64_t>(plan.longest_key(), 1); }

TableRows AttentionArguments::rows_of_tables(int64_t count, bool keys_too) const {
    TableRows rows;
    rows.count = count;
    for (const RandomPositions &p : positions_)
        if (&p.clean_view == clean.q_positions || keys_too)
            for (const int64_t row : p.used) rows.use(row);
    for (size_t s = 0; s < plan.q_length.size(); s++) {
        for (int64_t i = 0; !clean.q_positions && i < plan.q_length[s]; i++)
            rows.use(plan.k_length[s] - plan.q_length[s] + i);
        for (int64_t j = 0; !clean.k_positions && keys_too && j < plan.k_length[s]; j++) rows.use(j);
    }
    rows.use(0); // where the oracle sees tokens that do not count
    rows.used.resize((size_t)count);
    return rows;
}

void AttentionArguments::draw_rotations(ByteReader &r, Store &store) {
    const int32_t axes = r.rarely(6) && std::min(plan.dim, plan.v_dim) > 1 ? (int32_t)r.between(2, 4) : 1;
    gyre_rope *const rope = draw_rope(r, store, plan.dim, axes);
    gyre_rope *const value_rope = draw_rope(r, store, plan.v_dim, axes);
    if (!rope && !value_rope) return;
    clean.keys_rotated = rope && (plan.value_blocks || r.rarely(4));
    clean.values_rotated = value_rope && (plan.value_blocks || r.rarely(4));
    // A rope without axes beside one with a single axis is fine: both read one position a token.
    const bool with_tables = axes == 1 && r.rarely(3);
    const bool given_q = r.rarely(2) || (with_tables && !plan.queries_within_keys()), given_k = r.rarely(2);
    int64_t limit = 1 << 20;
    if (with_tables) limit = std::max<int64_t>(default_rows() + r.below(4), 1);
    PositionRules rules;
    rules.axes = axes;
    rules.batch = plan.batch;
    rules.limit = limit;
    if (given_q) {
        rules.tokens = plan.seqlen_q;
        RandomPositions &p = positions_.emplace_back(random_positions(r, store, rules));
        given.q_positions = p.given;
        clean.q_positions = &p.clean_view;
    }
    if (given_k && !plan.page_size) {
        rules.tokens = plan.seqlen_kv;
        rules.lengths = plan.lengths_by_entry();
        RandomPositions &p = positions_.emplace_back(random_positions(r, store, rules));
        given.k_positions = p.given;
        clean.k_positions = &p.clean_view;
    }
    if (with_tables && rope) add_tables(r, store, rope, plan.dim, rows_of_tables(limit, !clean.keys_rotated));
    if (with_tables && value_rope && r.rarely(2))
        add_tables(r, store, value_rope, plan.v_dim, rows_of_tables(limit, !clean.values_rotated));
    given.rope = clean.rope = rope;
    given.value_rope = clean.value_rope = value_rope;
}

} // namespace gyre::fuzz
