#include "score_function.h"

#ifdef GYRE_SCORE_FILE
#include GYRE_SCORE_FILE
#else
#define GYRE_SCORE_FILE ""
/// Leaves scores as they are, where the user has no file.
static Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &) { return p.score; }
#endif

namespace gyre {

std::string compiled_score_name() {
    const std::string path(GYRE_SCORE_FILE), name = path.substr(path.find_last_of('/') + 1);
    return name.substr(0, name.find_last_of('.'));
}

void declare_score_inputs(ScoreInputs &inputs) {
    const auto anything = [](const Halide::Type &type) { return Halide::Internal::Variable::make(type, "anything"); };
    const Halide::Expr i = anything(Halide::Int(32));
    compiled_score({anything(Halide::Float(32)), i, i, i, i, i, i, i, i}, inputs);
}

Halide::Expr compiled_score(const ScorePoint &point, ScoreInputs &inputs) {
    Halide::Expr value = ::score(point, inputs);
    _halide_user_assert(value.defined()) << GYRE_SCORE_FILE << ": score() gave nothing, expected an f32 expression\n";
    _halide_user_assert(value.type() == Halide::Float(32))
        << GYRE_SCORE_FILE << ": score() gave " << value.type() << ", expected an f32 expression\n";
    return value;
}

} // namespace gyre
