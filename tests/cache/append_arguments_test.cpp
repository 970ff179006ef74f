/// gyre_cache_append() refuses what it cannot do: by status, by the argument's name, and without writing.
#include "support/append_case.h"
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <deque>
#include <limits>

using namespace gyre::test;

namespace {

constexpr int64_t huge = std::numeric_limits<int64_t>::max();

AppendShape good_shape() { return AppendShape().adding({5}).to({3, 14}).dims(16, 12).room(64).of(GYRE_F32, GYRE_BF16); }
AppendShape packed_shape() { return good_shape().adding({2, 5}).in(GYRE_THD, GYRE_BHSD); }

/// A call that succeeds until it is spoilt: sequences with 3 and 14 keys, that room is for 64.
struct Append {
    AppendCase c;
    gyre_cache_append_args &args = c.args;
    std::deque<gyre_tensor> views;
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();

    explicit Append(const AppendShape &shape) : c(shape) { rotate(); }

    void rotate() {
        args.rope = &rope;
        args.value_rope = &value_rope;
    }
    /// A list of the arguments as a view that may be spoilt.
    gyre_tensor &change(const gyre_tensor *gyre_cache_append_args::*which) {
        views.push_back(*(args.*which));
        args.*which = &views.back();
        return views.back();
    }
    int32_t *numbers(const gyre_tensor *gyre_cache_append_args::*which) {
        return static_cast<int32_t *>((args.*which)->data);
    }
    gyre_tensor &positions(std::vector<int64_t> shape, gyre_dtype type = GYRE_I32) {
        Tensor tensor(type, std::move(shape));
        tensor.fill(1);
        args.positions = c.hold(std::move(tensor));
        return change(&gyre_cache_append_args::positions);
    }
    void tables(int64_t rows) {
        Tensor table(GYRE_F32, {rows, 8});
        table.fill(0.5);
        rope.cos = rope.sin = c.hold(std::move(table));
    }
};

using Args = gyre_cache_append_args;

void check_all_refused(const AppendShape &shape, const std::vector<Refusal<Append>> &refusals) {
    Append good(shape);
    CHECK_MESSAGE(good.c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    for (const Refusal<Append> &refusal : refusals) {
        Append call(shape);
        refusal.spoil(call);
        check_refused(refusal.what, call.c.run(nullptr), refusal.status, refusal.named);
        CHECK(call.c.k_cache.untouched());
        CHECK(call.c.v_cache.untouched());
    }
}

} // namespace

TEST_CASE("append refuses bad structures, tensors and types") {
    check_all_refused(
        good_shape(),
        {
            {"size 0", GYRE_BAD_ARGUMENT, "size", [](Append &a) { a.args.size = 0; }},
            {"size beyond", GYRE_BAD_ARGUMENT, "size", [](Append &a) { a.args.size = sizeof a.args + 8; }},
            {"layout", GYRE_BAD_ARGUMENT, "layout", [](Append &a) { a.args.layout = (gyre_layout)7; }},
            {"cache_layout", GYRE_BAD_ARGUMENT, "cache_layout",
             [](Append &a) { a.args.cache_layout = (gyre_layout)-1; }},
            {"packed cache", GYRE_BAD_ARGUMENT, "cache_layout", [](Append &a) { a.args.cache_layout = GYRE_THD; }},
            {"no k", GYRE_BAD_ARGUMENT, "k", [](Append &a) { a.args.k.data = nullptr; }},
            {"no v", GYRE_BAD_ARGUMENT, "v", [](Append &a) { a.args.v.data = nullptr; }},
            {"no k_cache", GYRE_BAD_ARGUMENT, "k_cache", [](Append &a) { a.args.k_cache.data = nullptr; }},
            {"no v_cache", GYRE_BAD_ARGUMENT, "v_cache", [](Append &a) { a.args.v_cache.data = nullptr; }},
            {"k's rank", GYRE_BAD_SHAPE, "k", [](Append &a) { a.args.k.rank = 3; }},
            {"k_cache's rank", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.rank = 3; }},
            {"v's tokens", GYRE_BAD_SHAPE, "v", [](Append &a) { a.args.v.shape[1] = 4; }},
            {"v's heads", GYRE_BAD_SHAPE, "v", [](Append &a) { a.args.v.shape[2] = 1; }},
            {"v's batch", GYRE_BAD_SHAPE, "v", [](Append &a) { a.args.v.shape[0] = 1; }},
            {"k_cache's heads", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.shape[2] = 1; }},
            {"k_cache's head_dim", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.shape[3] = 12; }},
            {"v_cache's head_dim", GYRE_BAD_SHAPE, "v_cache", [](Append &a) { a.args.v_cache.shape[3] = 8; }},
            {"k_cache's batch", GYRE_BAD_SHAPE, "k_cache",
             [](Append &a) { a.args.k_cache.shape[0] = a.args.v_cache.shape[0] = 1; }},
            {"v_cache's batch", GYRE_BAD_SHAPE, "v_cache", [](Append &a) { a.args.v_cache.shape[0] = 1; }},
            {"v_cache's capacity", GYRE_BAD_SHAPE, "v_cache", [](Append &a) { a.args.v_cache.shape[1] = 63; }},
            {"overflow", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.strides[0] = huge / 2; }},
            {"head_dim with gaps", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.strides[3] = 2; }},
            {"slots that share memory", GYRE_BAD_SHAPE, "k_cache", [](Append &a) { a.args.k_cache.strides[1] = 16; }},
            {"entries that share memory", GYRE_BAD_SHAPE, "v_cache", [](Append &a) { a.args.v_cache.strides[0] = 0; }},
            {"far heads", GYRE_UNSUPPORTED, "k_cache",
             [](Append &a) {
                 a.args.k_cache.strides[2] = int64_t{1} << 31;
                 a.args.k_cache.data = a.args.k.data;
             }},
            {"far tokens", GYRE_UNSUPPORTED, "v", [](Append &a) { a.args.v.strides[1] = -(int64_t{1} << 30); }},
            {"k i32", GYRE_BAD_TYPE, "k", [](Append &a) { a.args.k.dtype = GYRE_I32; }},
            {"v of another type", GYRE_BAD_TYPE, "v", [](Append &a) { a.args.v.dtype = GYRE_BF16; }},
            {"cache f64", GYRE_BAD_TYPE, "k_cache", [](Append &a) { a.args.k_cache.dtype = GYRE_F64; }},
            {"caches that differ", GYRE_BAD_TYPE, "v_cache", [](Append &a) { a.args.v_cache.dtype = GYRE_F16; }},
            {"bf16 into f16", GYRE_BAD_TYPE, "k_cache",
             [](Append &a) {
                 a.args.k.dtype = a.args.v.dtype = GYRE_BF16;
                 a.args.k_cache.dtype = GYRE_F16;
             }},
            {"f16 into f32", GYRE_BAD_TYPE, "k_cache",
             [](Append &a) {
                 a.args.k.dtype = a.args.v.dtype = GYRE_F16;
                 a.args.k_cache.dtype = GYRE_F32;
             }},
            {"k on CUDA", GYRE_UNSUPPORTED, "k", [](Append &a) { a.args.k.device = GYRE_CUDA; }},
            {"v_cache on CUDA", GYRE_UNSUPPORTED, "v_cache", [](Append &a) { a.args.v_cache.device = GYRE_CUDA; }},
            {"misaligned", GYRE_BAD_ARGUMENT, "v_cache",
             [](Append &a) { a.args.v_cache.data = (char *)a.args.v_cache.data + 1; }},
            {"k_cache is k", GYRE_BAD_ARGUMENT, "k_cache", [](Append &a) { a.args.k_cache.data = a.args.k.data; }},
            {"v_cache is k", GYRE_BAD_ARGUMENT, "v_cache", [](Append &a) { a.args.v_cache.data = a.args.k.data; }},
            {"k_cache is v", GYRE_BAD_ARGUMENT, "k_cache", [](Append &a) { a.args.k_cache.data = a.args.v.data; }},
            {"v_cache is k_cache", GYRE_BAD_ARGUMENT, "v_cache",
             [](Append &a) { a.args.v_cache.data = a.args.k_cache.data; }},
            {"workspace too small", GYRE_WORKSPACE_TOO_SMALL, "workspace_size",
             [](Append &a) {
                 a.args.workspace = &a.views;
                 a.args.workspace_size = 8;
             }},
            {"workspace without memory", GYRE_BAD_ARGUMENT, "workspace",
             [](Append &a) { a.args.workspace_size = 1 << 20; }},
        });
}

