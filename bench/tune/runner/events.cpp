#include "events.h"

#include <cstdio>

namespace gyre::tune {

void tell(const char *event, const Json &fields) {
    Json line = {{"event", event}};
    line.update(fields);
    std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

} // namespace gyre::tune
