#include "verification.h"

#include "events.h"

#include "support/difference.h"

#include <sstream>

namespace gyre::tune {

void compare(const std::string &call, const char *what, const std::vector<double> &got,
             const std::vector<double> &expected, const std::vector<double> &tolerances) {
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < expected.size(); i++) {
        const double excess = test::difference(got[i], expected[i]) - tolerances[tolerances.size() == 1 ? 0 : i];
        if (excess > worst) {
            worst = excess;
            at = i;
        }
    }
    if (worst == 0) return;
    std::ostringstream text;
    text << call << ": " << what << "[" << at << "] is " << got[at] << ", expected " << expected[at] << " +- "
         << tolerances[tolerances.size() == 1 ? 0 : at];
    throw WrongResult(text.str());
}

void require(bool holds, const std::string &call, const std::string &otherwise) {
    if (!holds) throw WrongResult(call + ": " + otherwise);
}

} // namespace gyre::tune
