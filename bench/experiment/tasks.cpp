#include "tasks.h"

#include "console/errors.h"

#include <algorithm>
#include <functional>

namespace gyre::experiment {
namespace {

using Tokens = std::vector<std::int32_t>;
using Position = std::size_t;

constexpr std::int32_t symbols = 24; // of dist and nback

/// A question and its answer, which begins at `answer`.
struct Sample {
    Tokens tokens;
    Position answer;
};

Batch empty_batch(std::int64_t sequences, std::int64_t length) {
    Batch batch{sequences, length, {}, {}, {}};
    const auto count = static_cast<Position>(sequences * length);
    batch.tokens.resize(count);
    batch.targets.assign(count, -1);
    batch.samples.assign(count, -1);
    return batch;
}

/// Whole samples one after the other, until a sequence is full; what is left of it is padding. A target is the next token.
Batch pack(std::int64_t sequences, std::int64_t length, std::int32_t padding, const std::function<Sample()> &next) {
    Batch batch = empty_batch(sequences, length);
    std::fill(batch.tokens.begin(), batch.tokens.end(), padding);
    Sample sample = next();
    std::int32_t index = 0;
    for (std::int64_t s = 0; s < sequences; s++) {
        const auto room = static_cast<Position>(length + 1); // the last token of a sequence is a target only
        const auto first = static_cast<Position>(s * length);
        for (Position at = 0; at + sample.tokens.size() <= room; sample = next(), index++) {
            for (Position i = 0; i < sample.tokens.size(); i++, at++) {
                if (at + 1 < room) batch.tokens[first + at] = sample.tokens[i];
                if (i < sample.answer) continue;
                batch.targets[first + at - 1] = sample.tokens[i];
                batch.samples[first + at - 1] = index;
            }
        }
    }
    return batch;
}

void append_number(Tokens &tokens, std::int32_t number) {
    for (char digit : std::to_string(number)) tokens.push_back(digit - '0');
}

Batch make_add(Random &random, std::int64_t sequences, std::int64_t length, Split split) {
    enum { plus = 10, equals = 11, end = 12, begin = 13 };
    const auto operand = [&] {
        const std::int32_t powers[] = {0, 10, 100, 1000, 10000};
        const std::int32_t digits = split == Split::longer ? 4 : random.between(1, 3);
        return random.between(digits > 1 ? powers[digits - 1] : 0, powers[digits] - 1);
    };
    return pack(sequences, length, begin, [&] {
        std::int32_t a = 0, b = 0;
        bool held_out = false;
        do { // a tenth of all pairs is never trained on
            a = operand();
            b = operand();
            held_out =
                ((static_cast<std::uint64_t>(a) * 2654435761u + static_cast<std::uint64_t>(b) * 40503u) >> 7) % 10 == 0;
        } while (held_out != (split != Split::training));
        Sample sample{{begin}, 0};
        append_number(sample.tokens, a);
        sample.tokens.push_back(plus);
        append_number(sample.tokens, b);
        sample.tokens.push_back(equals);
        sample.answer = sample.tokens.size();
        append_number(sample.tokens, a + b);
        sample.tokens.push_back(end);
        return sample;
    });
}

Batch make_sub(Random &random, std::int64_t sequences, std::int64_t length, Split split) {
    enum { question = 10, bar = 11, colon = 12, padding = 13, first_letter = 14, letters = 26, asked = 3 };
    return pack(sequences, length, padding, [&] {
        const std::int32_t count = split == Split::longer ? random.between(21, 30) : random.between(6, 20);
        Sample sample{{question}, 0};
        for (std::int32_t i = 0; i < count; i++) sample.tokens.push_back(first_letter + random.below(letters));
        const std::int32_t index = random.between(0, count - asked);
        sample.tokens.insert(sample.tokens.end(), {bar, index / 10, index % 10, colon});
        sample.answer = sample.tokens.size();
        for (std::int32_t i = 0; i < asked; i++)
            sample.tokens.push_back(sample.tokens[1 + Position(index) + Position(i)]);
        return sample;
    });
}

/// One sequence after the other: fill(tokens, targets) of each; of a longer one the first half asks nothing.
Batch make_sequences(std::int64_t sequences, std::int64_t length, Split split,
                     const std::function<void(std::int32_t *, std::int32_t *, std::int64_t)> &fill) {
    Batch batch = empty_batch(sequences, split == Split::longer ? 2 * length : length);
    for (std::int64_t s = 0; s < sequences; s++) {
        std::int32_t *targets = &batch.targets[static_cast<Position>(s * batch.length)];
        fill(&batch.tokens[static_cast<Position>(s * batch.length)], targets, batch.length);
        if (split == Split::longer) std::fill_n(targets, length, -1);
    }
    for (Position i = 0; i < batch.targets.size(); i++) // every target is a question of its own
        if (batch.targets[i] >= 0) batch.samples[i] = static_cast<std::int32_t>(i);
    return batch;
}

Batch make_dist(Random &random, std::int64_t sequences, std::int64_t length, Split split) {
    return make_sequences(sequences, length, split, [&](std::int32_t *tokens, std::int32_t *targets, std::int64_t n) {
        std::int64_t last[symbols];
        std::fill_n(last, symbols, -1);
        for (std::int64_t t = 0; t < n; t++) {
            tokens[t] = random.below(symbols);
            std::int64_t &before = last[tokens[t]];
            targets[t] = before < 0 ? -1 : static_cast<std::int32_t>(t - before - 1);
            before = t;
        }
    });
}

Batch make_nback(Random &random, std::int64_t sequences, std::int64_t length, Split split) {
    constexpr std::int64_t furthest = 32;
    return make_sequences(sequences, length, split, [&](std::int32_t *tokens, std::int32_t *targets, std::int64_t n) {
        for (std::int64_t t = 0; t < n; t++) {
            tokens[t] = random.below(symbols);
            targets[t] = -1;
        }
        for (std::int64_t t = furthest; t < n; t += 2) { // letters stay at odd places, which an odd number back reaches
            const std::int32_t back = 2 * random.below(furthest / 2) + 1;
            tokens[t] = symbols + back - 1;
            targets[t] = tokens[t - back];
        }
    });
}

} // namespace

Batch Task::make(Random &random, std::int64_t sequences, std::int64_t length, Split split) const {
    const std::string which = name;
    const auto make = which == "add" ? make_add : which == "sub" ? make_sub : which == "dist" ? make_dist : make_nback;
    return make(random, sequences, length, split);
}

const std::vector<Task> &tasks() {
    static const std::vector<Task> all = {
        {"dist", "distance to the last occurrence", 1, 32, 800, true, symbols, 0},
        {"sub", "substring by index", 2, 64, 1000, false, 40, 40},
        {"add", "addition", 2, 64, 1000, false, 14, 14},
        {"nback", "letter n back", 2, 32, 400, false, symbols + 32, symbols},
    };
    return all;
}

const Task &find_task(const std::string &name) {
    std::string names;
    for (const Task &task : tasks()) {
        if (task.name == name) return task;
        names += std::string(names.empty() ? "" : ", ") + task.name;
    }
    cli::refuse("--task " + name, "no such task", "one of " + names);
}

} // namespace gyre::experiment
