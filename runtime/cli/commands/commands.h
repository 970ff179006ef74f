/// The commands, one file each. Every function adds its command, with options and what it does, to the program.
#pragma once

#include "console/command.h"

namespace gyre::cli {

void add_info(const Command &program);
void add_kernels(const Command &program);
void add_frequencies(const Command &program);
void add_rotary(const Command &program);
void add_attention(const Command &program);
void add_linear_attention(const Command &program);
void add_bench(const Command &program);
void add_plot(const Command &program);
void add_tune(const Command &program);
void add_compare(const Command &program);
void add_new_generator(const Command &program);
void add_reference(const Command &program);

} // namespace gyre::cli
