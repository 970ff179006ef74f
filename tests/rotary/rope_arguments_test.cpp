/// Ropes and positions that gyre_rotary() refuses: by status, by the argument's name, and without writing.
#include "support/rotary_refusals.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = NAN;
constexpr int64_t huge = std::numeric_limits<int64_t>::max();

} // namespace

TEST_CASE("rotary refuses bad ropes") {
    check_all_refused({
        {"rope size", GYRE_BAD_ARGUMENT, "size", [](RotaryCall &k) { k.c.args.rope.size = 3; }},
        {"pairing", GYRE_BAD_ARGUMENT, "pairing", [](RotaryCall &k) { k.c.args.rope.pairing = (gyre_pairing)2; }},
        {"odd rotary_dim", GYRE_BAD_SHAPE, "rotary_dim", [](RotaryCall &k) { k.c.args.rope.rotary_dim = 7; }},
        {"negative rotary_dim", GYRE_BAD_SHAPE, "rotary_dim", [](RotaryCall &k) { k.c.args.rope.rotary_dim = -2; }},
        {"rotary_dim beyond", GYRE_BAD_SHAPE, "rotary_dim", [](RotaryCall &k) { k.c.args.rope.rotary_dim = 18; }},
        {"window beyond", GYRE_BAD_SHAPE, "rotary_dim",
         [](RotaryCall &k) {
             k.c.args.rope.rotary_dim = 12;
             k.c.args.rope.rotary_offset = 6;
         }},
        {"offset", GYRE_BAD_SHAPE, "rotary_offset", [](RotaryCall &k) { k.c.args.rope.rotary_offset = -1; }},
        {"offset beyond", GYRE_BAD_SHAPE, "rotary_offset",
         [](RotaryCall &k) {
             k.c.args.rope.rotary_dim = 2;
             k.c.args.rope.rotary_offset = std::numeric_limits<int32_t>::max();
         }},
        {"odd head", GYRE_BAD_SHAPE, "rotary_dim the 15 features",
         [](RotaryCall &k) { k.c.args.x.shape[3] = k.c.args.out.shape[3] = 15; }},
        {"theta NaN", GYRE_BAD_ARGUMENT, "theta", [](RotaryCall &k) { k.c.args.rope.theta = not_a_number; }},
        {"theta infinite", GYRE_BAD_ARGUMENT, "theta", [](RotaryCall &k) { k.c.args.rope.theta = infinity; }},
        {"theta negative", GYRE_BAD_ARGUMENT, "theta", [](RotaryCall &k) { k.c.args.rope.theta = -10000; }},
        {"base", GYRE_BAD_ARGUMENT, "frequency_base",
         [](RotaryCall &k) { k.c.args.rope.frequency_base = (gyre_frequency_base)9; }},
        {"base beside frequencies", GYRE_BAD_ARGUMENT, "frequency_base",
         [](RotaryCall &k) {
             k.c.args.rope.inv_freq = k.inv_freq.data();
             k.c.args.rope.frequency_base = (gyre_frequency_base)-1;
         }},
        {"order without sections", GYRE_BAD_ARGUMENT, "section_order",
         [](RotaryCall &k) { k.c.args.rope.section_order = (gyre_section_order)2; }},
        {"factor NaN", GYRE_BAD_ARGUMENT, "attention_factor",
         [](RotaryCall &k) { k.c.args.rope.attention_factor = not_a_number; }},
        {"factor 0", GYRE_BAD_ARGUMENT, "attention_factor", [](RotaryCall &k) { k.c.args.rope.attention_factor = 0; }},
        {"inv_freq", GYRE_BAD_ARGUMENT, "inv_freq",
         [](RotaryCall &k) {
             k.inv_freq[7] = not_a_number;
             k.c.args.rope.inv_freq = k.inv_freq.data();
         }},
        {"cos alone", GYRE_BAD_ARGUMENT, "sin", [](RotaryCall &k) { k.table(&gyre_rope::cos, {41, 8}); }},
        {"sin alone", GYRE_BAD_ARGUMENT, "cos", [](RotaryCall &k) { k.table(&gyre_rope::sin, {41, 8}); }},
        {"narrow tables", GYRE_BAD_SHAPE, "cos", [](RotaryCall &k) { k.tables({41, 7}); }},
        {"tables of two lengths", GYRE_BAD_SHAPE, "sin",
         [](RotaryCall &k) {
             k.table(&gyre_rope::cos, {41, 8});
             k.table(&gyre_rope::sin, {40, 8});
         }},
        {"tables of two kinds", GYRE_BAD_SHAPE, "sin",
         [](RotaryCall &k) {
             k.table(&gyre_rope::cos, {41, 8});
             k.table(&gyre_rope::sin, {2, 5, 8});
         }},
        {"table rank", GYRE_BAD_SHAPE, "cos", [](RotaryCall &k) { k.tables({8}); }},
        {"table type", GYRE_BAD_TYPE, "cos",
         [](RotaryCall &k) {
             k.table(&gyre_rope::cos, {41, 8}, GYRE_I32);
             k.table(&gyre_rope::sin, {41, 8});
         }},
        {"table NULL", GYRE_BAD_ARGUMENT, "cos",
         [](RotaryCall &k) {
             k.table(&gyre_rope::sin, {41, 8});
             k.table(&gyre_rope::cos, {41, 8}).data = nullptr;
         }},
        {"per-token tables of other tokens", GYRE_BAD_SHAPE, "cos", [](RotaryCall &k) { k.tables({2, 4, 8}); }},
        {"axes", GYRE_BAD_ARGUMENT, "axes", [](RotaryCall &k) { k.c.args.rope.axes = 5; }},
        {"negative axes", GYRE_BAD_ARGUMENT, "axes", [](RotaryCall &k) { k.c.args.rope.axes = -1; }},
        {"sections", GYRE_BAD_ARGUMENT, "sections", [](RotaryCall &k) { k.axes(2, 5, 2); }},
        {"negative section", GYRE_BAD_ARGUMENT, "sections", [](RotaryCall &k) { k.axes(2, 10, -2); }},
        {"order", GYRE_BAD_ARGUMENT, "section_order",
         [](RotaryCall &k) {
             k.axes(2, 5, 3);
             k.c.args.rope.section_order = (gyre_section_order)3;
         }},
    });
}

