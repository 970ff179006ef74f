/// What becomes of numbers below the smallest normal one, as include/gyre/promises.md tells it for each operation, type and target: every
/// cell of its table that can run here. And results that lie between two numbers of their type are rounded to the even one.
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_case.h"
#include "support/rotary_case.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

using namespace gyre::test;

namespace {

double subnormal_of(gyre_dtype dtype) { return dtype == GYRE_F16 ? 0x1.8p-20 : 0x1.8p-130; }

/// "kept" or "0", or what else the numbers are.
std::string word_of(const std::vector<double> &got, double expected) {
    const auto all = [&](const auto &is) { return std::all_of(got.begin(), got.end(), is); };
    if (all([&](double x) { return std::fabs(x - expected) <= 1e-2 * expected; })) return "kept";
    if (all([](double x) { return x == 0; })) return "0";
    return "other: " + std::to_string(got[0] / expected) + " of it";
}

std::string both(const std::string &a, const std::string &b) { return a == b ? a : a + " and " + b; }

using Measure = std::function<std::string(gyre_context *)>;

Measure rotary(gyre_dtype dtype) {
    return [dtype](gyre_context *context) {
        RotaryCase c(RotaryShape().dim(64).of(dtype));
        c.x.fill(subnormal_of(dtype));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return word_of(c.out.values(), subnormal_of(dtype));
    };
}

Measure append(gyre_dtype from, gyre_dtype to, bool rotated) {
    return [=](gyre_context *context) {
        Tensor x(from, {1, 1, 1, 64}), k(to, {1, 1, 1, 64}), v(to, {1, 1, 1, 64});
        x.fill(subnormal_of(to));
        k.poison();
        v.poison();
        const gyre_rope rope = gyre_rope_defaults();
        gyre_cache_append_args a = gyre_cache_append_defaults();
        a.k = a.v = x.view();
        a.k_cache = k.view();
        a.v_cache = v.view();
        a.rope = a.value_rope = rotated ? &rope : nullptr;
        REQUIRE_MESSAGE(gyre_cache_append(context, &a) == GYRE_OK, text(gyre_last_error()));
        return both(word_of(k.values(), subnormal_of(to)), word_of(v.values(), subnormal_of(to)));
    };
}

/// The value of the only key.
Measure attention(gyre_dtype dtype, int64_t queries, float softcap) {
    return [=](gyre_context *context) {
        AttentionCase c(AttentionShape().lengths(queries, 1).dims(64).of(dtype));
        c.v.fill(subnormal_of(dtype));
        c.args.softcap = softcap;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return word_of(c.out.values(), subnormal_of(dtype));
    };
}

Measure merge(gyre_dtype from, gyre_dtype to) {
    return [=](gyre_context *context) {
        Tensor part(from, {1, 1, 1, 64}), lse(GYRE_F32, {1, 1, 1}), out(to, {1, 1, 1, 64});
        part.fill(subnormal_of(to));
        lse.fill(1);
        gyre_attention_merge_args a = gyre_attention_merge_defaults();
        a.parts = 1;
        a.part_out = part.view();
        a.part_lse = lse.view();
        a.out = out.view();
        REQUIRE_MESSAGE(gyre_attention_merge(context, &a) == GYRE_OK, text(gyre_last_error()));
        return word_of(out.values(), subnormal_of(to));
    };
}

/// The gradient of the result is that of the only key's value.
Measure gradients(gyre_dtype dtype) {
    return [dtype](gyre_context *context) {
        BackwardCase c(AttentionShape().lengths(1, 1).dims(64).of(dtype));
        c.out_grad.fill(subnormal_of(dtype));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return word_of(c.v_grad.values(), subnormal_of(dtype));
    };
}

Measure linear(gyre_dtype dtype) {
    return [dtype](gyre_context *context) {
        LinearCase c(AttentionShape().lengths(1, 1).dims(64).of(dtype));
        c.v.fill(subnormal_of(dtype));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return word_of(c.out.values(), subnormal_of(dtype));
    };
}

struct Row {
    std::string name;
    Measure measure;
};

std::vector<Row> all_rows() {
    std::vector<Row> rows;
    const std::pair<gyre_dtype, std::string> types[] = {{GYRE_F32, "f32"}, {GYRE_F16, "f16"}, {GYRE_BF16, "bf16"}};
    for (const auto &[dtype, name] : types) {
        rows.push_back({"rotary, " + name, rotary(dtype)});
        rows.push_back({"append " + name + " to " + name + ", copied", append(dtype, dtype, false)});
        rows.push_back({"append " + name + " to " + name + ", rotated", append(dtype, dtype, true)});
        rows.push_back({"attention, " + name, attention(dtype, 40, 0)});
        rows.push_back({"decoding, " + name, attention(dtype, 1, 0)});
        rows.push_back({"attention with softcap, " + name, attention(dtype, 40, 5)});
        rows.push_back({"decoding with softcap, " + name, attention(dtype, 1, 5)});
        rows.push_back({"merge, " + name, merge(dtype, dtype)});
        rows.push_back({"gradients, " + name, gradients(dtype)});
        rows.push_back({"linear attention, " + name, linear(dtype)});
        if (dtype == GYRE_F32) continue;
        rows.push_back({"append f32 to " + name + ", copied", append(GYRE_F32, dtype, false)});
        rows.push_back({"append f32 to " + name + ", rotated", append(GYRE_F32, dtype, true)});
        rows.push_back({"merge f32 to " + name, merge(GYRE_F32, dtype)});
    }
    return rows;
}

std::vector<std::string> cells_of(const std::string &line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '|');) {
        const size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
        cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    return cells;
}

