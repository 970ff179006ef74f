/// passes/instructions/tile_products.h, tile_nest.h, tile_sequence.h and interleave.h: products on matrix tiles, and their order among other work.
#include "pass_generator.h"
#include "passes/instructions/tile_nest.h"
#include "passes/instructions/tile_products.h"
#include "passes/instructions/tile_sequence.h"
#include "passes/order/interleave.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

using gyre::tile_column_loop, gyre::tile_columns, gyre::tile_depth, gyre::tile_depth_loop, gyre::tile_row_loop,
    gyre::tile_rows;

struct Product {
    int depth = tile_depth;      // turns of the innermost loop
    bool pairs = true;           // b's neighbours along the depth stand in one word
    float first = 0;             // what the sums begin with
    bool used_elsewhere = false; // the sums, by vector work
    const char *row = tile_row_loop;
};

/// out = a b, for 16 x 32 numbers of bf16 and 32 x 16.
PassGenerator product(ImageParam &a, ImageParam &b, const Product &p) {
    return PassGenerator([&a, &b, p](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"}, row{p.row}, column{tile_column_loop};
        RDom term(0, p.depth, tile_depth_loop);
        Func sums{"sums"}, stored{"stored"};
        b.dim(1).set_stride(tile_columns);
        const auto widened = [](const Expr &bits) { return reinterpret<float>(cast<uint32_t>(bits) << 16); };
        const Expr word = b(column, term / 2) >> cast<uint32_t>(16 * (term % 2));
        const Expr of_b =
            p.pairs ? reinterpret<float>((word & Expr(0xffffu)) << 16) : widened(cast<uint16_t>(b(column, term)));
        sums(column, row) = p.first;
        sums(column, row) += widened(a(term, row)) * of_b;
        stored(column, row) = sums(column, row);
        out(x) = stored(x % tile_columns, x / tile_columns) + (p.used_elsewhere ? Expr(sums(0, 0)) : Expr(0.0f));
        out.bound(x, 0, tile_rows * tile_columns);
        for (Func *f : {&sums, &stored}) f->bound(column, 0, tile_columns).bound(row, 0, tile_rows).compute_root();
        sums.update().reorder(term, column, row);
        gyre::map_tile_products(generator);
    });
}

Internal::Stmt matmul(const std::string &accumulator, const char *a, const char *b) {
    using namespace Halide::Internal;
    const Type type = Float(32, 256);
    const Expr whole = Ramp::make(0, 1, 256), all = const_true(256);
    const auto operand = [](const char *buffer) {
        return Call::make(BFloat(16, 512), "tile_load", {16, 64, Variable::make(Handle(), buffer), 0, 64},
                          Call::Intrinsic);
    };
    const Expr held = Load::make(type, accumulator, whole, {}, {}, all, {});
    return Store::make(accumulator,
                       Call::make(type, "tile_matmul", {16, 64, 64, held, operand(a), operand(b)}, Call::Intrinsic),
                       whole, Parameter(), all, {});
}

Internal::Stmt store_to(const std::string &name, const Expr &place) {
    return Internal::Store::make(name, 1.0f, place, Parameter(), Internal::const_true(), {});
}

std::string text_of(const Internal::Stmt &s) {
    std::ostringstream text;
    text << s;
    return text.str();
}

} // namespace

TEST_CASE("tiles: zero, product and store become an instruction each, and no loop is left") {
    ImageParam a(UInt(16), 2, "a"), b(UInt(32), 2, "b");
    const std::string lowered = product(a, b, {}).lowered();
    CAPTURE(lowered);
    for (const char *instruction : {"tile_zero(", "tile_matmul(", "tile_store("})
        CHECK(count(lowered, instruction) == 1);
    CHECK(count(lowered, "tile_load(") == 2);
    CHECK(count(lowered, "in AMXTile") == 1);
    for (const char *loop : {tile_row_loop, tile_column_loop, tile_depth_loop}) CHECK(count(lowered, loop) == 0);
}

TEST_CASE("tiles: what is none of these instructions is refused") {
    ImageParam a(UInt(16), 2, "a"), b(UInt(32), 2, "b");
    const auto changed = [](const auto &change) {
        Product p;
        change(p);
        return p;
    };
    const std::pair<Product, const char *> refused[] = {
        {changed([](Product &p) { p.depth = 16; }), "has too many or too few turns"},
        {changed([](Product &p) { p.pairs = false; }), "has an operand"},
        {changed([](Product &p) { p.first = 1; }), "sets an accumulator to something else than 0"},
        {changed([](Product &p) { p.row = "another"; }), "has no loop tile_row"},
        {changed([](Product &p) { p.used_elsewhere = true; }), "is kept in tiles and used outside of tile products"}};
    for (const auto &[p, said] : refused) {
        const std::string stopped = refusal([&] { product(a, b, p).lowered(); });
        CAPTURE(stopped);
        CHECK(stopped.find(said) != std::string::npos);
    }
}

TEST_CASE("tiles: products in a row load an operand that they share once, until another statement comes between") {
    gyre::TileSequence in_a_row(gyre::TileSequence::Shared::in_a_row);
    in_a_row.add(matmul("c0", "a", "b0"));
    in_a_row.add(matmul("c1", "a", "b1"));
    in_a_row.add(matmul("c2", "a", "b0"));
    CHECK(count(text_of(in_a_row.statement()), "tile_load(") == 3);
    in_a_row.add(store_to("x", 0));
    in_a_row.add(matmul("c3", "a", "b0"));
    CHECK(count(text_of(in_a_row.statement()), "tile_load(") == 5);

    gyre::TileSequence with_last(gyre::TileSequence::Shared::with_last);
    with_last.add(matmul("c0", "a", "b0"));
    with_last.add(store_to("x", 0));
    with_last.add(matmul("c1", "a", "b1"));
    CHECK(count(text_of(with_last.statement()), "tile_load(") == 3);
    with_last.add(matmul("c2", "a2", "b0")); // which the last one has not
    CHECK(count(text_of(with_last.statement()), "tile_load(") == 5);
}

TEST_CASE("interleaved: vector work stands between products, unrolled, and all of it is there") {
    using namespace Halide::Internal;
    const Expr turn = Variable::make(Int(32), "turn");
    const Stmt products = Block::make({matmul("c0", "a0", "b0"), matmul("c1", "a1", "b1")});
    const Stmt vectors =
        For::make("turn", 0, 4, ForType::Serial, Partition::Auto, DeviceAPI::None, store_to("x", turn));
    const std::string text = text_of(gyre::interleave({products, vectors}));
    CAPTURE(text);
    CHECK(count(text, "for (") == 0);
    CHECK(count(text, "tile_matmul(") == 2);
    size_t at = text.find("tile_matmul(");
    const size_t second = text.find("tile_matmul(", at + 1);
    for (const int place : {0, 1, 2, 3}) {
        const std::string store = "x[" + std::to_string(place) + "] = ";
        CHECK(count(text, store) == 1);
        const size_t found = text.find(store);
        CHECK(found > at);
        CHECK((found < second) == (place < 2)); // half of them after each product
    }
}
