#include "run_trial.h"
#include "contexts.h"
#include "undefined.h"

#include <algorithm>
#include <cstdint>

namespace gyre::fuzz {
namespace {

constexpr size_t guard = 256; // bytes before and after a workspace
constexpr unsigned char guard_byte = 0x5a;

/// A caller's workspace of exactly the bytes that the query says, full of NaN.
class ExactWorkspace {
public:
    explicit ExactWorkspace(size_t bytes) : memory_(bytes + 2 * guard + alignment, (unsigned char)0xff), bytes_(bytes) {
        const auto address = (uintptr_t)memory_.data() + guard;
        first_ = guard + (alignment - address % alignment) % alignment;
        std::fill_n(memory_.begin(), first_, guard_byte);
        std::fill(memory_.begin() + (long)(first_ + bytes), memory_.end(), guard_byte);
    }
    Workspace get() {
        make_undefined(memory_.data() + first_, bytes_);
        return {bytes_ ? memory_.data() + first_ : nullptr, bytes_};
    }
    bool surroundings_intact() const {
        const auto is_guard = [](unsigned char c) { return c == guard_byte; };
        return std::all_of(memory_.begin(), memory_.begin() + (long)first_, is_guard) &&
               std::all_of(memory_.begin() + (long)(first_ + bytes_), memory_.end(), is_guard);
    }

private:
    static constexpr size_t alignment = 64;
    std::vector<unsigned char> memory_;
    size_t bytes_, first_ = 0;
};

std::string failure_of(gyre_status status) {
    return std::string(gyre_status_string(status)) + ": " + gyre_last_error();
}

/// One call after another, each with other garbage.
class Runs {
public:
    explicit Runs(Trial &trial) : trial_(trial) {}

    std::string run(gyre_context *context, Workspace workspace = {}) {
        trial_.prepare(static_cast<Garbage>(runs_++ % kinds_of_garbage));
        trial_tally().calls++;
        status_ = trial_.call(context, workspace);
        return status_ == GYRE_OK ? trial_.find_stray_writes() : failure_of(status_);
    }
    gyre_status status() const { return status_; }
    std::string run_again(gyre_context *context, Workspace workspace = {}) {
        std::string wrong = run(context, workspace);
        if (wrong.empty() && trial_.bits() != expected_) wrong = "other bits";
        return wrong;
    }
    void expect_these_bits() { expected_ = trial_.bits(); }

private:
    Trial &trial_;
    uint32_t runs_ = 0;
    gyre_status status_ = GYRE_OK;
    std::vector<std::vector<uint64_t>> expected_;
};

std::string run_on(const TargetContexts &contexts, Trial &trial, Runs *runs) {
    std::string wrong = runs->run(contexts.alone);
    if (runs->status() == GYRE_UNSUPPORTED && trial.may_be_unsupported()) return "";
    if (wrong.empty()) wrong = trial.compare(contexts.alone);
    if (!wrong.empty()) return wrong + " (" + gyre_selected_kernel(contexts.alone) + ")";
    runs->expect_these_bits();
    wrong = runs->run_again(contexts.alone);
    if (!wrong.empty()) return "called again with other garbage: " + wrong;
    wrong = runs->run_again(contexts.several);
    if (!wrong.empty()) return "with three threads: " + wrong;
    wrong = runs->run_again(contexts.odd);
    if (!wrong.empty()) return "with a host's pool: " + wrong;
    size_t bytes = 0;
    const gyre_status status = trial.workspace_size(contexts.several, &bytes);
    if (status != GYRE_OK) return "workspace: " + failure_of(status);
    ExactWorkspace workspace(bytes);
    wrong = runs->run_again(contexts.several, workspace.get());
    if (!wrong.empty()) return "with a workspace of the caller: " + wrong;
    return workspace.surroundings_intact() ? "" : "memory around the workspace was written";
}

} // namespace

TrialTally &trial_tally() {
    static TrialTally tally;
    return tally;
}

std::string run_trial(Trial &trial) {
    trial_tally().trials++;
    Runs runs(trial);
    for (const TargetContexts &contexts : all_contexts()) {
        const std::string wrong = run_on(contexts, trial, &runs);
        if (!wrong.empty()) return contexts.target + ": " + wrong;
    }
    return "";
}

} // namespace gyre::fuzz
