/// gyre plot attention: maps of probabilities that a model has saved, a picture a head.
#pragma once

#include "console/command.h"

namespace gyre::cli {

void add_plot_attention(const Command &group);

} // namespace gyre::cli
