#include "options/library_errors.h"

#include "console/errors.h"

#include <algorithm>

namespace gyre::cli {
namespace {

/// The entry of the argument, or of the nearest structure or array that it is a part of: rope for rope.theta, cu_seqlens_q for
/// cu_seqlens_q[2]; else the entry "", which stands for every argument. nullptr if the list has none of these.
const ArgumentNames::value_type *entry_of(std::string argument, const ArgumentNames &names) {
    for (;;) {
        const auto is_it = [&argument](const auto &name) { return name.first == argument; };
        const auto at = std::find_if(names.begin(), names.end(), is_it);
        if (at != names.end()) return &*at;
        if (argument.empty()) return nullptr;
        const std::size_t part = argument.find_last_of(".[");
        argument.resize(part == std::string::npos ? 0 : part);
    }
}

/// "k: got …" becomes "--k K.npy: got …"; the name of a part stays in the message, behind the option.
std::string translate(const std::string &message, const char *argument, const ArgumentNames &names) {
    const auto *entry = entry_of(argument, names);
    if (!entry) return message;
    const auto &[name, subject] = *entry;
    return name == argument ? subject + message.substr(name.size()) : subject + ": " + message;
}

} // namespace

void check(gyre_status status, const ArgumentNames &names) {
    if (status == GYRE_OK) return;
    const char *argument = gyre_last_error_argument();
    const std::string line = argument ? translate(gyre_last_error(), argument, names) : gyre_last_error();
    switch (status) {
    case GYRE_BAD_ARGUMENT:
    case GYRE_BAD_SHAPE:
    case GYRE_BAD_TYPE:
    case GYRE_UNSUPPORTED:
        throw UsageError(line);
    default:
        throw RunError(line);
    }
}

} // namespace gyre::cli