/// The word that the guide's table of subnormal numbers has for a row and a target.
std::map<std::pair<std::string, std::string>, std::string> words_of_guide() {
    std::map<std::pair<std::string, std::string>, std::string> words;
    std::ifstream file(GYRE_GUIDE);
    std::vector<std::string> targets;
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() > 2 && cells[1] == "subnormal numbers") {
            targets = cells;
            continue;
        }
        if (cells.size() < 3) targets.clear();
        for (size_t column = 2; column < std::min(cells.size(), targets.size()); column++) {
            std::istringstream rows(cells[1]);
            for (std::string row; std::getline(rows, row, ';');) {
                row.erase(0, row.find_first_not_of(' '));
                std::istringstream each(targets[column]);
                for (std::string target; std::getline(each, target, ',');)
                    words[{row, target.substr(target.find_first_not_of(' '))}] = cells[column];
            }
        }
    }
    return words;
}

} // namespace

TEST_CASE("subnormal numbers: every cell of the guide's table that can run here") {
    const auto words = words_of_guide();
    REQUIRE_MESSAGE(words.size() > 100, "no table in " GYRE_GUIDE);
    for (const Row &row : all_rows())
        for (const std::string &target : runnable_targets()) {
            if (target.rfind("x86", 0) != 0) continue; // what the table has
            const Context context(target.c_str());
            const std::string got = row.measure(context);
            const auto found = words.find({row.name, target});
            CHECK_MESSAGE((found != words.end() && found->second == got), row.name, " on ", target, ": ", got,
                          ", the guide says ", (found == words.end() ? "nothing" : found->second));
        }
}

TEST_CASE("results between two numbers of their type are rounded to the even one") {
    for (const gyre_dtype dtype : {GYRE_F16, GYRE_BF16}) {
        const double spacing = dtype == GYRE_F16 ? 0x1p-10 : 0x1p-7;
        for (const int64_t step : {0, 1, 2, 3, 8, 17}) {
            const double below = 1 + (double)step * spacing, tie = below + spacing / 2;
            const double even = step % 2 ? below + spacing : below;
            each_target([&](gyre_context *context) {
                for (const bool rotated : {false, true}) {
                    Tensor x(GYRE_F32, {1, 1, 1, 64}), k(dtype, {1, 1, 1, 64}), v(dtype, {1, 1, 1, 64});
                    x.fill(tie);
                    const gyre_rope rope = gyre_rope_defaults();
                    gyre_cache_append_args a = gyre_cache_append_defaults();
                    a.k = a.v = x.view();
                    a.k_cache = k.view();
                    a.v_cache = v.view();
                    a.rope = a.value_rope = rotated ? &rope : nullptr; // at position 0
                    REQUIRE_MESSAGE(gyre_cache_append(context, &a) == GYRE_OK, text(gyre_last_error()));
                    CHECK(k.get({0, 0, 0, 5}) == even);
                    CHECK(v.get({0, 0, 0, 5}) == even);
                }
                Tensor part(GYRE_F32, {1, 1, 1, 64}), lse(GYRE_F32, {1, 1, 1}), out(dtype, {1, 1, 1, 64});
                part.fill(tie);
                lse.fill(0);
                gyre_attention_merge_args m = gyre_attention_merge_defaults();
                m.parts = 1;
                m.part_out = part.view();
                m.part_lse = lse.view();
                m.out = out.view();
                REQUIRE_MESSAGE(gyre_attention_merge(context, &m) == GYRE_OK, text(gyre_last_error()));
                CHECK(out.get({0, 0, 0, 5}) == even);
                // The mean of two values whose keys score 0.
                for (const int64_t queries : {1, 40}) {
                    AttentionCase c(AttentionShape().lengths(queries, 2).dims(64).of(dtype));
                    c.q.fill(0);
                    c.v.fill(below);
                    for (int64_t d = 0; d < 64; d++) c.v.set({0, 1, 0, d}, below + spacing);
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CHECK(c.out.get({0, queries - 1, 0, 5}) == even);
                }
                // The sum of two gradients, of rows that see one key.
                BackwardCase b(AttentionShape().lengths(2, 1).dims(64).of(dtype));
                b.forward.q.fill(0);
                b.out_grad.fill(tie - spacing / 2);
                for (int64_t d = 0; d < 64; d++) b.out_grad.set({0, 1, 0, d}, tie + spacing / 2);
                REQUIRE_MESSAGE(b.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(b.v_grad.get({0, 0, 0, 5}) == 2 * even);
            });
        }
    }
}
