#include "attention_keys.h"
#include "support/value_blocks.h"

#include <algorithm>
#include <numeric>

namespace gyre::fuzz {
namespace {

constexpr int64_t most_idle_pages = 2;

/// Numbers of a pool, by C order, and which of them count.
struct Pool {
    Extents extents;
    std::vector<double> numbers;
    std::vector<bool> hidden;

    explicit Pool(const Extents &of) : extents(of), numbers((size_t)of.count()), hidden(numbers.size(), true) {}

    /// Puts the features of every page, head and slot into blocks.
    void arrange_in_blocks() {
        Extents heads_first = extents;
        heads_first.layout = GYRE_BHSD;
        std::vector<double> rows(numbers.size()), flags(numbers.size());
        each([&](size_t at, int64_t b, int64_t t, int64_t h, int64_t d) {
            rows[heads_first.index(b, t, h, d)] = numbers[at];
            flags[heads_first.index(b, t, h, d)] = hidden[at];
        });
        rows = test::to_blocks(rows, extents.tokens, extents.dim);
        flags = test::to_blocks(flags, extents.tokens, extents.dim);
        each([&](size_t at, int64_t b, int64_t t, int64_t h, int64_t d) {
            numbers[at] = rows[heads_first.index(b, t, h, d)];
            hidden[at] = flags[heads_first.index(b, t, h, d)] != 0;
        });
    }

    template <typename Visit>
    void each(const Visit &visit) const {
        for (int64_t b = 0; b < extents.batch; b++)
            for (int64_t t = 0; t < extents.tokens; t++)
                for (int64_t h = 0; h < extents.heads; h++)
                    for (int64_t d = 0; d < extents.dim; d++) visit(extents.index(b, t, h, d), b, t, h, d);
    }

    /// Blocks need tokens side by side.
    test::Placement placement_of_blocks() const {
        const int64_t slots = extents.tokens * extents.dim;
        if (extents.layout == GYRE_BHSD)
            return test::Placement::with_strides({slots * extents.heads, slots, extents.dim, 1});
        return test::Placement::with_strides({slots * extents.heads, extents.dim, slots, 1});
    }
};

} // namespace

KeyPlacement::KeyPlacement(ByteReader &r, Store &store, const AttentionPlan &plan) : r_(r), store_(store), plan_(plan) {
    if (!plan.page_size) return;
    pages_ = plan.pages;
    pool_ = plan.sequences() * pages_ + r.below(most_idle_pages + 1);
    std::vector<int64_t> free((size_t)pool_);
    std::iota(free.begin(), free.end(), 0);
    for (size_t i = free.size(); i > 1; i--) std::swap(free[i - 1], free[(size_t)r.between(0, (int64_t)i - 1)]);
    table_.assign((size_t)(plan.sequences() * pages_), -1);
    std::vector<double> entries(table_.size());
    std::vector<bool> hidden(table_.size(), true);
    for (int64_t s = 0; s < plan.sequences(); s++)
        for (int64_t page = 0; page * plan.page_size < plan.k_length[(size_t)s]; page++) {
            const auto at = (size_t)(s * pages_ + page);
            table_[at] = free.back();
            free.pop_back();
            entries[at] = (double)table_[at];
            hidden[at] = false;
        }
    PlacementRules rules;
    const std::vector<int64_t> shape{plan.sequences(), pages_};
    Input &table = store.read(GYRE_I32, shape, random_placement(r, shape, rules), entries);
    table.hide(hidden);
    page_table_ = &table.view();
}

void KeyPlacement::place_keys(const std::vector<double> &numbers, const std::vector<bool> &hidden,
                              gyre_attention_args *a) {
    a->k = place(plan_.keys(), numbers, hidden, false);
    a->page_table = page_table_;
    if (page_table_) a->cu_seqlens_k = nullptr;
}

void KeyPlacement::place_values(const std::vector<double> &numbers, const std::vector<bool> &hidden,
                                gyre_attention_args *a) {
    a->v = place(plan_.values(), numbers, hidden, plan_.value_blocks);
    if (plan_.value_blocks) a->value_order = GYRE_VALUES_IN_BLOCKS;
}

const gyre_tensor &KeyPlacement::place(const Extents &of, const std::vector<double> &numbers,
                                       const std::vector<bool> &hidden, bool in_blocks) {
    if (page_table_) return place_in_pages(of, numbers, hidden, in_blocks);
    const bool any = std::find(hidden.begin(), hidden.end(), true) != hidden.end();
    Input &input = random_heads(r_, store_, of, plan_.dtype, numbers, !any);
    if (any) input.hide(hidden);
    return input.view();
}

const gyre_tensor &KeyPlacement::place_in_pages(const Extents &of, const std::vector<double> &numbers,
                                                const std::vector<bool> &hidden, bool in_blocks) {
    Extents shape = of;
    shape.layout = plan_.layout == GYRE_BHSD ? GYRE_BHSD : GYRE_BSHD;
    shape.batch = pool_;
    shape.tokens = plan_.page_size;
    Pool pool(shape);
    for (int64_t s = 0; s < plan_.sequences(); s++)
        for (int64_t j = 0; j < plan_.k_length[(size_t)s]; j++) {
            const int64_t page = table_[(size_t)(s * pages_ + j / plan_.page_size)], slot = j % plan_.page_size;
            const int64_t entry = plan_.packed() ? 0 : s, token = plan_.packed() ? plan_.k_begin[(size_t)s] + j : j;
            for (int64_t h = 0; h < of.heads; h++)
                for (int64_t d = 0; d < of.dim; d++) {
                    const size_t to = pool.extents.index(page, slot, h, d), from = of.index(entry, token, h, d);
                    pool.numbers[to] = numbers[from];
                    pool.hidden[to] = hidden[from];
                }
        }
    if (in_blocks) pool.arrange_in_blocks();
    PlacementRules rules;
    rules.may_go_back = false;
    const test::Placement placement =
        in_blocks ? pool.placement_of_blocks() : random_placement(r_, shape.shape(), rules);
    Input &input = store_.read(plan_.dtype, shape.shape(), placement, pool.numbers);
    input.hide(pool.hidden);
    return input.view();
}

} // namespace gyre::fuzz
