/// passes/order/step_pipeline.h: pipelined loops give what plain ones do, for any number of turns, and other loops are refused.
#include "../support/guarded_memory.h"
#include "pass_generator.h"
#include "passes/order/step_pipeline.h"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

REGISTER_EXCEPTION_TRANSLATOR(Halide::Error &error) { return error.what(); }

namespace {

constexpr int lanes = 16;

/// out(x) = sum over steps of square(x, step) + x, square = twice * twice, twice = 2 (x + step): three stages.
struct Sum {
    Param<int> steps{"steps"};
    Var x{"x"}, t{"t"};
    Func twice{"twice"}, square{"square"}, total{"total"};
    RDom step;

    void define(Func out, bool stored = true) {
        twice(x, t) = cast<float>(2 * (x + t));
        square(x, t) = twice(x, t) * twice(x, t);
        step = RDom(0, steps, "step");
        total(x) = 0.0f;
        total(x) += square(x, step) + x;
        out(x) = total(x);
        out.bound(x, 0, lanes).vectorize(x, lanes);
        total.compute_root().vectorize(x, lanes).update().reorder(x, step).vectorize(x, lanes);
        if (!stored) return;
        square.compute_at(total, step).vectorize(x, lanes);
        twice.compute_at(square, t).vectorize(x, lanes);
    }

    float expected(int i, int count) const {
        double sum = 0;
        for (int s = 0; s < count; s++) sum += 4.0 * (i + s) * (i + s) + i;
        return (float)sum;
    }
};

} // namespace

TEST_CASE("a pipelined loop gives what the loop gave, for any number of turns") {
    for (const bool pipelined : {false, true}) {
        Sum sum;
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            sum.define(out);
            if (pipelined) gyre::pipeline_steps(generator, sum.total, "step");
        });
        for (const int turns : {0, 1, 2, 3, 4, 9}) {
            sum.steps.set(turns);
            const Buffer<float> result = made.run(lanes);
            for (int i = 0; i < lanes; i++) CHECK(result(i) == sum.expected(i, turns));
        }
    }
}

TEST_CASE("no stage runs for a turn that the loop does not have: beyond the last row there is no memory") {
    const int turns = 5;
    const GuardedMemory memory(sizeof(float) * lanes * turns);
    Buffer<float> rows((float *)memory.data(), lanes, turns);
    rows.fill(1.0f);
    Var x("x"), t("t");
    Func twice("twice"), square("square"), total("total");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        const RDom step(0, turns, "step");
        twice(x, t) = 2 * rows(x, t);
        square(x, t) = twice(x, t) * twice(x, t);
        total(x) = 0.0f;
        total(x) += square(x, step);
        out(x) = total(x);
        out.bound(x, 0, lanes).vectorize(x, lanes);
        total.compute_root().vectorize(x, lanes).update().reorder(x, step).vectorize(x, lanes);
        square.compute_at(total, step).vectorize(x, lanes);
        twice.compute_at(square, t).vectorize(x, lanes);
        gyre::pipeline_steps(generator, total, "step");
    });
    CHECK(made.run(lanes)(0) == 4.0f * turns);
}

TEST_CASE("what passes from stage to stage has two copies, and whole turns have all stages side by side") {
    Sum sum;
    const auto lowered = [&](bool pipelined) {
        sum = Sum();
        return PassGenerator([&](Internal::GeneratorBase &generator, Func out) {
                   sum.define(out);
                   if (pipelined) gyre::pipeline_steps(generator, sum.total, "step");
               })
            .lowered();
    };
    const std::string plain = lowered(false), pipelined = lowered(true);
    CAPTURE(pipelined);
    CHECK(count(plain, "allocate twice") == 1);
    CHECK(count(pipelined, "allocate twice") == 1);
    CHECK(count(pipelined, "float32 * 32") == 2);
    CHECK(count(plain, "float32 * 32") == 0);
}

TEST_CASE("loops without stages, and names of no loop, are refused") {
    const auto built = [](const std::string &loop, bool stored) {
        return refusal([&] {
            Sum sum;
            PassGenerator([&](Internal::GeneratorBase &generator, Func out) {
                sum.define(out, stored);
                gyre::pipeline_steps(generator, sum.total, loop);
            }).lowered();
        });
    };
    CHECK(built("step", true) == "not refused");
    CHECK(built("step", false).find("nothing is stored in it for a next stage") != std::string::npos);
    CHECK(built("other", true).find("there is no loop other of total") != std::string::npos);
}
