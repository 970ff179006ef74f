/// Any bytes are one valid call of one operation: every target gives what its definition says, the same bits however it is called,
/// and nothing that does not count matters. What is found is printed as the call in C.
#include "append_trial.h"
#include "attention_trial.h"
#include "linear_trial.h"
#include "merge_trial.h"
#include "rotary_trial.h"
#include "run_trial.h"

#include <cstdio>
#include <cstdlib>

using namespace gyre::fuzz;

namespace {

struct Report {
    ~Report() { std::fprintf(stderr, "%ld cases, %ld calls\n", trial_tally().trials, trial_tally().calls); }
} report;

std::unique_ptr<Trial> random_trial(ByteReader &r) {
    switch (r.below(12)) {
    case 0:
        return random_rotary(r);
    case 1:
        return random_rotary_qk(r);
    case 2:
    case 3:
    case 4:
    case 5:
        return random_attention(r);
    case 6:
    case 7:
        return random_attention_backward(r);
    case 8:
        return random_merge(r);
    case 9:
        return random_append(r);
    case 10:
        return random_linear(r);
    default:
        return random_linear_backward(r);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    ByteReader reader(bytes, count);
    const std::unique_ptr<Trial> trial = random_trial(reader);
    const std::string wrong = run_trial(*trial);
    if (wrong.empty()) return 0;
    std::fprintf(stderr, "%s\n%s", wrong.c_str(), trial->describe().c_str());
    std::abort();
}
