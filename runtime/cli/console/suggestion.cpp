#include "console/suggestion.h"

#include <algorithm>
#include <numeric>

namespace gyre::cli {
namespace {

/// Levenshtein's distance, by rows of the table.
std::size_t distance(const std::string &from, const std::string &to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); i++) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < to.size(); j++) {
            const std::size_t replaced = diagonal + (from[i] != to[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string without_dashes(const std::string &name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

} // namespace

std::string most_similar(const std::string &word, const std::vector<std::string> &names) {
    constexpr std::size_t longest_name = 40; // nobody mistypes more
    std::string nearest;
    const std::string letters = without_dashes(word);
    if (letters.size() > longest_name) return nearest;
    std::size_t least = letters.size() / 3 + 1;
    for (const std::string &name : names) {
        const std::size_t changes = distance(letters, without_dashes(name));
        if (changes >= least) continue;
        least = changes;
        nearest = name;
    }
    return nearest;
}

} // namespace gyre::cli
