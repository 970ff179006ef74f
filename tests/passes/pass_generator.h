/// A generator that a test fills: what generators/common arranges in one, compiled here and run.
///
///     const PassGenerator made([&](Halide::Internal::GeneratorBase &g, Halide::Func out) { out(x) = …; guard_loop(g, …); });
///     Halide::Buffer<float> result = made.run(16);
#pragma once
#include "../support/lowered_text.h"

#include <Halide.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

namespace gyre::test {

class PassGenerator {
public:
    /// Defines and schedules the output, f32 of one dimension.
    using Body = std::function<void(Halide::Internal::GeneratorBase &, Halide::Func)>;

    explicit PassGenerator(const Body &body, const Halide::Target &target = Halide::get_host_target()) {
        Filled::body = body;
        generator_ = Filled::create(Halide::GeneratorContext(target));
        generator_->apply();
    }

    Halide::Buffer<float> run(int extent) const {
        return generator_->get_pipeline().realize({extent}, generator_->target());
    }

    /// The statement that the passes leave.
    std::string lowered() const {
        const char *const file = "pass.stmt";
        Halide::Pipeline pipeline = generator_->get_pipeline();
        pipeline.compile_to_lowered_stmt(file, pipeline.infer_arguments(), Halide::Text, generator_->target());
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        std::remove(file);
        return text.str();
    }

private:
    struct Filled : Halide::Generator<Filled> {
        static inline Body body;
        Output<Halide::Func> out{"out", Halide::Float(32), 1};
        void generate() { body(*this, out); }
        Halide::Target target() const { return get_target(); }
    };
    std::unique_ptr<Filled> generator_;
};

} // namespace gyre::test
