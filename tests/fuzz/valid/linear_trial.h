/// Random calls of gyre_linear_attention() and gyre_linear_attention_backward().
#pragma once
#include "../byte_reader.h"
#include "trial.h"

#include <memory>

namespace gyre::fuzz {

std::unique_ptr<Trial> random_linear(ByteReader &r);
std::unique_ptr<Trial> random_linear_backward(ByteReader &r);

} // namespace gyre::fuzz
