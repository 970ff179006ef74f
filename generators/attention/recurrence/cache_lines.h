/// The cache line that schedules pad rows by.
#pragma once

namespace gyre::attention {

constexpr int cache_line = 16; // elements of f32, or pairs of bf16

} // namespace gyre::attention