TEST_CASE("append refuses lengths that do not fit, and ropes and positions that make no sense") {
    check_all_refused(
        good_shape(),
        {
            {"lengths' rank", GYRE_BAD_SHAPE, "cache_seqlens",
             [](Append &a) { a.change(&Args::cache_seqlens).rank = 2; }},
            {"lengths' type", GYRE_BAD_TYPE, "cache_seqlens",
             [](Append &a) { a.change(&Args::cache_seqlens).dtype = GYRE_I64; }},
            {"lengths' count", GYRE_BAD_SHAPE, "cache_seqlens",
             [](Append &a) { a.change(&Args::cache_seqlens).shape[0] = 1; }},
            {"lengths with gaps", GYRE_BAD_SHAPE, "cache_seqlens",
             [](Append &a) { a.change(&Args::cache_seqlens).strides[0] = 2; }},
            {"no lengths", GYRE_BAD_ARGUMENT, "cache_seqlens",
             [](Append &a) { a.change(&Args::cache_seqlens).data = nullptr; }},
            {"a negative length", GYRE_BAD_ARGUMENT, "cache_seqlens",
             [](Append &a) { a.numbers(&Args::cache_seqlens)[1] = -1; }},
            {"one token too many", GYRE_BAD_ARGUMENT, "cache_seqlens",
             [](Append &a) { a.numbers(&Args::cache_seqlens)[1] = 60; }},
            {"the longest length", GYRE_BAD_ARGUMENT, "cache_seqlens",
             [](Append &a) { a.numbers(&Args::cache_seqlens)[0] = std::numeric_limits<int32_t>::max(); }},
            {"too many tokens for an empty cache", GYRE_BAD_ARGUMENT, "k",
             [](Append &a) {
                 a.args.cache_seqlens = nullptr;
                 a.args.k_cache.shape[1] = a.args.v_cache.shape[1] = 4;
             }},
            {"cu_seqlens_k", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Append &a) { a.args.cu_seqlens_k = a.args.cache_seqlens; }},
            {"rope", GYRE_BAD_SHAPE, "rope.rotary_dim", [](Append &a) { a.rope.rotary_dim = 18; }},
            {"value_rope", GYRE_BAD_SHAPE, "value_rope.rotary_dim", [](Append &a) { a.value_rope.rotary_dim = 14; }},
            {"rope's size", GYRE_BAD_ARGUMENT, "rope.size", [](Append &a) { a.rope.size = 3; }},
            {"axes that differ", GYRE_BAD_ARGUMENT, "value_rope.axes",
             [](Append &a) {
                 a.rope.axes = 2;
                 a.rope.sections[0] = 8;
             }},
            {"positions without ropes", GYRE_BAD_ARGUMENT, "positions",
             [](Append &a) {
                 a.positions({5});
                 a.args.rope = a.args.value_rope = nullptr;
             }},
            {"positions' shape", GYRE_BAD_SHAPE, "positions", [](Append &a) { a.positions({2, 4}); }},
            {"positions' type", GYRE_BAD_TYPE, "positions", [](Append &a) { a.positions({5}, GYRE_F32); }},
            {"a negative position", GYRE_BAD_ARGUMENT, "positions",
             [](Append &a) {
                 a.positions({2, 5});
                 a.numbers(&Args::positions)[7] = -1;
             }},
            {"a position without a row", GYRE_BAD_ARGUMENT, "positions",
             [](Append &a) {
                 a.positions({2, 5});
                 a.tables(1);
             }},
            {"a slot without a row", GYRE_BAD_ARGUMENT, "positions", [](Append &a) { a.tables(18); }},
        });
    Append enough(good_shape());
    enough.tables(19);
    CHECK_MESSAGE(enough.c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
}

