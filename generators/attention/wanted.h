/// What a kernel is to be, as its generator is told. Only what picks and makes an engine and its provider reads it.
#pragma once
#include "engines/knobs.h"

#include <Halide.h>

#include <string>

namespace gyre::attention {

/// Each of the first fields is a GeneratorParam of the same name.
struct Wanted {
    int head_dim;
    bool padded, general, partial, dense, as_stored, integer_scores;
    std::string cache; // a format of providers.cpp
    bool many_rows = false, own_keys = false;
    Halide::Type dtype{};
    Knobs knobs{}; // with the number of lanes
    Halide::Target target{};
    bool autoscheduled = false;
};

} // namespace gyre::attention
