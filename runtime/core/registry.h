/// What is linked: the kernels of all libraries that are registered.
#pragma once
#include "core/attributes.h"
#include "core/kernel_list.h"
#include "core/targets.h"
#include "gyre/kernels.h"

#include <cstddef>
#include <memory>
#include <string_view>

/// The kernels that are part of the library itself. Defined by the list that the build writes, or empty.
extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void);

namespace gyre {

bool is_linked(const Target &target);

/// The kernels of all libraries that are registered now. Whoever keeps the list may read it, whatever is registered and
/// unloaded meanwhile. Errors: throws std::bad_alloc.
std::shared_ptr<const KernelList> linked_kernels();

/// Why none of the kernels that are part of this library is in that list: the first that was refused; "": none was.
const char *prebuilt_refusal();

/// True if that list is still the one that linked_kernels() gives. It must be kept by the caller.
bool is_current(const KernelList *list);

} // namespace gyre
