/// What the runtime must know of a kernel, told by the generator that made it rather than repeated by hand.
#pragma once
#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace gyre {

/// name=value; neither may hold a blank.
struct Fact {
    std::string name, value;
    Fact(std::string name, std::string value) : name(std::move(name)), value(std::move(value)) {}
    Fact(std::string name, int value) : Fact(std::move(name), std::to_string(value)) {}
};
using Facts = std::vector<Fact>;

/// Arranges that, once the pipeline is lowered, `path` receives one C string literal "name=value …" with the given
/// facts and workspace=BYTES: an upper bound of the heap memory that is live at once, alignment included. A heap
/// allocation without a constant bound fails the generator with the allocation's name. An empty path: nothing is
/// written or checked. The kernel's memory is put into slots before (workspace_slots.h).
/// `autoscheduled`: the schedule knows no bounds; the kernel is given a large workspace instead.
void publish_facts(Halide::Internal::GeneratorBase &generator, const std::string &path, const Facts &facts,
                   bool autoscheduled = false);

} // namespace gyre
