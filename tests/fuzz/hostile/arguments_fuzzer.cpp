/// Any bytes are one call of one operation with hostile arguments: it returns a status, and an output that was refused is
/// untouched. Sanitizers see the rest.
#include "call.h"

#include <cstdio>
#include <cstdlib>
#include <new>

using namespace gyre::fuzz;

namespace {

/// How many calls were accepted: a fuzzer whose calls are all refused finds little.
struct Tally {
    long accepted = 0, all = 0;
    ~Tally() { std::fprintf(stderr, "%ld of %ld calls were accepted\n", accepted, all); }
} tally;

/// Contexts are made once: with each number of threads and each target that this machine runs.
gyre_context *choose_context(ByteReader &r) {
    static gyre_context *contexts[16] = {};
    static uint32_t count = 0;
    if (!count) {
        gyre_target_info target;
        for (int32_t i = 0; gyre_target_at(i, &target) && count < 14; i++)
            for (const int32_t threads : {1, 2}) {
                gyre_context_options options = gyre_context_defaults();
                options.target = target.name;
                options.threads = threads;
                if (target.device == GYRE_CPU && gyre_context_create(&options, &contexts[count]) == GYRE_OK) count++;
            }
        if (!count) std::abort();
    }
    return contexts[r.below(count)];
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static Memory memory;
    static auto *place = static_cast<char *>(std::aligned_alloc(64, (sizeof(HostileCall) + 63) / 64 * 64));
    ByteReader reader(bytes, count);
    memory.fill(reader);
    auto *one = new (place) HostileCall(reader, memory);
    const gyre_status status = one->run(choose_context(reader));
    tally.all++;
    tally.accepted += status == GYRE_OK;
    if (status < GYRE_OK || status >= GYRE_INTERNAL || !memory.as_it_should_be(status)) {
        std::fprintf(stderr, "status %d, \"%s\"; memory is %s\n", (int)status, gyre_last_error(),
                     memory.as_it_should_be(status) ? "as it should be" : "not as it should be");
        std::abort();
    }
    return 0;
}
