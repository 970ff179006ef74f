/// The score function that this generator was compiled with.
#pragma once
#include "attention/score.h"
#include "common/declared_arguments.h"

#include <optional>

namespace gyre {

/// Its name, the file's without folder and extension; "": the generator was compiled without one.
std::string compiled_score_name();

/// Calls it for the sake of what it asks `inputs` for. In configure().
void declare_score_inputs(ScoreInputs &inputs);

/// Calls it. The result is f32.
Halide::Expr compiled_score(const ScorePoint &point, ScoreInputs &inputs);

/// What it asks for, as arguments of a kernel: GYRE_SCORE_INPUTS of the table. False if the kernel has none.
class DeclaredScoreInputs {
public:
    DeclaredScoreInputs(DeclaredArguments &all, const char *when) {
        all.add("f32", when, [this](Halide::Internal::GeneratorBase &generator, const Halide::Type &) {
            inputs.emplace(generator);
            declare_score_inputs(*inputs);
        });
    }
    DeclaredScoreInputs(const DeclaredScoreInputs &) = delete;
    explicit operator bool() const { return inputs.has_value(); }
    ScoreInputs *operator->() { return &*inputs; }
    ScoreInputs &operator*() { return *inputs; }

private:
    std::optional<ScoreInputs> inputs;
};

} // namespace gyre

#define GYRE_SCORE_INPUTS(when) gyre::DeclaredScoreInputs score_inputs{arguments, #when};
