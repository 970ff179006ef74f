/// Argument structures that no header of this library had: of NULL, too small, or larger, as a program that was built with a later
/// header hands over.
#include "support/refusal.h"

#include <gyre/gyre.h>

#include <cstring>
#include <vector>

using namespace gyre::test;

namespace {

/// The function, and a structure of its kind by its defaults, with room behind it.
template <typename Args>
void check_sizes(gyre_status (*call)(gyre_context *, const Args *),
                 gyre_status (*workspace_size)(gyre_context *, const Args *, size_t *), const Args &defaults) {
    check_refused("NULL", call(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
    size_t bytes = 0;
    check_refused("NULL", workspace_size(nullptr, nullptr, &bytes), GYRE_BAD_ARGUMENT, "args");
    std::vector<unsigned char> memory(2 * sizeof(Args));
    // The third ends in the middle of a pointer, half of which would be one.
    for (const uint32_t size : {uint32_t{0}, uint32_t{4}, (uint32_t)sizeof(Args) - 4, (uint32_t)sizeof(Args) + 8,
                                (uint32_t)(2 * sizeof(Args))}) {
        CAPTURE(size);
        std::memcpy(memory.data(), &defaults, sizeof defaults);
        std::memcpy(memory.data(), &size, sizeof size);
        const auto *args = reinterpret_cast<const Args *>(memory.data());
        check_refused("size", call(nullptr, args), GYRE_BAD_ARGUMENT, "args.size");
        check_refused("size", workspace_size(nullptr, args, &bytes), GYRE_BAD_ARGUMENT, "args.size");
    }
    check_refused("bytes", workspace_size(nullptr, &defaults, nullptr), GYRE_BAD_ARGUMENT, "bytes");
}

/// Calls with each byte of the reserved member set.
template <typename Args>
void check_reserved(gyre_status (*call)(gyre_context *, const Args *), const Args &defaults) {
    for (size_t byte = 0; byte < sizeof defaults.reserved; byte++) {
        CAPTURE(byte);
        Args args = defaults;
        reinterpret_cast<unsigned char *>(&args.reserved)[byte] = 1;
        check_refused("reserved", call(nullptr, &args), GYRE_BAD_ARGUMENT, "args.reserved");
    }
}

} // namespace

TEST_CASE("no call takes NULL, or a structure that is smaller or larger than any that it knows") {
    check_sizes(gyre_rotary, gyre_rotary_workspace_size, gyre_rotary_defaults());
    check_sizes(gyre_rotary_qk, gyre_rotary_qk_workspace_size, gyre_rotary_qk_defaults());
    check_sizes(gyre_attention, gyre_attention_workspace_size, gyre_attention_defaults());
    check_sizes(gyre_attention_merge, gyre_attention_merge_workspace_size, gyre_attention_merge_defaults());
    check_sizes(gyre_attention_backward, gyre_attention_backward_workspace_size, gyre_attention_backward_defaults());
    check_sizes(gyre_cache_append, gyre_cache_append_workspace_size, gyre_cache_append_defaults());
    check_sizes(gyre_linear_attention, gyre_linear_attention_workspace_size, gyre_linear_attention_defaults());
    check_sizes(gyre_linear_attention_backward, gyre_linear_attention_backward_workspace_size,
                gyre_linear_attention_backward_defaults());
}

TEST_CASE("what is reserved for later versions must be 0") {
    check_reserved(gyre_rotary, gyre_rotary_defaults());
    check_reserved(gyre_rotary_qk, gyre_rotary_qk_defaults());
    check_reserved(gyre_attention, gyre_attention_defaults());
}
