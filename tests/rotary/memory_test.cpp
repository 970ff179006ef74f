/// What gyre_rotary() reads and writes: in place, any strides, untouched features, the same bits on any thread count.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/exact_workspace.h"
#include "support/rotary_case.h"

using namespace gyre::test;

namespace {

const std::vector<gyre_dtype> types = {GYRE_F32, GYRE_F16, GYRE_BF16};

void rotate_a_part(RotaryCase &c) {
    c.args.rope.rotary_dim = 24;
    c.args.rope.rotary_offset = 6;
    c.args.position_offset = 77;
}

} // namespace

TEST_CASE("in place gives the bits of out of place") {
    for (const gyre_dtype type : types)
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
            for (const int64_t gap : {0, 7}) {
                RotaryCase beside(RotaryShape().batches(2).length(19).head_count(3).dim(40).of(type).in(
                    GYRE_BHSD, Placement::ordered({0, 2, 1, 3}, gap)));
                beside.args.rope.pairing = pairing;
                rotate_a_part(beside);
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(beside.run(context) == GYRE_OK, text(gyre_last_error()));
                    Tensor both = beside.x;
                    gyre_rotary_args args = beside.args;
                    args.x = args.out = both.view();
                    REQUIRE_MESSAGE(gyre_rotary(context, &args) == GYRE_OK, text(gyre_last_error()));
                    CHECK(both.bits() == beside.out.bits());
                    CHECK(both.surroundings_intact());
                });
            }
}

TEST_CASE("strided views match the oracle") {
    const std::vector<Placement> placements = {
        Placement(),
        Placement::with_gaps(1),
        Placement::with_gaps(13),
        Placement::ordered({0, 2, 1, 3}),
        Placement::ordered({2, 1, 0, 3}, 5),
        Placement::with_strides({-900, 48, 300, 1}), // batch entries backwards, tokens within heads
        Placement::with_strides({800, -160, 50, 1}), // tokens backwards
    };
    for (const gyre_dtype type : types)
        for (const Placement &of_x : placements)
            for (const Placement &of_out : placements) {
                RotaryCase c(
                    RotaryShape().batches(2).length(5).head_count(3).dim(40).of(type).in(GYRE_BSHD, of_x, of_out));
                rotate_a_part(c);
                c.check();
            }
}

TEST_CASE("an input that repeats by a stride of 0 is read, not written") {
    RotaryCase c(
        RotaryShape().batches(3).length(4).head_count(5).dim(40).in(GYRE_BSHD, Placement::with_strides({0, 40, 0, 1})));
    rotate_a_part(c);
    c.check();
}

TEST_CASE("features outside the window pass through bit for bit, NaN and minus zero too") {
    for (const gyre_dtype type : types)
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
            RotaryCase c(RotaryShape().batches(2).length(5).head_count(3).dim(40).of(type));
            c.args.rope.pairing = pairing;
            rotate_a_part(c);
            const std::vector<double> normal = c.x.values();
            c.x.poison(); // a NaN whose payload an arithmetic operation may change
            for (size_t i = 0; i < normal.size(); i++) {
                const auto index = (int64_t)i, d = index % 40;
                const std::vector<int64_t> at = {index / 600, index / 120 % 5, index / 40 % 3, d};
                if (d >= 6 && d < 30) c.x.set(at, normal[i]);
                if (d == 0) c.x.set(at, -0.0);
            }
            const std::vector<uint64_t> x = c.x.bits();
            each_target_and_device([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<uint64_t> out = c.out.bits();
                const std::vector<double> values = c.out.values();
                int64_t changed = 0, invalid = 0;
                for (size_t i = 0; i < x.size(); i++) {
                    const size_t d = i % 40;
                    if (d < 6 || d >= 30)
                        changed += out[i] != x[i];
                    else
                        invalid += std::isnan(values[i]);
                }
                CHECK(changed == 0);
                CHECK(invalid == 0);
            });
        }
}

TEST_CASE("the number of threads does not change a bit") {
    for (const gyre_dtype type : types) {
        RotaryCase c(RotaryShape().batches(2).length(301).head_count(5).dim(72).of(type));
        rotate_a_part(c);
        for (const std::string &target : runnable_targets()) {
            CAPTURE(target);
            std::vector<uint64_t> alone;
            for (const int32_t threads : {1, 2, 3, 8}) {
                const Context context(target.c_str(), threads);
                REQUIRE(gyre_context_threads(context) == threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                if (threads == 1) alone = c.out.bits();
                CHECK(c.out.bits() == alone);
            }
        }
    }
}

TEST_CASE("frequencies of a former call are not taken for this one's") {
    each_target_and_device([&](gyre_context *context) {
        for (const gyre_frequency_base base : {GYRE_OVER_ROTARY_DIM, GYRE_OVER_HEAD_DIM})
            for (const double theta : {10000.0, 500.0, 10000.0})
                for (const int32_t rotary_dim : {16, 40, 24}) {
                    RotaryCase c(RotaryShape().length(9).dim(40));
                    c.args.rope.frequency_base = base;
                    c.args.rope.theta = theta;
                    c.args.rope.rotary_dim = rotary_dim;
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    check_close("out", Dense(c.out.view(), GYRE_BSHD).data, oracle_rotary(c.args).out.data, 1e-5);
                }
    });
}

TEST_CASE("a workspace of exactly the size that was asked for is enough, and nothing beyond it is written") {
    RotaryCase c(RotaryShape().batches(2).length(65).head_count(3).dim(64));
    each_target(
        [&](gyre_context *context) {
            size_t bytes = 0;
            gyre_rotary_args without_data = c.args;
            without_data.x.data = without_data.out.data = nullptr;
            REQUIRE_MESSAGE(gyre_rotary_workspace_size(context, &without_data, &bytes) == GYRE_OK,
                            text(gyre_last_error()));
            check_exact_workspace(c, context, bytes);
        },
        2);
}
