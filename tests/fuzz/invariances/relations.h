/// What must hold between calls of attention whose problems are related.
#pragma once
#include "../byte_reader.h"

#include <gyre/gyre.h>

#include <string>

namespace gyre::fuzz {

/// A problem and a relation, tried on every target. What is wrong; empty: nothing.
std::string try_attention(ByteReader &r);
std::string try_gradients(ByteReader &r);
std::string try_linear(ByteReader &r);
std::string try_rows(ByteReader &r); // rotary and append

} // namespace gyre::fuzz
