/// Random calls of gyre_cache_append().
#pragma once
#include "../byte_reader.h"
#include "trial.h"

#include <memory>

namespace gyre::fuzz {

std::unique_ptr<Trial> random_append(ByteReader &r);

} // namespace gyre::fuzz
