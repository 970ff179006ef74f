#include "merge_trial.h"
#include "description.h"
#include "heads.h"
#include "support/oracle_merge.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {
namespace {

/// All parts as one tensor, whose first dimension is theirs: the view of part 0, and how far the next one is.
int64_t take_first(gyre_tensor *all, gyre_layout layout, int64_t batch) {
    const int64_t stride = all->strides[0];
    if (layout != GYRE_THD) {
        all->shape[0] = batch;
        return stride * batch;
    }
    all->rank--;
    for (int d = 0; d < all->rank; d++) {
        all->shape[d] = all->shape[d + 1];
        all->strides[d] = all->strides[d + 1];
    }
    return stride;
}

class MergeTrial : public Trial {
public:
    explicit MergeTrial(ByteReader &r) : args_(gyre_attention_merge_defaults()) {
        Extents e;
        e.layout = random_layout(r);
        e.batch = e.layout == GYRE_THD ? 1 : r.between(1, 3);
        e.tokens = r.between(0, 40);
        e.heads = r.between(1, 5);
        e.dim = r.rarely(3) ? r.between(1, 200) : r.pick<int64_t>({64, 128, 32});
        const int64_t parts = r.between(0, 5);
        const gyre_dtype from = random_dtype(r), to = from == GYRE_F32 ? random_dtype(r) : from;
        std::vector<double> lse = test::normal_numbers(r.number<uint16_t>(), parts * e.batch * e.heads * e.tokens,
                                                       r.pick<double>({1, 3, 30}));
        spoil_some(r, &lse);
        place_parts(r, e, parts, from, lse);
        const std::vector<int64_t> shape = lse_shape(e);
        out_ = &random_output(r, store, "out", e, to);
        if (r.rarely(2)) lse_ = &store.write("lse", GYRE_F32, shape, random_placement(r, shape, {}));
        args_.layout = e.layout;
        args_.parts = (int32_t)parts;
        args_.out = out_->view();
        args_.lse = lse_ ? &lse_->view() : nullptr;
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_attention_merge_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        return gyre_attention_merge(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_attention_merge_workspace_size(context, &args_, bytes);
    }
    std::string compare(gyre_context *) override {
        const test::OracleMerge expected = test::oracle_merge(args_);
        const std::string difference =
            find_difference("out", test::Dense(args_.out, args_.layout).data, expected.out.data, expected.out_allowed);
        if (!difference.empty() || !lse_) return difference;
        return find_difference("lse", lse_->tensor().values(), expected.lse, expected.lse_allowed);
    }
    std::string describe() const override { return fuzz::describe(args_).text(); }

private:
    gyre_attention_merge_args args_;
    Output *out_, *lse_ = nullptr;

    /// Parts that see nothing, and others that are no numbers.
    static void spoil_some(ByteReader &r, std::vector<double> *lse) {
        test::Random random(r.number<uint16_t>());
        const double empty = r.pick<double>({0, 0.3, 0.9}), nan = r.pick<double>({0, 0, 0, 0.05});
        for (double &value : *lse) {
            if (random.chance(empty)) value = -INFINITY;
            if (random.chance(nan)) value = NAN;
        }
    }

    static std::vector<int64_t> lse_shape(const Extents &e) {
        if (e.layout == GYRE_THD) return {e.heads, e.tokens};
        return {e.batch, e.heads, e.tokens};
    }

    void place_parts(ByteReader &r, const Extents &e, int64_t parts, gyre_dtype dtype, const std::vector<double> &lse) {
        std::vector<int64_t> shape = e.shape(), of_lse = lse_shape(e);
        if (e.layout == GYRE_THD) {
            shape.insert(shape.begin(), parts);
            of_lse.insert(of_lse.begin(), parts);
        } else {
            shape[0] *= parts;
            of_lse[0] *= parts;
        }
        PlacementRules rules;
        rules.may_go_back = false;
        test::Placement of_out = random_placement(r, shape, rules), of_lses = random_placement(r, of_lse, rules);
        for (test::Placement *p : {&of_out, &of_lses})
            if (!p->strides.empty() && (e.batch * parts < 2)) p->strides[0] = 1 << 20;
        Input &out = store.read(dtype, shape, of_out, random_numbers(r, parts * e.count()));
        out.hide(rows_without_keys(e, parts, lse));
        args_.part_out = out.view();
        args_.part_lse = store.read(GYRE_F32, of_lse, of_lses, lse).view();
        args_.part_out_stride = take_first(&args_.part_out, e.layout, e.batch);
        args_.part_lse_stride = take_first(&args_.part_lse, e.layout, e.batch);
    }

    static std::vector<bool> rows_without_keys(const Extents &e, int64_t parts, const std::vector<double> &lse) {
        Extents all = e;
        all.batch *= parts; // thd, too
        if (all.layout == GYRE_THD) all.layout = GYRE_BSHD;
        std::vector<bool> hidden((size_t)all.count());
        for (int64_t b = 0; b < all.batch; b++)
            for (int64_t h = 0; h < e.heads; h++)
                for (int64_t t = 0; t < e.tokens; t++)
                    for (int64_t d = 0; d < e.dim; d++)
                        hidden[all.index(b, t, h, d)] = lse[(size_t)((b * e.heads + h) * e.tokens + t)] == -INFINITY;
        return hidden;
    }
};

} // namespace

std::unique_ptr<Trial> random_merge(ByteReader &r) { return std::make_unique<MergeTrial>(r); }

} // namespace gyre::fuzz
