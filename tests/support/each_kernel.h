/// Runs a check on every target whose kernels are linked and that this machine can run, in one process.
///
///     each_target([&](gyre_context *context) { … gyre_rotary(context, &args) … });
///
/// What was skipped, and why, is counted and printed once at the end by main.cpp.
#pragma once
#include "doctest.h"
#include <gyre/gyre.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::test {

/// A context of the C API that ends with its scope.
class Context {
public:
    explicit Context(const char *target = nullptr, int32_t threads = 1) {
        gyre_context_options options = gyre_context_defaults();
        options.target = target;
        options.threads = threads;
        const gyre_status status = gyre_context_create(&options, &context_);
        REQUIRE_MESSAGE(status == GYRE_OK, text(gyre_last_error()));
    }
    ~Context() { gyre_context_destroy(context_); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    operator gyre_context *() const { return context_; }

private:
    gyre_context *context_ = nullptr;
};

inline std::vector<gyre_target_info> all_targets() {
    std::vector<gyre_target_info> targets;
    gyre_target_info info;
    while (gyre_target_at((int32_t)targets.size(), &info)) targets.push_back(info);
    return targets;
}

/// How often each target was exercised, and why it was not if it was not.
struct TargetTally {
    long runs = 0;
    std::string skipped_because;
};

inline std::map<std::string, TargetTally> &target_tally() {
    static std::map<std::string, TargetTally> tally;
    return tally;
}

/// While it lives, checks run on those targets alone whose kernels of this name, without the target, are linked.
class OnlyWithKernel {
public:
    explicit OnlyWithKernel(const std::string &name) { wanted() = name; }
    ~OnlyWithKernel() { wanted().clear(); }
    OnlyWithKernel(const OnlyWithKernel &) = delete;
    OnlyWithKernel &operator=(const OnlyWithKernel &) = delete;

    static bool allows(const std::string &target) {
        if (wanted().empty()) return true;
        const std::string name = wanted() + "__" + target;
        gyre_kernel_info kernel;
        for (int32_t i = 0; gyre_kernel_at(i, &kernel); i++)
            if (kernel.name == name) return true;
        return false;
    }

private:
    static std::string &wanted() {
        static std::string name;
        return name;
    }
};

/// Names of targets that can run here, of the CPU or, too, of devices.
inline std::vector<std::string> runnable_targets(bool devices = false) {
    // What runs emulated devices has no need to run the CPU's kernels again.
    const bool only_devices = devices && std::getenv("GYRE_TEST_ONLY_DEVICES");
    const char *only_target = std::getenv("GYRE_TEST_ONLY_TARGET");
    std::vector<std::string> names;
    for (const gyre_target_info &info : all_targets()) {
        if (info.device == GYRE_CPU ? only_devices : !devices) continue;
        if (only_target && only_target != std::string_view(info.name)) continue;
        if (!OnlyWithKernel::allows(info.name)) continue;
        TargetTally &tally = target_tally()[info.name];
        if (info.linked && info.runnable)
            names.push_back(info.name);
        else
            tally.skipped_because = info.linked ? std::string("this machine lacks ") + info.missing : "not linked";
    }
    return names;
}

template <typename Check>
void each_target_of(const std::vector<std::string> &names, Check &&check, int32_t threads) {
    REQUIRE_MESSAGE(!names.empty(), "no linked target can run on this machine");
    for (const std::string &name : names) {
        INFO("target ", name, ", ", threads, " thread(s)");
        const Context context(name.c_str(), threads);
        target_tally()[name].runs++;
        check(static_cast<gyre_context *>(context));
    }
}

/// Runs the check on every target of the CPU.
template <typename Check>
void each_target(Check &&check, int32_t threads = 1) {
    each_target_of(runnable_targets(), check, threads);
}

/// And of devices, for checks that put tensors there (on_device.h).
template <typename Check>
void each_target_and_device(Check &&check, int32_t threads = 1) {
    each_target_of(runnable_targets(true), check, threads);
}

/// Runs the check on devices alone. A program without one fails, since its checks would assert nothing.
template <typename Check>
void each_device(Check &&check) {
    std::vector<std::string> devices;
    for (const std::string &name : runnable_targets(true))
        for (const gyre_target_info &info : all_targets())
            if (name == info.name && info.device != GYRE_CPU) devices.push_back(name);
    each_target_of(devices, check, 1);
}

} // namespace gyre::test
