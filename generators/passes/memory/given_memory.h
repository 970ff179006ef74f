/// The memory of a kernel that its caller provides.
#pragma once
#include <Halide.h>

namespace gyre {

/// The kernel's one heap allocation is where the first word of its user context points to, aligned as use_workspace_slots() aligns slots: nothing
/// is allocated or freed. After publish_facts(), which says how many bytes it has.
void use_given_memory(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
