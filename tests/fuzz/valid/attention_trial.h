/// Random calls of gyre_attention() and gyre_attention_backward().
#pragma once
#include "../byte_reader.h"
#include "trial.h"

#include <memory>

namespace gyre::fuzz {

std::unique_ptr<Trial> random_attention(ByteReader &r);
std::unique_ptr<Trial> random_attention_backward(ByteReader &r);

} // namespace gyre::fuzz
