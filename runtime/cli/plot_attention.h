/// gyre plot attention: maps of probabilities that a model has saved, a picture a head.
#pragma once

#include <CLI/CLI.hpp>

namespace gyre::cli {

void add_plot_attention(CLI::App &group);

} // namespace gyre::cli
