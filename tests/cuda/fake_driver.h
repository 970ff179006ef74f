/// What the fake driver (fake_driver/) tells tests, and can be asked for.
#pragma once
#include "support/doctest.h"

#include <dlfcn.h>

namespace gyre::test {

/// A function of its own, by its name; nullptr: the driver is a GPU's, or there is none.
template <typename Function>
Function *find_fake(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
}

/// find_fake() of a function that must be there.
template <typename Function>
Function *fake(const char *name) {
    auto *found = find_fake<Function>(name);
    REQUIRE_MESSAGE((found != nullptr), name);
    return found;
}

/// The next call of `function` gives `result`.
inline void fail_next(const char *function, int result) {
    fake<void(const char *, int)>("fake_cuda_fail")(function, result);
}

/// Lists that are wrong may lead several blocks of threads to one place: while this lives, the emulated device does not report it.
class WrongLists {
public:
    WrongLists() { follow(false); }
    ~WrongLists() { follow(true); }
    WrongLists(const WrongLists &) = delete;
    WrongLists &operator=(const WrongLists &) = delete;

private:
    static void follow(bool follows) {
        if (auto *found = find_fake<void(bool)>("fake_cuda_follow_writes")) found(follows);
    }
};

/// How many kernels were launched so far; 0 on a GPU, whose driver does not tell.
inline long launches() {
    auto *found = find_fake<long()>("fake_cuda_launches");
    return found ? found() : 0;
}

} // namespace gyre::test
