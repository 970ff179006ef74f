/// What the runtime must know of a kernel, told by the generator that made it rather than repeated by hand.
#pragma once
#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace gyre {

using Facts = std::vector<std::pair<std::string, int>>;

/// Arranges that, once the pipeline is lowered, `path` receives one C string literal "name=value …" with the given
/// facts and workspace=BYTES: an upper bound of the heap memory that is live at once, alignment included. A heap
/// allocation without a constant bound fails the generator with the allocation's name. An empty path: nothing is
/// written or checked.
void publish_facts(Halide::Internal::GeneratorBase &generator, const std::string &path, const Facts &facts);

} // namespace gyre
