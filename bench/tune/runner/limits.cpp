#include "limits.h"

#include <sys/resource.h>
#include <unistd.h>

namespace gyre::tune {

void limit_seconds(std::int64_t seconds, std::int64_t threads) {
    if (seconds <= 0) return;
    alarm(static_cast<unsigned>(seconds));
    const rlim_t processor_seconds = static_cast<rlim_t>(seconds * threads);
    const rlimit limit{processor_seconds, processor_seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
}

void limit_memory(std::int64_t mebibytes) {
    if (mebibytes <= 0) return;
    const rlim_t bytes = static_cast<rlim_t>(mebibytes) << 20;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

} // namespace gyre::tune
