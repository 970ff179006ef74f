/// The targets that kernels are made for, best first.
#pragma once
#include "core/kernel_list.h"

#include <cstddef>
#include <string_view>

namespace gyre {

/// The rows of a table that is part of the program.
template <typename Row>
struct RowList {
    const Row *first;
    size_t count;
    const Row *begin() const { return first; }
    const Row *end() const { return first + count; }
};
using TargetList = RowList<Target>;

TargetList known_targets();
size_t index_of(const Target &target);            // its row, below 64
const Target *find_target(std::string_view name); // nullptr: unknown
bool can_run(const Target &target);
/// True if this machine has what the target needs, and the system grants it.
bool obtain(const Target &target);
bool serves(const Target *serving, const Target &target); // it is `target`, or has the rest of its kernels

} // namespace gyre
