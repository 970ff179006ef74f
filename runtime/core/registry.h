/// What is linked: kernels, and the targets they were made for, best first.
#pragma once
#include "core/kernel_list.h"
#include "gyre/kernels.h"

#include <cstddef>
#include <memory>
#include <string_view>

/// The kernels that are part of the library itself. Defined by the list that the build writes, or empty.
extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void);

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
bool serves(const Target *serving, const Target &target); // it is `target`, or has the rest of its kernels
bool is_linked(const Target &target);

/// The kernels of all libraries that are registered now. Whoever keeps the list may read it, whatever is registered and
/// unloaded meanwhile. Errors: throws std::bad_alloc.
std::shared_ptr<const KernelList> linked_kernels();

/// Why none of the kernels that are part of this library is in that list: the first that was refused; "": none was.
const char *prebuilt_refusal();

/// True if that list is still the one that linked_kernels() gives. It must be kept by the caller.
bool is_current(const KernelList *list);

/// The value of `name=value` among a kernel's attributes; empty, or `fallback`, if it has none of that name.
std::string_view attribute(const gyre_kernel &kernel, std::string_view name);
int64_t attribute(const gyre_kernel &kernel, std::string_view name, int64_t fallback);

} // namespace gyre
