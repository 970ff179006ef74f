/// What the parts of the driver without a device (contexts.cpp) share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace gyre::fake_cuda {

using Result = int;
using Pointer = uint64_t;
constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, invalid_device = 101, invalid_context = 201,
                 no_binary = 209, invalid_handle = 400, not_found = 500;
constexpr Result context_is_destroyed = 709, capture_unsupported = 900;

/// Guards everything that several threads may ask for.
extern std::mutex mutex;

struct Context {
    unsigned long long id;
    int device;
};
extern int devices; // that the tests ask for
Context *current_context();
int current_device();     // -1: no context is current
int compute_capability(); // its first number

/// What the tests ask for: one error for the next call of one function.
Result failure(const char *function);
bool is_to_fail(const char *function);

/// Whether the calling thread may do what no graph can hold; else what is being captured ends, and the call gives capture_unsupported.
bool may_do_at_once();

/// False if the stream was created here, in another context.
bool is_of_context(void *stream, const Context *context);

} // namespace gyre::fake_cuda
