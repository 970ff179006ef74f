/// Every operation of the C API as one small call, from making a context to destroying it.
#pragma once
#include <gyre/gyre.h>

#include <functional>
#include <string>
#include <vector>

namespace gyre::test {

struct Operation {
    std::string name;
    std::function<gyre_status()> run;
    std::vector<float> *written; // what it writes; nullptr: nothing
};

/// How the calls are made.
struct Kind {
    int threads = 1;
    gyre_parallel_for pool = nullptr; // nullptr: a context's own
    const char *target = nullptr;     // nullptr: the best
    gyre_dtype dtype = GYRE_F32;      // of tensors that may be of 16 bits
};

/// Calls that succeed, each with a context of its own. They share their inputs; those of 16 bits are unspecified numbers.
std::vector<Operation> operations(const Kind &kind);

} // namespace gyre::test
