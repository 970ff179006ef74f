/// generators/passes/cuda on small pipelines: what is printed, what the host's side becomes, and what is refused by name.
#include "lowered.h"
#include "passes/cuda/lanes.h"
#include "passes/cuda/primitives.h"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::cuda;

namespace {

/// out(x) = 2 in(x), in vectors of 8, 32 threads a block.
struct Doubled {
    ImageParam in{Float(32), 1, "in"};
    Func out{"doubled"};
    Var x{"x"}, block{"block"}, thread{"thread"}, lane{"lane"};

    explicit Doubled(TailStrategy tail = TailStrategy::GuardWithIf) {
        out(x) = in(x) * 2.0f;
        out.split(x, block, lane, 8, tail).split(block, block, thread, 32, TailStrategy::GuardWithIf);
    }
    void schedule() { out.vectorize(lane).gpu_blocks(block).gpu_threads(thread); }
};

} // namespace

TEST_CASE("a nest of GPU loops becomes one function, dense vectors wide accesses, and edges guarded ones") {
    Doubled d;
    d.schedule();
    const Lowered made = lower(d.out, {d.in});
    CAPTURE(made.device);
    CHECK(count(made.device, "__global__") == 1);
    CHECK(count(made.device, "__launch_bounds__(32) lowered_0(") == 1);
    CHECK(count(made.device, "GYRE_ENTRY(lowered_0)") == 1);
    CHECK(count(made.device, "const float *_in") == 1);
    for (const char *access : {"gyre_load<8>(", "gyre_store<8>("}) {
        std::istringstream lines(made.device);
        int guarded = 0, whole = 0;
        for (std::string line; std::getline(lines, line);)
            if (count(line, access)) (count(line, ", guards") ? guarded : whole)++;
        CHECK(guarded > 0);
        CHECK(whole > 0);
    }
}

TEST_CASE("the host's side is a launch and nothing of Halide's CUDA runtime") {
    Doubled d;
    d.schedule();
    const Lowered made = lower(d.out, {d.in});
    CAPTURE(made.host);
    CHECK(count(made.host, "gyre_kernel_launch(") == 1);
    CHECK(count(made.host, "halide_cuda") == 0);
    CHECK(count(made.host, "halide_copy") == 0);
    CHECK(count(made.host, "device_dirty") == 0);
}

TEST_CASE("every update is a function of its own, in order") {
    Func f("two");
    Var x("x"), block("block"), thread("thread");
    f(x) = cast<float>(x);
    f(x) += 1.0f;
    f.gpu_tile(x, block, thread, 16, TailStrategy::GuardWithIf);
    f.update().gpu_tile(x, block, thread, 16, TailStrategy::GuardWithIf);
    const Lowered made = lower(f, {});
    CHECK(made.device.find(" lowered_0(") < made.device.find(" lowered_1("));
    CHECK(count(made.host, "gyre_kernel_launch(") == 2);
}

TEST_CASE("an argument by value is a copy, others are pointers") {
    Doubled d;
    d.schedule();
    Lowering lowering;
    lowering.by_value = {{"in", 64}};
    CHECK(count(lower(d.out, {d.in}, lowering).device, "const GYRE_BY_VALUE gyre_by_value<float, 64> _in") == 1);
}

TEST_CASE("16-bit types are the device's own") {
    Func f("narrow");
    Var x("x"), block("block"), thread("thread");
    ImageParam in(Float(16), 1, "in");
    f(x) = cast<bfloat16_t>(cast<float>(in(x)));
    f.gpu_tile(x, block, thread, 16, TailStrategy::RoundUp);
    const Lowered made = lower(f, {in});
    CHECK(count(made.device, "const gyre_f16 *_in") == 1);
    CHECK(count(made.device, "gyre_cast<float>(") == 1);
    CHECK(count(made.device, "gyre_cast<gyre_bf16>(") == 1);
}

