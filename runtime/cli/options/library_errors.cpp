#include "options/library_errors.h"

#include "console/errors.h"

#include <algorithm>
#include <cctype>

namespace gyre::cli {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// The first argument that the message speaks of, perhaps by a part such as k.shape; else "", if that is in the list.
const ArgumentNames::value_type *argument_in(const std::string &message, const ArgumentNames &names) {
    const auto find = [&names](const std::string &argument) {
        const auto is_it = [&argument](const auto &name) { return name.first == argument; };
        const auto at = std::find_if(names.begin(), names.end(), is_it);
        return at == names.end() ? nullptr : &*at;
    };
    for (std::size_t begin = 0; begin < message.size();) {
        std::size_t end = begin;
        while (end < message.size() && is_name_character(message[end])) end++;
        for (std::string word = message.substr(begin, end - begin); !word.empty();) {
            if (const auto *name = find(word)) return name;
            const std::size_t dot = word.rfind('.');
            word.resize(dot == std::string::npos ? 0 : dot);
        }
        begin = end + 1;
    }
    return find("");
}

/// "k: got …" becomes "--k K.npy: got …"; a message that begins in another way is put behind the option.
std::string translate(const std::string &message, const ArgumentNames &names) {
    const auto *name = argument_in(message, names);
    if (!name) return message;
    const auto &[argument, subject] = *name;
    const bool leads = !argument.empty() && message.compare(0, argument.size() + 1, argument + ":") == 0;
    return leads ? subject + message.substr(argument.size()) : subject + ": " + message;
}

} // namespace

void check(gyre_status status, const ArgumentNames &names) {
    if (status == GYRE_OK) return;
    const std::string line = translate(gyre_last_error(), names);
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
