/// The training experiment's data: every target is what its task asks for, and held-out questions are not trained on.
#include "support/doctest.h"

#include "console/errors.h"
#include "tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

using namespace gyre::experiment;

namespace {

constexpr std::int64_t length = 64;

Batch batch_of(const std::string &task, Split split, std::uint32_t seed = 1, std::int64_t sequences = 200) {
    Random random({seed});
    return find_task(task).make(random, sequences, length, split);
}

/// A packed batch as text, one line a question: what was asked, and the answer that its targets give.
std::vector<std::pair<std::string, std::string>> questions(const Batch &b, const std::string &alphabet, char begin) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::int64_t s = 0; s < b.sequences; s++) {
        std::string asked;
        for (std::int64_t t = 0; t < b.length; t++) {
            const auto i = static_cast<std::size_t>(s * b.length + t);
            const char token = alphabet.at(static_cast<std::size_t>(b.tokens[i]));
            if (token == begin) asked.clear();
            CHECK((b.targets[i] >= 0) == (b.samples[i] >= 0));
            const bool is_answer = !all.empty() && t > 0 && b.targets[i - 1] >= 0;
            if (!is_answer) asked += token;
            if (b.targets[i] < 0) continue;
            if (!is_answer) all.emplace_back(asked, "");
            all.back().second += alphabet.at(static_cast<std::size_t>(b.targets[i]));
            if (t + 1 < b.length && is_answer) CHECK(b.samples[i] == b.samples[i - 1]);
        }
    }
    return all;
}

const std::string add_alphabet = "0123456789+=;$";
const std::string sub_alphabet = "0123456789?|:_abcdefghijklmnopqrstuvwxyz";

/// The operands of "$12+345=".
std::pair<int, int> operands(const std::string &asked) {
    const std::size_t plus = asked.find('+');
    return {std::stoi(asked.substr(1)), std::stoi(asked.substr(plus + 1))};
}

} // namespace

TEST_CASE("add asks for sums, and holds pairs out") {
    std::set<std::pair<int, int>> trained;
    for (Split split : {Split::training, Split::held_out, Split::longer}) {
        const auto all = questions(batch_of("add", split), add_alphabet, '$');
        CHECK(all.size() > 500);
        std::map<std::size_t, int> digits;
        for (const auto &[asked, answer] : all) {
            CAPTURE(asked);
            const auto [a, b] = operands(asked);
            CHECK(asked == "$" + std::to_string(a) + "+" + std::to_string(b) + "=");
            CHECK(answer == std::to_string(a + b) + ";");
            digits[std::to_string(a).size()]++;
            if (split == Split::training)
                trained.emplace(a, b);
            else
                CHECK(trained.count({a, b}) == 0);
        }
        CHECK(digits.size() == (split == Split::longer ? 1 : 3));
        for (const auto &[count, times] : digits) CHECK(times > static_cast<int>(all.size()) / 5);
    }
}

TEST_CASE("sub asks for the three letters from an index") {
    for (Split split : {Split::training, Split::longer}) {
        const auto all = questions(batch_of("sub", split), sub_alphabet, '?');
        CHECK(all.size() > 150);
        std::size_t shortest = 100, longest = 0;
        for (const auto &[asked, answer] : all) {
            CAPTURE(asked);
            const std::size_t bar = asked.find('|'), letters = bar - 1;
            REQUIRE(asked.size() == bar + 4);
            CHECK(asked.back() == ':');
            const auto index = static_cast<std::size_t>(std::stoi(asked.substr(bar + 1, 2)));
            CHECK(answer == asked.substr(1 + index, 3));
            CHECK(index + 3 <= letters);
            shortest = std::min(shortest, letters);
            longest = std::max(longest, letters);
        }
        CHECK(shortest == (split == Split::longer ? 21 : 6));
        CHECK(longest == (split == Split::longer ? 30 : 20));
    }
}

TEST_CASE("dist asks for distances, nback for letters, longer ones past the trained length") {
    for (const std::string name : {"dist", "nback"})
        for (Split split : {Split::training, Split::longer}) {
            const Batch b = batch_of(name, split);
            CHECK(b.length == (split == Split::longer ? 2 * length : length));
            std::int64_t asked = 0;
            for (std::int64_t s = 0; s < b.sequences; s++) {
                const std::int32_t *x = &b.tokens[static_cast<std::size_t>(s * b.length)];
                const std::int32_t *y = &b.targets[static_cast<std::size_t>(s * b.length)];
                for (std::int64_t t = 0; t < b.length; t++) {
                    std::int64_t expected = -1;
                    if (name == "dist") {
                        for (std::int64_t back = 1; back <= t && expected < 0; back++)
                            if (x[t - back] == x[t]) expected = back - 1;
                    } else if (x[t] >= 24) {
                        expected = x[t - (x[t] - 24 + 1)];
                        CHECK(expected < 24);
                        CHECK(t >= 32);
                    }
                    if (split == Split::longer && t < length) expected = -1;
                    REQUIRE(y[t] == expected);
                    asked += expected >= 0;
                }
            }
            CHECK(asked > b.sequences * 10);
        }
}

TEST_CASE("data is its seed's, and unknown names are refused") {
    for (const Task &task : tasks()) {
        CHECK(batch_of(task.name, Split::training, 3, 4).tokens == batch_of(task.name, Split::training, 3, 4).tokens);
        CHECK(batch_of(task.name, Split::training, 3, 4).tokens != batch_of(task.name, Split::training, 4, 4).tokens);
    }
    CHECK_THROWS_AS(find_task("copy"), gyre::cli::UsageError);
}
