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

/// Contexts are made once: of each target that this machine runs, with one thread, and with two, which take a while to meet.
class Contexts {
public:
    Contexts() {
        gyre_target_info target;
        for (int32_t i = 0; gyre_target_at(i, &target) && count < most; i++)
            if (target.device == GYRE_CPU && create(target.name, 1, &alone[count]) &&
                create(target.name, 2, &both[count]))
                count++;
        if (!count) std::abort();
    }
    gyre_context *choose(ByteReader &r) const {
        const uint32_t target = r.below(count);
        return r.rarely(32) ? both[target] : alone[target];
    }

private:
    static constexpr uint32_t most = 8;
    gyre_context *alone[most] = {}, *both[most] = {};
    uint32_t count = 0;

    static bool create(const char *target, int32_t threads, gyre_context **context) {
        gyre_context_options options = gyre_context_defaults();
        options.target = target;
        options.threads = threads;
        return gyre_context_create(&options, context) == GYRE_OK;
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static Memory &memory = *new Memory; // other threads may still end
    static const Contexts contexts;
    static auto *place = static_cast<char *>(std::aligned_alloc(64, (sizeof(HostileCall) + 63) / 64 * 64));
    ByteReader reader(bytes, count);
    memory.choose(reader);
    auto *one = new (place) HostileCall(reader, memory);
    const gyre_status status = one->run(contexts.choose(reader));
    tally.all++;
    tally.accepted += status == GYRE_OK;
    if (status < GYRE_OK || status >= GYRE_INTERNAL || !memory.as_it_should_be(status)) {
        std::fprintf(stderr, "status %d, \"%s\"; memory is %s\n", (int)status, gyre_last_error(),
                     memory.as_it_should_be(status) ? "as it should be" : "not as it should be");
        std::abort();
    }
    return 0;
}
