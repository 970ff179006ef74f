/// Operands of products on matrix tiles that a loop loads in every turn from the same place: loaded once, before it, and held.
///
///     for step: acc = tile_matmul(acc, tile_load(a + step), tile_load(b))          becomes
///     held = tile_load(b); for step: acc = tile_matmul(acc, tile_load(a + step), held)
#pragma once
#include <Halide.h>
#include <string>

namespace gyre {

/// Arranges that the loop `loop` of `of` holds such operands, of the first products `most` at most, once the pipeline is lowered. The loop
/// must leave so many tile registers free. Operands that the loop stores to are loaded as before; a name that no loop has stops the build.
void hold_tiles(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, const std::string &loop, int most);

} // namespace gyre
