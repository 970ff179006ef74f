/// gyre_rotary() refuses what it cannot do: by status, by the argument's name, and without writing.
#include "support/rotary_refusals.h"

#include <limits>

using namespace gyre::test;

namespace {

constexpr int64_t huge = std::numeric_limits<int64_t>::max();

} // namespace

TEST_CASE("the call that rotary refusals start from is accepted, with positions, tables and axes") {
    RotaryCall plain, positions, tables, axes;
    positions.positions();
    tables.tables({41, 8});
    axes.axes(2, 5, 3);
    for (RotaryCall *call : {&plain, &positions, &tables, &axes})
        CHECK_MESSAGE(gyre_rotary(nullptr, &call->c.args) == GYRE_OK, text(gyre_last_error()));
}

TEST_CASE("rotary refuses bad structures and tensors") {
    check_all_refused({
        {"size 0", GYRE_BAD_ARGUMENT, "size", [](RotaryCall &k) { k.c.args.size = 0; }},
        {"size beyond", GYRE_BAD_ARGUMENT, "size", [](RotaryCall &k) { k.c.args.size = sizeof k.c.args + 8; }},
        {"reverse", GYRE_BAD_ARGUMENT, "reverse", [](RotaryCall &k) { k.c.args.reverse = 2; }},
        {"layout", GYRE_BAD_ARGUMENT, "layout", [](RotaryCall &k) { k.c.args.layout = (gyre_layout)7; }},
        {"x NULL", GYRE_BAD_ARGUMENT, "x", [](RotaryCall &k) { k.c.args.x.data = nullptr; }},
        {"out NULL", GYRE_BAD_ARGUMENT, "out", [](RotaryCall &k) { k.c.args.out.data = nullptr; }},
        {"x rank 3", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.rank = 3; }},
        {"x rank 0", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.rank = 0; }},
        {"x rank -1", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.rank = -1; }},
        {"x rank 5", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.rank = 5; }},
        {"out rank 3", GYRE_BAD_SHAPE, "out", [](RotaryCall &k) { k.c.args.out.rank = 3; }},
        {"thd of rank 4", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.layout = GYRE_THD; }},
        {"out shape", GYRE_BAD_SHAPE, "out", [](RotaryCall &k) { k.c.args.out.shape[1] = 4; }},
        {"x negative", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.shape[0] = k.c.args.out.shape[0] = -2; }},
        {"x overflows", GYRE_BAD_SHAPE, "x",
         [](RotaryCall &k) { k.c.args.x.shape[0] = k.c.args.x.shape[1] = k.c.args.x.shape[2] = int64_t{1} << 40; }},
        {"x extent is the largest", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.shape[0] = huge; }},
        {"x strides overflow", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.strides[0] = huge; }},
        {"x strides overflow below", GYRE_BAD_SHAPE, "x",
         [](RotaryCall &k) { k.c.args.x.strides[1] = std::numeric_limits<int64_t>::min(); }},
        {"out strides overflow", GYRE_BAD_SHAPE, "out", [](RotaryCall &k) { k.c.args.out.strides[2] = huge / 2; }},
        {"x gaps", GYRE_BAD_SHAPE, "x", [](RotaryCall &k) { k.c.args.x.strides[3] = 2; }},
        {"out gaps", GYRE_BAD_SHAPE, "out", [](RotaryCall &k) { k.c.args.out.strides[3] = 2; }},
        {"x f64", GYRE_BAD_TYPE, "x", [](RotaryCall &k) { k.c.args.x.dtype = GYRE_F64; }},
        {"x i32", GYRE_BAD_TYPE, "x", [](RotaryCall &k) { k.c.args.x.dtype = GYRE_I32; }},
        {"x unknown type", GYRE_BAD_TYPE, "x", [](RotaryCall &k) { k.c.args.x.dtype = (gyre_dtype)99; }},
        {"out type", GYRE_BAD_TYPE, "out", [](RotaryCall &k) { k.c.args.out.dtype = GYRE_F16; }},
        {"x on CUDA", GYRE_UNSUPPORTED, "x", [](RotaryCall &k) { k.c.args.x.device = GYRE_CUDA; }},
        {"out on CUDA", GYRE_UNSUPPORTED, "out", [](RotaryCall &k) { k.c.args.out.device = GYRE_CUDA; }},
        {"x nowhere", GYRE_BAD_ARGUMENT, "x", [](RotaryCall &k) { k.c.args.x.device = (gyre_device)77; }},
        {"x misaligned", GYRE_BAD_ARGUMENT, "x", [](RotaryCall &k) { k.c.args.x.data = (char *)k.c.args.x.data + 1; }},
        {"out one element on", GYRE_BAD_ARGUMENT, "out",
         [](RotaryCall &k) { k.c.args.out.data = (float *)k.c.args.x.data + 1; }},
        {"out one token back", GYRE_BAD_ARGUMENT, "out",
         [](RotaryCall &k) { k.c.args.out.data = (float *)k.c.args.x.data - 48; }},
        {"out in place in another order", GYRE_BAD_ARGUMENT, "out",
         [](RotaryCall &k) {
             k.c.args.out = k.c.args.x;
             k.c.args.out.strides[1] = 16;
             k.c.args.out.strides[2] = 80;
         }},
        {"workspace too small", GYRE_WORKSPACE_TOO_SMALL, "workspace_size",
         [](RotaryCall &k) {
             k.c.args.workspace = k.inv_freq.data();
             k.c.args.workspace_size = 8;
         }},
        {"workspace without memory", GYRE_BAD_ARGUMENT, "workspace",
         [](RotaryCall &k) { k.c.args.workspace_size = 1 << 20; }},
    });
}

TEST_CASE("rotary refuses null structures, and its size query does too") {
    RotaryCall call;
    size_t bytes = 12345;
    check_refused("args NULL", gyre_rotary(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
    check_refused("args NULL", gyre_rotary_workspace_size(nullptr, nullptr, &bytes), GYRE_BAD_ARGUMENT, "args");
    check_refused("bytes NULL", gyre_rotary_workspace_size(nullptr, &call.c.args, nullptr), GYRE_BAD_ARGUMENT, "bytes");
    call.c.args.rope.rotary_dim = 3;
    check_refused("odd", gyre_rotary_workspace_size(nullptr, &call.c.args, &bytes), GYRE_BAD_SHAPE, "rotary_dim");
    CHECK(bytes == 12345);
}

TEST_CASE("a rotary workspace one byte too small is refused") {
    RotaryCall call;
    size_t bytes = 0;
    REQUIRE(gyre_rotary_workspace_size(nullptr, &call.c.args, &bytes) == GYRE_OK);
    Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
    workspace.poison();
    call.c.args.workspace = workspace.view().data;
    call.c.args.workspace_size = bytes - 1;
    call.c.out.poison();
    check_refused("small", gyre_rotary(nullptr, &call.c.args), GYRE_WORKSPACE_TOO_SMALL, "workspace_size");
    CHECK(call.c.out.untouched());
    CHECK(workspace.untouched());
}
