/// The providers, and which kernel has which.
#pragma once
#include "attention/wanted.h"
#include "rows.h"
#include "value_blocks.h"

namespace gyre::attention {

std::shared_ptr<Provider> make_provider(const Wanted &wanted);

} // namespace gyre::attention
