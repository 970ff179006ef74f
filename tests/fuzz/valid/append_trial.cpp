#include "append_trial.h"
#include "description.h"
#include "heads.h"
#include "ropes.h"
#include "support/oracle_append.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace gyre::fuzz {
namespace {

/// New tokens of each sequence, and the cache that they go into.
struct AppendPlan {
    Extents k, v;             // new tokens
    gyre_layout cache_layout; // bshd or bhsd
    gyre_dtype dtype, cache_dtype;
    bool in_blocks = false;
    int64_t page_size = 0, pages = 0, capacity = 0; // no pages: 0
    std::vector<int64_t> held, bounds;              // of sequences; bounds: thd

    explicit AppendPlan(ByteReader &r) : dtype(random_dtype(r)) {
        cache_dtype = dtype == GYRE_F32 ? random_dtype(r) : dtype;
        cache_layout = r.rarely(2) ? GYRE_BHSD : GYRE_BSHD;
        in_blocks = cache_dtype == GYRE_BF16 && r.rarely(3);
        k.layout = v.layout = random_layout(r);
        const bool packed = k.layout == GYRE_THD;
        const int64_t sequences = r.between(1, 4);
        k.batch = v.batch = packed ? 1 : sequences;
        k.heads = v.heads = r.between(1, 4);
        k.dim = r.rarely(3) ? r.between(1, 140) : r.pick<int64_t>({64, 128, 2});
        v.dim = r.rarely(3) ? r.between(1, 140) : k.dim;
        k.tokens = v.tokens = r.between(0, r.rarely(4) ? 80 : 12);
        if (packed) {
            bounds = {0};
            for (int64_t s = 1; s < sequences; s++) bounds.push_back(r.between(0, k.tokens));
            bounds.push_back(k.tokens);
            std::sort(bounds.begin(), bounds.end());
        }
        capacity = k.tokens + r.between(0, 40);
        if (in_blocks) capacity = (capacity + GYRE_VALUE_BLOCK) / GYRE_VALUE_BLOCK * GYRE_VALUE_BLOCK;
        if (r.rarely(2)) {
            page_size = INT64_C(1) << (in_blocks ? r.between(5, 6) : r.between(0, 6));
            pages = (capacity + page_size - 1) / page_size;
            capacity = pages * page_size;
        }
        for (int64_t s = 0; s < sequences; s++) held.push_back(r.between(0, capacity - added(s)));
    }

