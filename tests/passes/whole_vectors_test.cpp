/// passes/memory/whole_vectors.h on statements made by hand: elements at known places come from whole vectors, others are refused.
#include "../support/lowered_text.h"
#include "passes/memory/whole_vectors.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace Halide;
using namespace Halide::Internal;
using namespace gyre::test;

namespace {

/// Stores what is loaded from `from` at these places.
Stmt load_of(const std::string &from, const Expr &index) {
    const int lanes = index.type().lanes();
    const Expr loaded = Load::make(Float(32, lanes), from, index, {}, {}, const_true(lanes), {});
    const Expr place = lanes > 1 ? Ramp::make(0, 1, lanes) : Expr(0);
    return Store::make("to", loaded, place, Parameter(), const_true(lanes), {});
}

std::string text_of(const Stmt &s) {
    std::ostringstream text;
    text << s;
    return text.str();
}

const Expr turn = Variable::make(Int(32), "turn");

} // namespace

TEST_CASE("elements at constant places are shuffled out of whole vectors") {
    const std::string text = text_of(gyre::read_whole_vectors(load_of("small", Ramp::make(1, 4, 3)), {"small"}, {}));
    CAPTURE(text);
    for (const char *vector : {"small[ramp(0, 1, 4)", "small[ramp(4, 1, 4)", "small[ramp(8, 1, 4)"})
        CHECK(count(text, vector) == 1);
    CHECK(count(text, "ramp(1, 4, 3)") == 0);
}

TEST_CASE("a column of whole rows is one of an interleaving") {
    const Stmt rows = load_of("rows", Ramp::make(turn * 16 + 2, 4, 4));
    const std::string text = text_of(gyre::read_whole_vectors(rows, {}, {"rows"}));
    CAPTURE(text);
    CHECK(count(text, "interleave_vectors(") == 1);
    CHECK(count(text, "rows[ramp(") == 4);
}

TEST_CASE("dense vectors, single elements and other allocations are left as they are") {
    for (const Expr &index : {Ramp::make(turn, 1, 4), turn}) {
        const Stmt given = load_of("small", index);
        CHECK(gyre::read_whole_vectors(given, {"small"}, {"small"}).same_as(given));
    }
    const Stmt other = load_of("other", Ramp::make(1, 4, 3));
    CHECK(gyre::read_whole_vectors(other, {"small"}, {"rows"}).same_as(other));
}

TEST_CASE("elements at unknown places are refused, with the allocation's name") {
    const auto stopped = [](const Stmt &s) {
        return refusal([&] { gyre::read_whole_vectors(s, {"small"}, {"rows"}); });
    };
    CHECK(stopped(load_of("small", Ramp::make(turn, 4, 3))).find("small is read at an unknown place") !=
          std::string::npos);
    CHECK(stopped(load_of("rows", Ramp::make(turn, 4, 4))).find("rows is read at an unknown place of its vectors") !=
          std::string::npos);
}
