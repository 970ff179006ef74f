/// Where attention's results are.
#pragma once
#include "attention/call/lse.h"

namespace gyre {

/// What attention gives.
struct Results {
    Heads out;
    Lse lse; // without memory if it is not asked for
};

} // namespace gyre
