/// Tests where gyre_rotary() takes its angles from, and how exact they are at far positions.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"
#include "support/rotary_case.h"

#include <cmath>

using namespace gyre::test;

namespace {

constexpr int64_t last_promised_position = (1 << 20) - 1;

/// x = (1, 0) in every pair, so that the output is cos and sin themselves.
void fill_with_unit_pairs(RotaryCase &c) {
    const int64_t pairs = c.shape.head_dim / 2;
    for (int64_t token = 0; token < c.shape.seqlen; token++)
        for (int64_t d = 0; d < c.shape.head_dim; d++) c.x.set({0, token, 0, d}, d < pairs ? 1.0 : 0.0);
}

/// cos and sin of table rows, as gyre_rope wants them.
void use_tables(RotaryCase &c, const std::vector<int64_t> &shape) {
    Tensor cosines(GYRE_F32, shape, Placement::with_gaps(3)), sines(GYRE_F32, shape, Placement::with_gaps(5));
    cosines.fill_normal(11);
    sines.fill_normal(12);
    c.args.rope.cos = c.hold(std::move(cosines));
    c.args.rope.sin = c.hold(std::move(sines));
}

} // namespace

TEST_CASE("cos and sin are within 2e-6 at every kind of position below 2^20") {
    std::vector<double> positions = {0, 1, 2, 255, 256, 257, 4095, 65535, 65536, 65537, 131071, 524287, 777777};
    positions.push_back((double)last_promised_position);
    Random random(3);
    while (positions.size() < 400) positions.push_back((double)random.integer(0, last_promised_position));
    for (const double theta : {10000.0, 500000.0, 1.0})
        for (const gyre_dtype position_type : {GYRE_I32, GYRE_I64}) {
            RotaryCase c(RotaryShape().length((int64_t)positions.size()).dim(128));
            fill_with_unit_pairs(c);
            c.args.rope.theta = theta;
            c.args.positions = c.hold(position_type, positions);
            const OracleRotary expected = oracle_rotary(c.args);
            each_target_and_device([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                check_close("cos and sin", Dense(c.out.view(), GYRE_BSHD).data, expected.out.data, 2e-6);
            });
        }
}

TEST_CASE("the type of x does not touch the angles: f16 and bf16 are exact up to their own rounding") {
    for (const gyre_dtype type : {GYRE_F16, GYRE_BF16})
        for (const int64_t offset : {int64_t{0}, int64_t{256}, int64_t{131071}, last_promised_position - 8}) {
            RotaryCase c(RotaryShape().length(8).head_count(3).dim(128).of(type));
            c.args.position_offset = offset;
            c.check();
        }
}

TEST_CASE("positions come per token, per sequence, from an offset, in int32 and int64, strided") {
    for (const gyre_dtype type : {GYRE_I32, GYRE_I64})
        for (const bool per_batch : {false, true})
            for (const bool strided : {false, true}) {
                RotaryCase c(RotaryShape().batches(3).length(7).head_count(2).dim(16));
                const std::vector<int64_t> shape = per_batch ? std::vector<int64_t>{3, 7} : std::vector<int64_t>{7};
                const std::vector<int64_t> strides = per_batch ? std::vector<int64_t>{2, 6} : std::vector<int64_t>{3};
                Tensor positions(type, shape, strided ? Placement::with_strides(strides) : Placement());
                positions.fill_uniform_integers(5, 0, last_promised_position);
                c.args.positions = c.hold(std::move(positions));
                c.check();
            }
    for (const int64_t offset : {int64_t{0}, int64_t{1}, int64_t{131071}, last_promised_position - 6}) {
        RotaryCase c(RotaryShape().batches(2).length(7).dim(16));
        c.args.position_offset = offset;
        c.check();
    }
}

TEST_CASE("the two exponents' denominators differ where rotation is partial, and only there") {
    for (const int32_t rotary_dim : {16, 64}) {
        RotaryCase over_rotary(RotaryShape().length(5).dim(64)), over_head(over_rotary.shape);
        over_rotary.args.rope.rotary_dim = over_head.args.rope.rotary_dim = rotary_dim;
        over_head.args.rope.frequency_base = GYRE_OVER_HEAD_DIM;
        over_rotary.check();
        over_head.check();
        CHECK((over_rotary.out.bits() == over_head.out.bits()) == (rotary_dim == 64));
    }
}

