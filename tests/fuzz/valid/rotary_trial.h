/// Random calls of gyre_rotary() and gyre_rotary_qk().
#pragma once
#include "ropes.h"
#include "trial.h"

#include <memory>

namespace gyre::fuzz {

std::unique_ptr<Trial> random_rotary(ByteReader &r);
std::unique_ptr<Trial> random_rotary_qk(ByteReader &r);

} // namespace gyre::fuzz
