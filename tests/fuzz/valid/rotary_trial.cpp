#include "rotary_trial.h"
#include "description.h"
#include "heads.h"
#include "support/oracle_rotary.h"

#include <optional>

namespace gyre::fuzz {
namespace {

/// The tokens of a call and how they are turned.
struct Turn {
    Extents extents;
    gyre_dtype dtype;
    gyre_rope rope = gyre_rope_defaults();
    int32_t reverse = 0;
    int64_t position_offset = 0;
    std::optional<RandomPositions> positions;

    Turn(ByteReader &r, Store &store) : dtype(random_dtype(r)) {
        extents.layout = random_layout(r);
        extents.batch = extents.layout == GYRE_THD ? 1 : r.between(0, 3);
        extents.tokens = r.rarely(8) ? r.between(60, 140) : r.between(0, 40);
        extents.heads = r.between(0, 5);
        extents.dim = r.rarely(3) ? r.between(2, 300) : r.pick<int64_t>({64, 128, 32, 80, 2});
        reverse = (int32_t)r.below(2);
        const uint32_t angles = r.below(4);
        const int32_t axes = angles < 2 && r.rarely(4) ? (int32_t)r.between(2, 4) : 1;
        gyre_rope &random = random_rope(r, store, {extents.dim, axes, true});
        if (angles == 3) add_token_tables(r, store, &random, extents.dim, extents.batch, extents.tokens);
        const int64_t rows = r.between(1, 200);
        place(r, store, axes, angles == 2 ? rows : 1 << 20);
        if (angles == 2) add_tables(r, store, &random, extents.dim, rows_of_table(rows));
        rope = random;
    }

private:
    void place(ByteReader &r, Store &store, int32_t axes, int64_t limit) {
        if (!r.rarely(2) && extents.tokens <= limit) {
            position_offset = r.between(0, std::min<int64_t>(limit - extents.tokens, 60000));
            return;
        }
        PositionRules rules;
        rules.axes = axes;
        rules.batch = extents.batch;
        rules.tokens = extents.tokens;
        rules.limit = limit;
        positions.emplace(random_positions(r, store, rules));
    }

    TableRows rows_of_table(int64_t count) const {
        TableRows rows;
        rows.count = count;
        if (positions)
            for (const int64_t row : positions->used) rows.use(row);
        for (int64_t i = 0; !positions && i < extents.tokens; i++) rows.use(position_offset + i);
        rows.used.resize((size_t)count);
        return rows;
    }
};

std::string compare_turned(const gyre_rotary_args &args, const Output &output) {
    const test::OracleRotary expected = test::oracle_rotary(args);
    return find_difference(output.name(), test::Dense(output.view(), args.layout).data, expected.out.data,
                           test::rotary_tolerances(args, expected));
}

class RotaryTrial : public Trial {
public:
    explicit RotaryTrial(ByteReader &r) : turn_(r, store), args_(gyre_rotary_defaults()) {
        in_place_ = r.rarely(4);
        x_ = &random_heads(r, store, turn_.extents, turn_.dtype);
        out_ = &random_output(r, store, "out", turn_.extents, turn_.dtype);
        args_.layout = turn_.extents.layout;
        args_.x = x_->view();
        args_.out = out_->view();
        args_.rope = turn_.rope;
        args_.reverse = turn_.reverse;
        args_.positions = turn_.positions ? turn_.positions->given : nullptr;
        args_.position_offset = turn_.position_offset;
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_rotary_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        if (in_place_) {
            out_->tensor().set_values(x_->tensor().values());
            a.x = a.out;
        }
        return gyre_rotary(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_rotary_workspace_size(context, &args_, bytes);
    }
    std::string compare(gyre_context *) override { return compare_turned(args_, *out_); }
    std::string describe() const override { return fuzz::describe(args_).number("in_place", in_place_).text(); }

private:
    Turn turn_;
    gyre_rotary_args args_;
    bool in_place_;
    Input *x_;
    Output *out_;
};

class RotaryQkTrial : public Trial {
public:
    explicit RotaryQkTrial(ByteReader &r) : turn_(r, store), args_(gyre_rotary_qk_defaults()) {
        Extents of_k = turn_.extents;
        of_k.heads = r.between(0, 3);
        args_.layout = turn_.extents.layout;
        args_.q = random_heads(r, store, turn_.extents, turn_.dtype).view();
        args_.k = random_heads(r, store, of_k, turn_.dtype).view();
        args_.q_out = random_output(r, store, "q_out", turn_.extents, turn_.dtype).view();
        args_.k_out = random_output(r, store, "k_out", of_k, turn_.dtype).view();
        args_.rope = turn_.rope;
        args_.reverse = turn_.reverse;
        args_.positions = turn_.positions ? turn_.positions->given : nullptr;
        args_.position_offset = turn_.position_offset;
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_rotary_qk_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        return gyre_rotary_qk(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_rotary_qk_workspace_size(context, &args_, bytes);
    }
    std::string compare(gyre_context *) override {
        const std::string q = compare_turned(alone(args_.q, args_.q_out), store.outputs[0]);
        return q.empty() ? compare_turned(alone(args_.k, args_.k_out), store.outputs[1]) : q;
    }
    std::string describe() const override { return fuzz::describe(args_).text(); }

private:
    Turn turn_;
    gyre_rotary_qk_args args_;

    gyre_rotary_args alone(const gyre_tensor &x, const gyre_tensor &out) const {
        gyre_rotary_args a = gyre_rotary_defaults();
        a.layout = args_.layout;
        a.x = x;
        a.out = out;
        a.rope = args_.rope;
        a.reverse = args_.reverse;
        a.positions = args_.positions;
        a.position_offset = args_.position_offset;
        return a;
    }
};

} // namespace

std::unique_ptr<Trial> random_rotary(ByteReader &r) { return std::make_unique<RotaryTrial>(r); }
std::unique_ptr<Trial> random_rotary_qk(ByteReader &r) { return std::make_unique<RotaryQkTrial>(r); }

} // namespace gyre::fuzz
