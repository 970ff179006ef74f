/// gyre_rotary() against the oracle: types, pairings, windows of features, ragged extents, both directions.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"
#include "support/rotary_case.h"

using namespace gyre::test;

namespace {

const std::vector<gyre_dtype> types = {GYRE_F32, GYRE_F16, GYRE_BF16};
const std::vector<gyre_pairing> pairings = {GYRE_HALF, GYRE_INTERLEAVED};

struct Window {
    int64_t head_dim;
    int32_t rotary_dim, rotary_offset;
};

} // namespace

TEST_CASE("rotary matches the oracle for every type, pairing, layout and length") {
    for (const gyre_dtype type : types)
        for (const gyre_pairing pairing : pairings)
            for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD, GYRE_THD})
                for (const int64_t length : {0, 1, 3, 17, 65}) {
                    const int64_t batches = layout == GYRE_THD ? 1 : 2;
                    RotaryCase c(
                        RotaryShape().batches(batches).length(length).head_count(3).dim(64).of(type).in(layout));
                    c.args.rope.pairing = pairing;
                    c.check();
                }
}

TEST_CASE("rotary matches the oracle for every window of features") {
    const std::vector<Window> windows = {{2, 0, 0},   {4, 2, 2},      {8, 6, 1},    {10, 0, 0},     {63, 30, 32},
                                         {64, 32, 0}, {64, 32, 32},   {80, 0, 0},   {80, 20, 0},    {96, 72, 24},
                                         {128, 0, 0}, {128, 64, 0},   {128, 64, 3}, {192, 64, 128}, {256, 0, 0},
                                         {512, 0, 0}, {576, 64, 512}, {28, 0, 0},   {72, 56, 8}};
    for (const gyre_dtype type : types)
        for (const gyre_pairing pairing : pairings)
            for (const Window &window : windows) {
                RotaryCase c(RotaryShape().batches(1).length(5).head_count(3).dim(window.head_dim).of(type));
                c.args.rope.pairing = pairing;
                c.args.rope.rotary_dim = window.rotary_dim;
                c.args.rope.rotary_offset = window.rotary_offset;
                c.args.position_offset = 1000;
                c.check();
            }
}

TEST_CASE("rotary matches the oracle for odd numbers of heads and tokens, rotating back") {
    for (const gyre_dtype type : types)
        for (const int64_t heads : {1, 2, 5, 13})
            for (const int64_t length : {1, 2, 31, 33}) {
                RotaryCase c(RotaryShape().batches(3).length(length).head_count(heads).dim(40).of(type));
                c.args.rope.rotary_dim = 24;
                c.args.reverse = 1;
                c.check();
            }
}

TEST_CASE("an empty extent of any dimension is fine") {
    for (const gyre_dtype type : types)
        for (int empty = 0; empty < 3; empty++) {
            RotaryCase c(RotaryShape()
                             .batches(empty == 0 ? 0 : 2)
                             .length(empty == 1 ? 0 : 3)
                             .head_count(empty == 2 ? 0 : 4)
                             .dim(16)
                             .of(type));
            c.check();
        }
}

TEST_CASE("rotating back undoes rotating") {
    for (const gyre_pairing pairing : pairings) {
        RotaryCase forth(RotaryShape().batches(2).length(33).head_count(3).dim(80));
        forth.args.rope.pairing = pairing;
        forth.args.position_offset = 131071;
        RotaryCase back(forth.shape);
        back.args = forth.args;
        back.args.x = forth.out.view();
        back.args.out = back.out.view();
        back.args.reverse = 1;
        each_target([&](gyre_context *context) {
            REQUIRE(forth.run(context) == GYRE_OK);
            REQUIRE(back.run(context) == GYRE_OK);
            check_close("back(forth(x))", back.out.values(), forth.x.values(), 2e-6);
        });
    }
}

TEST_CASE("the attention factor multiplies the rotated features only") {
    for (const gyre_dtype type : types) {
        RotaryCase c(RotaryShape().length(9).head_count(2).dim(32).of(type));
        c.args.rope.rotary_dim = 16;
        c.args.rope.attention_factor = 1.3688879454113936;
        c.check();
    }
}

TEST_CASE("random combinations match the oracle") {
    for (uint64_t seed = 1; seed <= 120; seed++) {
        CAPTURE(seed);
        Random random(seed);
        const int64_t head_dim = random.integer(2, 160);
        const auto rotary_dim = (int32_t)(2 * random.integer(1, head_dim / 2));
        const gyre_layout layout = random.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD, GYRE_THD});
        const int64_t batches = layout == GYRE_THD ? 1 : random.integer(1, 3), length = random.integer(1, 40);
        RotaryCase c(
            RotaryShape()
                .batches(batches)
                .length(length)
                .head_count(random.integer(1, 6))
                .dim(head_dim)
                .of(random.pick(types))
                .in(layout, Placement::with_gaps(random.integer(0, 9)), Placement::with_gaps(random.integer(0, 9))),
            seed);
        c.args.rope.pairing = random.pick(pairings);
        c.args.rope.rotary_dim = rotary_dim;
        c.args.rope.rotary_offset = (int32_t)random.integer(0, head_dim - rotary_dim);
        c.args.rope.theta = random.pick<double>({100, 10000, 500000, 1e6});
        c.args.rope.frequency_base = random.pick<gyre_frequency_base>({GYRE_OVER_ROTARY_DIM, GYRE_OVER_HEAD_DIM});
        c.args.rope.attention_factor = random.pick<double>({1.0, 0.5, 1.2});
        c.args.reverse = random.chance(0.5);
        if (random.chance(0.5)) {
            c.args.position_offset = random.integer(0, (1 << 20) - 41);
        } else {
            const bool per_batch = random.chance(0.5);
            Tensor positions(random.pick<gyre_dtype>({GYRE_I32, GYRE_I64}),
                             per_batch ? std::vector<int64_t>{batches, length} : std::vector<int64_t>{length});
            positions.fill_uniform_integers(seed, 0, (1 << 20) - 1);
            c.args.positions = c.hold(std::move(positions));
        }
        c.check();
    }
}
