/// The commands, one file each. Every function adds its command, with options and what it does, to the application.
#pragma once

#include <CLI/CLI.hpp>

namespace gyre::cli {

void add_info(CLI::App &app);
void add_kernels(CLI::App &app);
void add_frequencies(CLI::App &app);
void add_rotary(CLI::App &app);
void add_attention(CLI::App &app);
void add_linear_attention(CLI::App &app);
void add_bench(CLI::App &app);
void add_plot(CLI::App &app);
void add_tune(CLI::App &app);

} // namespace gyre::cli