TEST_CASE("memory that threads share is the block's, of a size that the launch is told, with barriers between writing "
          "and reading") {
    Func g("staged"), f("reader");
    Var x("x"), block("block"), thread("thread");
    g(x) = cast<float>(x * 2);
    f(x) = g(x) + g(x + 1);
    f.gpu_tile(x, block, thread, 16, TailStrategy::RoundUp);
    g.compute_at(f, block).gpu_threads(x);
    const Lowered made = lower(f, {});
    CAPTURE(made.device);
    CHECK(count(made.device, "(GYRE_SHARED_MEMORY + 0)") == 1);
    CHECK(count(made.device, "gyre_shared_store(") >= 1);
    CHECK(count(made.device, "gyre_shared_load<float>(") == 2);
    CHECK(count(made.device, "GYRE_COOPERATIVE_ENTRY(lowered_0)") == 1);
    const size_t written = made.device.find("gyre_shared_store("), read = made.device.find("gyre_shared_load<");
    const size_t barrier = made.device.find("GYRE_SYNC();");
    CHECK(written < barrier);
    CHECK(barrier < read);
    CHECK(count(made.host, ", 1, 68, ") == 1); // 17 floats
}

TEST_CASE("a placed value is stored further on, where its condition holds, as a whole vector or in parts") {
    for (const bool apart : {false, true}) {
        Doubled d(TailStrategy::RoundUp);
        const Expr value = apart ? select(d.x % 2 == 0, d.in(d.x), -d.in(d.x)) : d.in(d.x);
        Func f("moved");
        f(d.x) = placed(value, Expr(5), d.x / 8 != 3);
        f.split(d.x, d.block, d.lane, 8, TailStrategy::RoundUp)
            .split(d.block, d.block, d.thread, 32, TailStrategy::RoundUp)
            .vectorize(d.lane)
            .gpu_blocks(d.block)
            .gpu_threads(d.thread);
        const Lowered made = lower(f, {d.in});
        CAPTURE(made.device);
        CHECK(count(made.device, placed_value) == 0); // it is how to store, not what
        const size_t condition = made.device.find("if ("), store = made.device.find("gyre_store<8>(");
        CHECK(count(made.device, "gyre_store<8>(") == 1);
        CHECK(condition < store);
        CHECK(store != std::string::npos);
        CHECK(count(made.device, " + 5") >= 1);
    }
}

TEST_CASE("what cannot be mapped stops the build with the loop's name and the reason") {
    const std::string lanes = refusal([] {
        Func f("by_lanes");
        Var x("x"), block("block"), lane("warp_lane");
        f(x) = x;
        f.split(x, block, lane, 32, TailStrategy::RoundUp).gpu_blocks(block).gpu_lanes(lane);
        lower(f, {});
    });
    CAPTURE(lanes);
    CHECK(lanes.find("CUDA: the loop") != std::string::npos);
    CHECK(lanes.find(".thread_id_x over lanes") != std::string::npos); // which is what Halide calls it by then
    CHECK(lanes.find("expected blocks and threads") != std::string::npos);
}

TEST_CASE("lanes of vectors: ramps, broadcasts, shuffles, loads and reductions") {
    using namespace Halide::Internal;
    const Expr b = Variable::make(Int(32), "b"), ramp = Ramp::make(b, 3, 4);
    CHECK(equal(simplify(lane_of(ramp, 2) - b), Expr(6)));
    CHECK(equal(lane_of(Broadcast::make(b, 4), 3), b));
    const Expr both = Shuffle::make_interleave({ramp, Broadcast::make(b, 4)});
    CHECK(equal(simplify(lane_of(both, 6) - b), Expr(9)));
    CHECK(equal(lane_of(both, 7), b));
    CHECK(equal(simplify(lane_of(Shuffle::make_slice(ramp, 1, 2, 2), 1) - b), Expr(9)));
    const Expr largest = VectorReduce::make(VectorReduce::Max, Ramp::make(0, 1, 8), 1);
    CHECK(equal(simplify(lane_of(largest, 0)), Expr(7)));
    CHECK(equal(lane_of(b, 0), b));
    CHECK(first_of_dense(Ramp::make(b, 1, 8)).same_as(b));
    CHECK(!first_of_dense(ramp).defined());
}
