/// Software pipelining: a loop's stages, each of which reads what the one before has left in memory, for different turns.
///
///     for step: a = f(step); b = g(a); h(b)            becomes
///     for turn: h(b of step turn - 2); a of step turn = f(turn); b of step turn - 1 = g(a of step turn - 1)
///
/// with two copies of a and of b. What stood one after the other, each waiting for the other, runs side by side where
/// processors have units of their own for it: products on matrix tiles beside vectors.
#pragma once
#include <Halide.h>
#include <string>

namespace gyre {

/// Arranges that the loop `loop` of `of` is pipelined once the pipeline is lowered. Its stages are what is computed in it, in
/// turn: Funcs of constant extent that are stored in it, each used by the next stage alone, and what uses the last one. A loop
/// that is not of this form stops the build with its name.
void pipeline_steps(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, const std::string &loop);

} // namespace gyre
