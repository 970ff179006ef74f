/// @file
/// What is linked, in vectors.
#ifndef GYRE_LINKED_HPP
#define GYRE_LINKED_HPP

#include "linked.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// Targets of this architecture, best first.
inline std::vector<gyre_target_info> targets() {
    std::vector<gyre_target_info> all(static_cast<std::size_t>(gyre_target_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_target_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

/// Kernels in the order in which they are tried.
inline std::vector<gyre_kernel_info> kernels() {
    std::vector<gyre_kernel_info> all(static_cast<std::size_t>(gyre_kernel_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_kernel_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

/// The rules that say which kernels take which calls, in the order in which they are tried.
inline std::vector<gyre_dispatch_rule> dispatch_rules() {
    std::vector<gyre_dispatch_rule> all(static_cast<std::size_t>(gyre_dispatch_rule_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_dispatch_rule_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

} // namespace v0
} // namespace gyre
#endif
