/// A caller's tables of cosines and sines in attention: no row is read that no token needs, and rows need not keep lengths.
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_matrix.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// A rope whose tables have `rows` rows, the last before memory that nobody may read.
struct TableRope {
    static std::vector<float> numbers(int64_t rows, int64_t pairs, double factor, double (*of)(double)) {
        std::vector<float> all;
        for (int64_t m = 0; m < rows; m++)
            for (int64_t i = 0; i < pairs; i++)
                all.push_back((float)(factor * of((double)m * std::pow(100.0, -(double)i / (double)pairs))));
        return all;
    }

    TableRope(int64_t rows, int64_t pairs, double factor = 1)
        : cos(pairs, numbers(rows, pairs, factor, [](double a) { return std::cos(a); })),
          sin(pairs, numbers(rows, pairs, factor, [](double a) { return std::sin(a); })) {
        rope.cos = cos.view();
        rope.sin = sin.view();
    }

    GuardedMatrix cos, sin;
    gyre_rope rope = gyre_rope_defaults();
};

} // namespace

TEST_CASE("tables with a row for every key that exists are not read further, whatever the cache has room for") {
    const std::vector<double> used = {70, 33};
    const TableRope tables(70, 32);
    for (const bool values : {false, true})
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            BackwardCase c(AttentionShape().batches(2).lengths(20, 200).head_counts(4, 2).dims(64).in(layout));
            c.forward.args.seqused_k = c.forward.hold(GYRE_I32, used);
            c.forward.args.rope = &tables.rope;
            if (values) c.forward.args.value_rope = &tables.rope;
            c.check();
            c.check(2);
        }
}

TEST_CASE("tables need a row for the last key, and rows for queries that stand before the first one are nowhere") {
    const TableRope tables(70, 32);
    const auto status_of = [&](AttentionCase &c) {
        gyre_status status = GYRE_OK;
        c.args.rope = &tables.rope;
        each_target([&](gyre_context *context) { status = c.run(context); });
        return status;
    };
    for (const int64_t keys : {70, 71}) {
        AttentionCase c(AttentionShape().lengths(2, keys).dims(64));
        c.args.q_positions = c.hold(GYRE_I32, {3, 69});
        CHECK(status_of(c) == (keys == 70 ? GYRE_OK : GYRE_BAD_ARGUMENT));
    }
    for (const int64_t queries : {30, 31}) {
        AttentionCase c(AttentionShape().lengths(queries, 30).dims(64));
        CHECK(status_of(c) == (queries == 30 ? GYRE_OK : GYRE_BAD_ARGUMENT));
    }
}

TEST_CASE("tables are not read for keys that are rotated already") {
    const TableRope tables(40, 32);
    AttentionCase c(AttentionShape().lengths(4, 200).dims(64));
    c.args.rope = &tables.rope;
    c.args.keys_rotated = 1;
    c.args.q_positions = c.hold(GYRE_I32, {36, 37, 38, 39});
    c.check();
}

TEST_CASE("backward: tables of values with a factor in them, as models have it, are the rotation's gradient") {
    const TableRope half(90, 32, 0.5), larger(90, 32, 1.3);
    for (const TableRope *tables : {&half, &larger})
        for (const bool rotated : {false, true}) {
            BackwardCase c(AttentionShape().lengths(50, 90).head_counts(4, 2).dims(64));
            c.forward.args.value_rope = &tables->rope;
            c.forward.args.values_rotated = rotated;
            c.forward.args.causal = 1;
            c.check();
        }
}