TEST_CASE("rotary refuses bad positions") {
    check_all_refused({
        {"negative offset", GYRE_BAD_ARGUMENT, "position_offset", [](RotaryCall &k) { k.c.args.position_offset = -1; }},
        {"offset too large", GYRE_BAD_ARGUMENT, "position_offset",
         [](RotaryCall &k) { k.c.args.position_offset = (int64_t{1} << 31) - 4; }},
        {"offset overflows", GYRE_BAD_ARGUMENT, "position_offset",
         [](RotaryCall &k) { k.c.args.position_offset = huge - 1; }},
        {"offset beyond the table", GYRE_BAD_ARGUMENT, "position_offset",
         [](RotaryCall &k) {
             k.tables({41, 8});
             k.c.args.position_offset = 37;
         }},
        {"position -1", GYRE_BAD_ARGUMENT, "positions", [](RotaryCall &k) { ((int64_t *)k.positions().data)[9] = -1; }},
        {"int32 position -1", GYRE_BAD_ARGUMENT, "positions",
         [](RotaryCall &k) { ((int32_t *)k.positions(GYRE_I32).data)[0] = -1; }},
        {"position 2^31", GYRE_BAD_ARGUMENT, "positions",
         [](RotaryCall &k) { ((int64_t *)k.positions().data)[3] = int64_t{1} << 31; }},
        {"position beyond the table", GYRE_BAD_ARGUMENT, "positions",
         [](RotaryCall &k) {
             k.tables({41, 8});
             ((int64_t *)k.positions().data)[4] = 41;
         }},
        {"offset beside positions", GYRE_BAD_ARGUMENT, "position_offset",
         [](RotaryCall &k) {
             k.positions();
             k.c.args.position_offset = 1;
         }},
        {"type", GYRE_BAD_TYPE, "positions", [](RotaryCall &k) { k.positions().dtype = GYRE_F64; }},
        {"NULL", GYRE_BAD_ARGUMENT, "positions", [](RotaryCall &k) { k.positions().data = nullptr; }},
        {"other tokens", GYRE_BAD_SHAPE, "positions", [](RotaryCall &k) { k.positions().shape[1] = 4; }},
        {"other batch", GYRE_BAD_SHAPE, "positions", [](RotaryCall &k) { k.positions().shape[0] = 1; }},
        {"rank", GYRE_BAD_SHAPE, "positions", [](RotaryCall &k) { k.positions().rank = 4; }},
        {"on CUDA", GYRE_UNSUPPORTED, "positions", [](RotaryCall &k) { k.positions().device = GYRE_CUDA; }},
        {"too few axes", GYRE_BAD_SHAPE, "positions",
         [](RotaryCall &k) {
             k.axes(3, 3, 3);
             k.c.args.rope.sections[2] = 2;
             k.positions();
         }},
    });
}