TEST_CASE("append refuses bad page tables, and pages that two tokens would share a slot of") {
    const auto page = [](int64_t sequence, int64_t n, int32_t value) {
        return [=](Append &a) { a.numbers(&Args::page_table)[sequence * 4 + n] = value; };
    };
    check_all_refused(
        good_shape().paged(16),
        {
            {"a page that is not there", GYRE_BAD_ARGUMENT, "page_table", page(0, 0, 9)},
            {"a negative page", GYRE_BAD_ARGUMENT, "page_table", page(1, 1, -1)},
            {"rank", GYRE_BAD_SHAPE, "page_table", [](Append &a) { a.change(&Args::page_table).rank = 1; }},
            {"type", GYRE_BAD_TYPE, "page_table", [](Append &a) { a.change(&Args::page_table).dtype = GYRE_F32; }},
            {"batch", GYRE_BAD_SHAPE, "page_table", [](Append &a) { a.change(&Args::page_table).shape[0] = 1; }},
            {"no data", GYRE_BAD_ARGUMENT, "page_table", [](Append &a) { a.change(&Args::page_table).data = nullptr; }},
            {"gaps", GYRE_BAD_SHAPE, "page_table", [](Append &a) { a.change(&Args::page_table).strides[1] = 2; }},
            {"fewer pages than keys", GYRE_BAD_ARGUMENT, "cache_seqlens",
             [](Append &a) { a.change(&Args::page_table).shape[1] = 1; }},
            {"page size", GYRE_BAD_SHAPE, "k_cache page_size",
             [](Append &a) { a.args.k_cache.shape[1] = a.args.v_cache.shape[1] = 12; }},
            {"page size 0", GYRE_BAD_SHAPE, "k_cache page_size",
             [](Append &a) { a.args.k_cache.shape[1] = a.args.v_cache.shape[1] = 0; }},
            {"pools that differ", GYRE_BAD_SHAPE, "v_cache", [](Append &a) { a.args.v_cache.shape[0]--; }},
            {"one row for all", GYRE_BAD_ARGUMENT, "page_table",
             [](Append &a) {
                 a.args.cache_seqlens = nullptr;
                 a.change(&Args::page_table).strides[0] = 0;
             }},
            {"a page twice", GYRE_BAD_ARGUMENT, "page_table",
             [](Append &a) {
                 a.numbers(&Args::cache_seqlens)[0] = 12; // slots 12 .. 15 and 0, beside 14, 15 and 0 .. 2
                 a.numbers(&Args::page_table)[1] = a.numbers(&Args::page_table)[0];
                 a.numbers(&Args::page_table)[4] = a.numbers(&Args::page_table)[0];
             }},
        });
    // A sequence that comes back to a slot of its own.
    Append circle(good_shape().adding({17}).to({0}).paged(16));
    circle.numbers(&Args::page_table)[1] = circle.numbers(&Args::page_table)[0];
    check_refused("circle", circle.c.run(nullptr), GYRE_BAD_ARGUMENT, "page_table");
    CHECK(circle.c.k_cache.untouched());
}

