/// passes/memory/masked_tails.h on statements made by hand: what becomes a masked load, and what is left as it is.
#include "../support/lowered_text.h"
#include "passes/memory/masked_tails.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace Halide;
using namespace Halide::Internal;
using namespace gyre::test;

namespace {

constexpr int lanes = 16;
const Expr first = Variable::make(Int(32), "first"), length = Variable::make(Int(32), "length");
const Expr place = Ramp::make(first, 1, lanes);

Expr each(const Expr &x) { return Broadcast::make(x, lanes); }

/// Stores elements of a row at these places where `condition`, else 0.
Stmt chosen(const Expr &condition, const Expr &index) {
    const Type type = Float(32, lanes);
    const Expr loaded = Load::make(type, "row", index, {}, {}, const_true(lanes), {});
    return Store::make("to", Select::make(condition, loaded, make_zero(type)), Ramp::make(0, 1, lanes), Parameter(),
                       const_true(lanes), {});
}

std::string text_of(const Stmt &s) {
    std::ostringstream text;
    text << s;
    return text.str();
}

bool is_masked(const Stmt &s) { return count(text_of(gyre::mask_tails(s, 32)), "row[ramp(first, 1, 16)] if (") == 1; }
bool is_left(const Stmt &s, int least_bits = 32) { return text_of(gyre::mask_tails(s, least_bits)) == text_of(s); }

const Expr bounded = Min::make(place, each(length - 1));

/// Stores elements of `bits` of these places.
Stmt stored(const Expr &index, int bits) {
    const Expr loaded = Load::make(UInt(bits, lanes), "row", index, {}, {}, const_true(lanes), {});
    return Store::make("to", loaded, Ramp::make(0, 1, lanes), Parameter(), const_true(lanes), {});
}
bool is_masked_from(int least_bits, const Expr &index, int bits) {
    return count(text_of(gyre::mask_bounded(stored(index, bits), least_bits)),
                 "1, 16)] if (ramp(first, 1, 16) <= x16(") == 1;
}

} // namespace

TEST_CASE("masked tails: places that a last one bounds, of elements that a target's masked loads take") {
    const Expr further = bounded + each(Variable::make(Int(32), "row_begin"));
    for (const Expr &index : {bounded, further}) {
        CHECK(is_masked_from(16, index, 16));
        CHECK(is_masked_from(16, index, 32));
        CHECK(!is_masked_from(32, index, 16));
    }
    CHECK(!is_masked_from(16, place, 16));
    CHECK(!is_masked_from(16, bounded * 2, 16));
    CHECK(!is_masked_from(16, Min::make(Ramp::make(first, 2, lanes), each(length)), 16));
    CHECK(!is_masked_from(16, Min::make(place, Ramp::make(length, 1, lanes)), 16));
}

TEST_CASE("masked tails: bounds of what is no load's place, and of places that are named before, stay") {
    const Expr places = Variable::make(Int(32, lanes), "places");
    for (const Expr &index : {places, places * 3}) {
        const Stmt named = LetStmt::make("places", bounded, stored(index, 16));
        CHECK(text_of(gyre::mask_bounded(named, 16)) == text_of(named));
    }
}

TEST_CASE("masked tails: the end of a row, as it is written and as Halide narrows it") {
    CHECK(is_masked(chosen(LT::make(place, each(length)), bounded)));
    const Expr left = saturating_cast(Int(16), saturating_sub(length, first));
    CHECK(is_masked(chosen(LT::make(cast(Int(16, lanes), Ramp::make(0, 1, lanes)), each(left)), bounded)));
}

TEST_CASE("masked tails: elements that a target's masked loads do not take are left as they are") {
    const Stmt of_32_bits = chosen(LT::make(place, each(length)), bounded);
    CHECK(is_left(of_32_bits, 64));
    CHECK(!is_left(of_32_bits, 32));
    CHECK(!is_left(of_32_bits, 8));
    CHECK(gyre::least_masked_bits(Target("x86-64-linux-avx2")) == 32);
    CHECK(gyre::least_masked_bits(Target("x86-64-linux-avx512_skylake")) == 8);
    CHECK(gyre::least_masked_bits(Target("x86-64-linux-sse41")) == 0);
    CHECK(gyre::least_masked_bits(Target("arm-64-linux")) == 0);
}

TEST_CASE("masked tails: other bounds, other lanes and other conditions are left as they are") {
    const Expr before_end = LT::make(place, each(length));
    CHECK(is_left(chosen(before_end, Min::make(place, each(length - 2)))));
    CHECK(is_left(chosen(before_end, Min::make(Ramp::make(first + 1, 1, lanes), each(length - 1)))));
    CHECK(is_left(chosen(before_end, Min::make(Ramp::make(first, 2, lanes), each(length - 1)))));
    CHECK(is_left(chosen(before_end, place)));
    CHECK(is_left(chosen(LE::make(place, each(length)), bounded)));
    CHECK(is_left(chosen(LT::make(Ramp::make(first, 2, lanes), each(length)), bounded)));
    const Expr of_other_row = saturating_cast(Int(16), saturating_sub(length, first + 1));
    CHECK(is_left(chosen(LT::make(cast(Int(16, lanes), Ramp::make(0, 1, lanes)), each(of_other_row)), bounded)));
}
