/// Every call of the library in a program of tests, held to the stack that is promised. A program that is linked with the options of
/// stack_use.cmake has its calls go through here, and the library's threads start on stacks of 64 KiB; one that takes more than
/// promised ends.
#pragma once

#include <cstddef>

namespace gyre::test {

constexpr std::size_t promised_stack = std::size_t{32} << 10;     // bytes of a call, at most
constexpr std::size_t small_thread_stack = std::size_t{64} << 10; // of the library's threads in these programs

/// The most bytes that a call, or a thread of the library, has taken in this process.
std::size_t most_stack_of_calls();
std::size_t most_stack_of_threads();

} // namespace gyre::test