TEST_CASE("append refuses bad lists of packed sequences") {
    check_all_refused(
        packed_shape(),
        {
            {"none", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Append &a) { a.args.cu_seqlens_k = nullptr; }},
            {"type", GYRE_BAD_TYPE, "cu_seqlens_k", [](Append &a) { a.change(&Args::cu_seqlens_k).dtype = GYRE_I64; }},
            {"empty", GYRE_BAD_SHAPE, "cu_seqlens_k", [](Append &a) { a.change(&Args::cu_seqlens_k).shape[0] = 0; }},
            {"one sequence", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Append &a) { a.change(&Args::cu_seqlens_k).shape[0] = 2; }},
            {"first", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Append &a) { a.numbers(&Args::cu_seqlens_k)[0] = 1; }},
            {"falling", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Append &a) { a.numbers(&Args::cu_seqlens_k)[1] = 8; }},
            {"last", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Append &a) { a.numbers(&Args::cu_seqlens_k)[2] = 6; }},
            {"no room", GYRE_BAD_ARGUMENT, "cache_seqlens", [](Append &a) { a.numbers(&Args::cache_seqlens)[1] = 60; }},
            {"bshd", GYRE_BAD_SHAPE, "k", [](Append &a) { a.args.layout = GYRE_BSHD; }},
            {"positions", GYRE_BAD_SHAPE, "positions", [](Append &a) { a.positions({2, 5}); }},
        });
}

TEST_CASE("append refuses null structures, and its size query does too") {
    Append call(good_shape());
    size_t bytes = 12345;
    check_refused("args NULL", gyre_cache_append(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
    check_refused("args NULL", gyre_cache_append_workspace_size(nullptr, nullptr, &bytes), GYRE_BAD_ARGUMENT, "args");
    check_refused("bytes NULL", gyre_cache_append_workspace_size(nullptr, &call.args, nullptr), GYRE_BAD_ARGUMENT,
                  "bytes");
    call.rope.rotary_dim = 3;
    check_refused("odd", gyre_cache_append_workspace_size(nullptr, &call.args, &bytes), GYRE_BAD_SHAPE, "rotary_dim");
    CHECK(bytes == 12345);
}

TEST_CASE("an append workspace one byte too small is refused") {
    for (const int64_t page_size : {0, 1}) {
        Append call(good_shape().paged(page_size));
        size_t bytes = 0;
        REQUIRE(gyre_cache_append_workspace_size(nullptr, &call.args, &bytes) == GYRE_OK);
        Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
        workspace.poison();
        call.args.workspace = workspace.view().data;
        call.args.workspace_size = bytes - 1;
        check_refused("small", call.c.run(nullptr), GYRE_WORKSPACE_TOO_SMALL, "workspace_size");
        CHECK(call.c.k_cache.untouched());
        CHECK(workspace.untouched());
    }
}
