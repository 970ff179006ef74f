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

/// Calls that succeed, with contexts of so many threads. They share their inputs.
std::vector<Operation> operations(int threads);

} // namespace gyre::test
