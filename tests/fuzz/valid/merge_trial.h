/// Random calls of gyre_attention_merge().
#pragma once
#include "../byte_reader.h"
#include "trial.h"

#include <memory>

namespace gyre::fuzz {

std::unique_ptr<Trial> random_merge(ByteReader &r);

} // namespace gyre::fuzz