    int64_t added(int64_t s) const { return bounds.empty() ? k.tokens : bounds[(size_t)s + 1] - bounds[(size_t)s]; }
    int64_t sequences() const { return bounds.empty() ? k.batch : (int64_t)bounds.size() - 1; }
    Extents cache(const Extents &of, int64_t pool) const {
        return {cache_layout, page_size ? pool : sequences(), page_size ? page_size : capacity, of.heads, of.dim};
    }
};

class AppendTrial : public Trial {
public:
    explicit AppendTrial(ByteReader &r) : plan_(r), args_(gyre_cache_append_defaults()) {
        args_.layout = plan_.k.layout;
        args_.cache_layout = plan_.cache_layout;
        args_.k = random_heads(r, store, plan_.k, plan_.dtype).view();
        args_.v = random_heads(r, store, plan_.v, plan_.dtype).view();
        const bool held = !r.rarely(4);
        if (!held) std::fill(plan_.held.begin(), plan_.held.end(), 0);
        if (held) args_.cache_seqlens = store.list({plan_.held.begin(), plan_.held.end()});
        if (!plan_.bounds.empty()) args_.cu_seqlens_k = store.list({plan_.bounds.begin(), plan_.bounds.end()});
        const int64_t pool = plan_.sequences() * plan_.pages + r.below(3);
        if (plan_.page_size) draw_pages(r, pool);
        if (plan_.in_blocks) args_.value_order = GYRE_VALUES_IN_BLOCKS;
        const Extents k_cache = plan_.cache(plan_.k, pool), v_cache = plan_.cache(plan_.v, pool);
        k_cache_ = &random_output(r, store, "k_cache", k_cache, plan_.cache_dtype);
        v_cache_ = plan_.in_blocks
                       ? &store.write("v_cache", plan_.cache_dtype, v_cache.shape(), placement_of_blocks(v_cache))
                       : &random_output(r, store, "v_cache", v_cache, plan_.cache_dtype);
        args_.k_cache = k_cache_->view();
        args_.v_cache = v_cache_->view();
        draw_rotations(r);
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_cache_append_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        return gyre_cache_append(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_cache_append_workspace_size(context, &args_, bytes);
    }
    std::string compare(gyre_context *) override {
        const std::string keys = compare(*k_cache_, test::oracle_appended_keys(args_));
        return keys.empty() ? compare(*v_cache_, test::oracle_appended_values(args_)) : keys;
    }
    std::string describe() const override { return fuzz::describe(args_).text(); }

private:
    AppendPlan plan_;
    gyre_cache_append_args args_;
    Output *k_cache_, *v_cache_;
    std::optional<RandomPositions> positions_;

    static test::Placement placement_of_blocks(const Extents &e) {
        const int64_t slots = e.tokens * e.dim;
        if (e.layout == GYRE_BHSD) return test::Placement::with_strides({slots * e.heads, slots, e.dim, 1});
        return test::Placement::with_strides({slots * e.heads, e.dim, slots, 1});
    }

    void draw_pages(ByteReader &r, int64_t pool) {
        std::vector<int64_t> free((size_t)pool);
        std::iota(free.begin(), free.end(), 0);
        for (size_t i = free.size(); i > 1; i--) std::swap(free[i - 1], free[(size_t)r.between(0, (int64_t)i - 1)]);
        const int64_t pages = plan_.pages;
        std::vector<double> table((size_t)(plan_.sequences() * pages));
        std::vector<bool> hidden(table.size(), true);
        for (int64_t s = 0; s < plan_.sequences(); s++) {
            const int64_t first = plan_.held[(size_t)s], end = first + plan_.added(s);
            for (int64_t page = first / plan_.page_size; page * plan_.page_size < end; page++) {
                table[(size_t)(s * pages + page)] = (double)free.back();
                hidden[(size_t)(s * pages + page)] = plan_.added(s) == 0;
                free.pop_back();
            }
        }
        const std::vector<int64_t> shape{plan_.sequences(), pages};
        Input &input = store.read(GYRE_I32, shape, random_placement(r, shape, {}), table);
        input.hide(hidden);
        args_.page_table = &input.view();
    }

    gyre_rope *draw_rope(ByteReader &r, int64_t dim, int32_t axes) {
        if (dim < 2 || !r.rarely(2)) return nullptr;
        return &random_rope(r, store, {dim, axes, true});
    }

    void draw_rotations(ByteReader &r) {
        const int32_t axes = r.rarely(6) && std::min(plan_.k.dim, plan_.v.dim) > 1 ? (int32_t)r.between(2, 4) : 1;
        gyre_rope *const rope = draw_rope(r, plan_.k.dim, axes), *const value_rope = draw_rope(r, plan_.v.dim, axes);
        args_.rope = rope;
        args_.value_rope = value_rope;
        if (!rope && !value_rope) return;
        TableRows rows;
        if (axes == 1 && r.rarely(3)) rows.count = plan_.capacity + 1;
        if (r.rarely(2)) {
            PositionRules rules;
            rules.axes = axes;
            rules.batch = plan_.k.batch;
            rules.tokens = plan_.k.tokens;
            if (rows.count) rules.limit = rows.count;
            positions_.emplace(random_positions(r, store, rules));
            args_.positions = positions_->given;
            for (const int64_t row : positions_->used) rows.use(row);
        } else {
            for (int64_t s = 0; s < plan_.sequences(); s++)
                for (int64_t i = 0; i < plan_.added(s); i++) rows.use(plan_.held[(size_t)s] + i);
        }
        if (!rows.count) return;
        rows.used.resize((size_t)rows.count);
        if (rope) add_tables(r, store, rope, plan_.k.dim, rows);
        if (value_rope && r.rarely(2)) add_tables(r, store, value_rope, plan_.v.dim, rows);
    }

    static std::string compare(const Output &cache, const test::OracleAppended &expected) {
        const test::Tensor untouched(cache.tensor().dtype(), cache.tensor().shape()); // all poison
        const std::vector<uint64_t> bits = cache.tensor().bits(), poison = untouched.bits();
        std::vector<double> got = cache.tensor().values();
        for (size_t i = 0; i < got.size(); i++) {
            if (expected.written[i]) continue;
            if (bits[i] != poison[i]) return std::string(cache.name()) + ": a slot of another key was written";
            got[i] = expected.exact[i];
        }
        return find_difference(cache.name(), got, expected.exact, expected.allowed);
    }
};

} // namespace

std::unique_ptr<Trial> random_append(ByteReader &r) { return std::make_unique<AppendTrial>(r); }

} // namespace gyre::fuzz
