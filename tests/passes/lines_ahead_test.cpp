/// passes/order/lines_ahead.h: lines that a table finds, or that lie further on, are asked for in each turn of a loop, and nothing else changes.
#include "pass_generator.h"
#include "passes/order/lines_ahead.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

/// Sums rows of 16 elements that begin where a table says, two at a time, and asks for lines in a loop.
struct SumOfRows {
    static constexpr int rows = 6;
    ImageParam in{Float(32), 1, "in"};
    Var x{"x"}, j{"j"};
    Func begins{"begins"}, sum{"sum"};
    RVar pair{"pair"}, one{"one"};

    PassGenerator asking(const std::string &loop, const std::function<gyre::Asked(const gyre::LoopValues &)> &lines,
                         const std::string &around = "") {
        return PassGenerator([&](Internal::GeneratorBase &generator, Func out) {
            RDom row(0, rows, "row");
            begins(j) = (rows - 1 - j) * 16;
            sum(x) = 0.0f;
            sum(x) += in(unsafe_promise_clamped(begins(row), 0, 16 * (rows - 1)) + x);
            out(x) = sum(x);
            begins.compute_root().bound(j, 0, 2 * rows);
            sum.compute_root().update().split(row, pair, one, 2).reorder(x, one, pair);
            gyre::ask_ahead(generator, sum, loop, in, lines, around);
        });
    }
};

} // namespace

TEST_CASE("lines of rows further on are asked for, by the values of the loops around") {
    SumOfRows s;
    const PassGenerator made = s.asking("one", [&](const gyre::LoopValues &value) {
        return gyre::Asked{
            {{s.begins, value("pair") * 2 + value("one") + 3, 0}, {s.begins, value("pair"), value("one") + 8}}};
    });
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "llvm.prefetch.p0(") == 2);
    CHECK(count(lowered, "begins[((sum.s1.row$x.pair*2) + sum.s1.row$x.one) + 3]") == 1);
    CHECK(count(lowered, "begins[sum.s1.row$x.pair] + (sum.s1.row$x.one + 8)") == 1);

    Buffer<float> data(16 * SumOfRows::rows);
    for (int i = 0; i < data.width(); i++) data(i) = (float)i;
    s.in.set(data);
    const Buffer<float> result = made.run(16);
    for (int i = 0; i < 16; i++) CHECK(result(i) == (float)(SumOfRows::rows * i + 16 * (0 + 1 + 2 + 3 + 4 + 5)));
}

TEST_CASE("lines of places that are told are asked for") {
    SumOfRows s;
    const PassGenerator made = s.asking("one", [](const gyre::LoopValues &value) {
        gyre::Asked asked;
        asked.places = {cast<int64_t>(value("pair")) * 48, cast<int64_t>(value("one")) + 7};
        return asked;
    });
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "llvm.prefetch.p0(") == 2);
    CHECK(count(lowered, ".pair)*(int64)48)*(int64)4)") == 1); // bytes
    CHECK(count(lowered, ".one) + (int64)7)*(int64)4)") == 1);
}

TEST_CASE("lines are asked for in the turns that a condition names, and no others") {
    SumOfRows s;
    const PassGenerator made = s.asking("one", [&](const gyre::LoopValues &value) {
        return gyre::Asked{{{s.begins, value("one"), 0}}, value("pair") == 1};
    });
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "llvm.prefetch.p0(") == 1);
    CHECK(count(lowered, "row$x.pair == 1) {") == 1);
    CHECK(lowered.find("row$x.pair == 1) {") < lowered.find("llvm.prefetch.p0("));
}

TEST_CASE("all lines of some rows are asked for in a loop, within the loop that is named alone") {
    const auto asking = [](SumOfRows &s, const std::string &around) {
        return s.asking(
            "one",
            [&](const gyre::LoopValues &value) {
                return gyre::Asked{{}, Internal::const_true(), {{s.begins, value("pair") * 2, 2, 40}}}; // three lines
            },
            around);
    };
    SumOfRows within, elsewhere;
    const PassGenerator made = asking(within, "pair");
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "llvm.prefetch.p0(") == 3);
    CHECK(count(lowered, "[row_ahead") == 3);
    CHECK(count(lowered, "for (row_ahead") == 1);

    Buffer<float> data(16 * SumOfRows::rows);
    for (int i = 0; i < data.width(); i++) data(i) = (float)i;
    within.in.set(data);
    const Buffer<float> result = made.run(16); // asks beyond the end, too
    for (int i = 0; i < 16; i++) CHECK(result(i) == (float)(SumOfRows::rows * i + 16 * (0 + 1 + 2 + 3 + 4 + 5)));

    const PassGenerator nowhere = asking(elsewhere, "x.pair");
    CHECK(refusal([&] { nowhere.lowered(); }).find("no loop one of sum") != std::string::npos);
}

namespace {

/// Copies rows of 32 elements in vectors of 16, each of which asks for what is `distance` elements further on.
struct CopyOfRows {
    static constexpr int rows = 3, row = 32;
    ImageParam in{Float(32), 1, "in"}, other{Float(32), 1, "other"};
    Var x{"x"}, c{"c"}, r{"r"};
    Func copy{"copy"};

    PassGenerator asking(const ImageParam &of, const Expr &distance) {
        return PassGenerator([&](Internal::GeneratorBase &generator, Func out) {
            copy(c, r) = in(r * row + c) + 1.0f;
            out(x) = copy(x % row, x / row);
            copy.compute_root().bound(c, 0, row).bound(r, 0, rows).vectorize(c, 16);
            gyre::ask_further_on(generator, copy, of, distance);
        });
    }
};

} // namespace

TEST_CASE("vectors that are read ask for lines further on, and nothing else changes") {
    CopyOfRows s;
    const PassGenerator made = s.asking(s.in, 1000);
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "llvm.prefetch.p0(") == 1);
    CHECK(count(lowered, "1000") == 1);
    Buffer<float> data(CopyOfRows::row * CopyOfRows::rows);
    for (int i = 0; i < data.width(); i++) data(i) = (float)i;
    s.in.set(data);
    const Buffer<float> result = made.run(data.width()); // asks beyond the end, too
    for (int i = 0; i < data.width(); i++) CHECK(result(i) == (float)(i + 1));
}

TEST_CASE("a tensor that no vector reads cannot ask further on") {
    CopyOfRows s;
    CHECK(refusal([&] { s.asking(s.other, 1).lowered(); }).find("no vector of other") != std::string::npos);
}

TEST_CASE("a loop that is not there cannot ask, nor by a loop that is not around") {
    SumOfRows missing, inside;
    const PassGenerator nowhere = missing.asking("row", [](const gyre::LoopValues &) { return gyre::Asked{}; });
    CHECK(refusal([&] { nowhere.lowered(); }).find("no loop row of sum") != std::string::npos);
    const PassGenerator by_inner = inside.asking(
        "pair", [&](const gyre::LoopValues &value) { return gyre::Asked{{{inside.begins, value("one"), 0}}}; });
    CHECK(refusal([&] { by_inner.lowered(); }).find("is in no loop one") != std::string::npos);
}