TEST_CASE("what a context keeps of one rotation serves longer ones as if it had kept nothing") {
    RotaryCase few(RotaryShape().length(5).dim(64)), many(few.shape), other(few.shape);
    few.args.rope.rotary_dim = 16;
    few.args.rope.frequency_base = GYRE_OVER_HEAD_DIM;
    other.args.rope.theta = 777;
    each_target([&](gyre_context *context) {
        for (RotaryCase *c : {&other, &few, &many}) REQUIRE(c->run(context) == GYRE_OK);
        const auto after_few = many.out.bits();
        for (RotaryCase *c : {&other, &many}) REQUIRE(c->run(context) == GYRE_OK);
        CHECK(many.out.bits() == after_few);
    });
}

TEST_CASE("inv_freq replaces theta, and tables replace both") {
    std::vector<double> inv_freq;
    for (int i = 0; i < 12; i++) inv_freq.push_back(1.0 / (1 + i * i));
    inv_freq[7] = 0; // a pair that stands still
    RotaryCase c(RotaryShape().batches(2).length(9).head_count(2).dim(24));
    c.args.rope.theta = 3;
    c.args.rope.inv_freq = inv_freq.data();
    c.check();
    use_tables(c, {9, 12});
    c.args.rope.attention_factor = 5; // not applied to tables
    c.check();
}

TEST_CASE("tables are read at the position, or one row a token") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const bool per_token : {false, true})
            for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
                RotaryCase c(RotaryShape().batches(2).length(6).head_count(3).dim(40).of(type));
                c.args.rope.pairing = pairing;
                c.args.rope.rotary_dim = 20;
                c.args.rope.rotary_offset = 4;
                use_tables(c, per_token ? std::vector<int64_t>{2, 6, 10} : std::vector<int64_t>{50, 10});
                if (!per_token) c.args.positions = c.hold(GYRE_I64, {49, 0, 3, 3, 17, 25, 1, 2, 3, 4, 48, 49}, {2, 6});
                c.check();
                c.args.reverse = 1;
                c.check();
            }
}

TEST_CASE("sections of several position axes (M-RoPE), contiguous and interleaved") {
    for (const int32_t axes : {2, 3, 4})
        for (const gyre_section_order order : {GYRE_SECTIONS_CONTIGUOUS, GYRE_SECTIONS_INTERLEAVED})
            for (const bool per_batch : {false, true})
                for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
                    RotaryCase c(RotaryShape().batches(2).length(5).head_count(2).dim(128));
                    const int32_t sections[4][4] = {{}, {40, 24}, {24, 20, 20}, {16, 16, 8, 24}};
                    c.args.rope.axes = axes;
                    c.args.rope.section_order = order;
                    c.args.rope.pairing = pairing;
                    for (int32_t axis = 0; axis < axes; axis++) c.args.rope.sections[axis] = sections[axes - 1][axis];
                    Tensor positions(GYRE_I64,
                                     per_batch ? std::vector<int64_t>{axes, 2, 5} : std::vector<int64_t>{axes, 5});
                    positions.fill_uniform_integers(6, 0, 100000);
                    c.args.positions = c.hold(std::move(positions));
                    c.check();
                }
}

TEST_CASE("equal axes rotate like one axis") {
    RotaryCase one(RotaryShape().length(5).dim(64)), three(one.shape);
    const std::vector<double> positions = {7, 8, 9, 100, 5000};
    std::vector<double> thrice;
    for (int axis = 0; axis < 3; axis++) thrice.insert(thrice.end(), positions.begin(), positions.end());
    one.args.positions = one.hold(GYRE_I32, positions);
    three.args.positions = three.hold(GYRE_I32, thrice, {3, 5});
    three.args.rope.axes = 3;
    const int32_t sections[] = {12, 10, 10};
    for (int axis = 0; axis < 3; axis++) three.args.rope.sections[axis] = sections[axis];
    each_target([&](gyre_context *context) {
        REQUIRE(one.run(context) == GYRE_OK);
        REQUIRE_MESSAGE(three.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(one.out.bits() == three.out.bits());
    });
}
