#include "events.h"

#include <cstdio>
#include <utility>

namespace gyre::tune {

cli::JsonObject event(const char *name) { return std::move(cli::JsonObject().add("event", name)); }

void tell(const cli::JsonObject &event) {
    std::printf("%s\n", event.line().c_str());
    std::fflush(stdout);
}

} // namespace gyre::tune
