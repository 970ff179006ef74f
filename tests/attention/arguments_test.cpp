/// gyre_attention() refuses what it cannot do: by status, by the argument's name, and without writing.
#include "support/attention_refusals.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

using Args = gyre_attention_args;
using Call = AttentionCall;

constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = NAN;
constexpr int64_t huge = std::numeric_limits<int64_t>::max();

} // namespace

TEST_CASE("the calls that attention refusals start from are accepted") {
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD}) {
        Call plain(layout), rotated(layout), tables(layout);
        rotated.rotate();
        rotated.rotate_values();
        tables.tables(7);
        for (Call *call : {&plain, &rotated, &tables})
            CHECK_MESSAGE(call->c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    }
    Call general;
    general.give(&Args::bias, GYRE_F16, {5, 7});
    general.give(&Args::mask, GYRE_BOOL, {2, 1, 1, 7});
    general.give(&Args::sinks, GYRE_F32, {4});
    general.give(&Args::alibi, GYRE_F32, {4});
    general.list(&Args::seqused_k, {7, 5});
    CHECK_MESSAGE(general.c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
}

TEST_CASE("attention refuses bad structures, tensors and shapes") {
    check_all_refused(
        GYRE_BSHD,
        {
            {"size 0", GYRE_BAD_ARGUMENT, "size", [](Call &k) { k.c.args.size = 0; }},
            {"size beyond", GYRE_BAD_ARGUMENT, "size", [](Call &k) { k.c.args.size = sizeof k.c.args + 8; }},
            {"layout", GYRE_BAD_ARGUMENT, "layout", [](Call &k) { k.c.args.layout = (gyre_layout)-1; }},
            {"q NULL", GYRE_BAD_ARGUMENT, "q", [](Call &k) { k.c.args.q.data = nullptr; }},
            {"k NULL", GYRE_BAD_ARGUMENT, "k", [](Call &k) { k.c.args.k.data = nullptr; }},
            {"v NULL", GYRE_BAD_ARGUMENT, "v", [](Call &k) { k.c.args.v.data = nullptr; }},
            {"out NULL", GYRE_BAD_ARGUMENT, "out", [](Call &k) { k.c.args.out.data = nullptr; }},
            {"q rank", GYRE_BAD_SHAPE, "q", [](Call &k) { k.c.args.q.rank = 3; }},
            {"k rank", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.rank = 5; }},
            {"v rank", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.rank = 0; }},
            {"out rank", GYRE_BAD_SHAPE, "out", [](Call &k) { k.c.args.out.rank = -4; }},
            {"q type", GYRE_BAD_TYPE, "q", [](Call &k) { k.c.args.q.dtype = GYRE_F64; }},
            {"k type", GYRE_BAD_TYPE, "k", [](Call &k) { k.c.args.k.dtype = GYRE_I32; }},
            {"v type", GYRE_BAD_TYPE, "v", [](Call &k) { k.c.args.v.dtype = (gyre_dtype)-7; }},
            {"out type", GYRE_BAD_TYPE, "out", [](Call &k) { k.c.args.out.dtype = GYRE_BF16; }},
            {"q gaps", GYRE_BAD_SHAPE, "q", [](Call &k) { k.c.args.q.strides[3] = 2; }},
            {"k gaps", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.strides[3] = 0; }},
            {"v gaps", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.strides[3] = -1; }},
            {"out gaps", GYRE_BAD_SHAPE, "out", [](Call &k) { k.c.args.out.strides[3] = 4; }},
            {"q on CUDA", GYRE_UNSUPPORTED, "q", [](Call &k) { k.c.args.q.device = GYRE_CUDA; }},
            {"k on CUDA", GYRE_UNSUPPORTED, "k", [](Call &k) { k.c.args.k.device = GYRE_CUDA; }},
            {"v nowhere", GYRE_BAD_ARGUMENT, "v", [](Call &k) { k.c.args.v.device = (gyre_device)0; }},
            {"q misaligned", GYRE_BAD_ARGUMENT, "q", [](Call &k) { k.c.args.q.data = (char *)k.c.args.q.data + 2; }},
            {"q negative", GYRE_BAD_SHAPE, "q", [](Call &k) { k.c.args.q.shape[1] = -5; }},
            {"k overflows", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.shape[1] = huge; }},
            {"v strides overflow", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.strides[1] = huge / 3; }},
            {"out strides overflow", GYRE_BAD_SHAPE, "out",
             [](Call &k) { k.c.args.out.strides[0] = std::numeric_limits<int64_t>::min(); }},
            {"k batch", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.shape[0] = 1; }},
            {"k head_dim", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.shape[3] = 8; }},
            {"v tokens", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.shape[1] = 6; }},
            {"v heads", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.shape[2] = 1; }},
            {"v batch", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.shape[0] = 1; }},
            {"out tokens", GYRE_BAD_SHAPE, "out", [](Call &k) { k.c.args.out.shape[1] = 4; }},
            {"out heads", GYRE_BAD_SHAPE, "out", [](Call &k) { k.c.args.out.shape[2] = 2; }},
            {"out dim", GYRE_BAD_SHAPE, "out", [](Call &k) { k.c.args.out.shape[3] = 11; }},
            {"groups", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.q.shape[2] = k.c.args.out.shape[2] = 3; }},
            {"no kv heads", GYRE_BAD_SHAPE, "k", [](Call &k) { k.c.args.k.shape[2] = k.c.args.v.shape[2] = 0; }},
            {"no head_dim", GYRE_BAD_SHAPE, "q", [](Call &k) { k.c.args.q.shape[3] = k.c.args.k.shape[3] = 0; }},
            {"no v_head_dim", GYRE_BAD_SHAPE, "v", [](Call &k) { k.c.args.v.shape[3] = k.c.args.out.shape[3] = 0; }},
            {"out inside k", GYRE_BAD_ARGUMENT, "out",
             [](Call &k) { k.c.args.out.data = (float *)k.c.args.k.data + 12; }},
            {"out is v", GYRE_BAD_ARGUMENT, "out", [](Call &k) { k.c.args.out.data = k.c.args.v.data; }},
            {"out beside q", GYRE_BAD_ARGUMENT, "out",
             [](Call &k) { k.c.args.out.data = (float *)k.c.args.q.data + 1; }},
            {"lse type", GYRE_BAD_TYPE, "lse", [](Call &k) { k.give(&Args::lse, GYRE_F64, {2, 4, 5}); }},
            {"lse shape", GYRE_BAD_SHAPE, "lse", [](Call &k) { k.give(&Args::lse, GYRE_F32, {2, 5, 4}); }},
            {"lse rank", GYRE_BAD_SHAPE, "lse", [](Call &k) { k.give(&Args::lse, GYRE_F32, {4, 5}); }},
            {"lse NULL", GYRE_BAD_ARGUMENT, "lse",
             [](Call &k) { k.give(&Args::lse, GYRE_F32, {2, 4, 5}).data = nullptr; }},
            {"lse inside out", GYRE_BAD_ARGUMENT, "lse",
             [](Call &k) { k.give(&Args::lse, GYRE_F32, {2, 4, 5}).data = (float *)k.c.args.out.data + 100; }},
            {"workspace too small", GYRE_WORKSPACE_TOO_SMALL, "workspace_size",
             [](Call &k) {
                 k.c.args.workspace = &k.rope;
                 k.c.args.workspace_size = 64;
             }},
            {"workspace without memory", GYRE_BAD_ARGUMENT, "workspace",
             [](Call &k) { k.c.args.workspace_size = 1 << 26; }},
        });
}

TEST_CASE("attention refuses head sizes that no kernel has") {
    AttentionCase wide(AttentionShape().lengths(2, 2).dims(513, 8)),
        wide_values(AttentionShape().lengths(2, 2).dims(8, 513));
    check_refused("head_dim", wide.run(nullptr), GYRE_UNSUPPORTED, "q");
    check_refused("v_head_dim", wide_values.run(nullptr), GYRE_UNSUPPORTED, "v");
    CHECK(wide.out.untouched());
    CHECK(wide_values.out.untouched());
}

TEST_CASE("attention refuses bad numbers, biases and masks") {
    check_all_refused(
        GYRE_BSHD,
        {
            {"scale NaN", GYRE_BAD_ARGUMENT, "scale", [](Call &k) { k.c.args.scale = NAN; }},
            {"scale infinite", GYRE_BAD_ARGUMENT, "scale", [](Call &k) { k.c.args.scale = INFINITY; }},
            {"softcap negative", GYRE_BAD_ARGUMENT, "softcap", [](Call &k) { k.c.args.softcap = -1; }},
            {"softcap NaN", GYRE_BAD_ARGUMENT, "softcap", [](Call &k) { k.c.args.softcap = NAN; }},
            {"softcap infinite", GYRE_BAD_ARGUMENT, "softcap", [](Call &k) { k.c.args.softcap = INFINITY; }},
            {"alignment", GYRE_BAD_ARGUMENT, "alignment", [](Call &k) { k.c.args.alignment = (gyre_alignment)2; }},
            {"causal", GYRE_BAD_ARGUMENT, "causal", [](Call &k) { k.c.args.causal = 7; }},
            {"causal negative", GYRE_BAD_ARGUMENT, "causal", [](Call &k) { k.c.args.causal = -1; }},
            {"keys_rotated", GYRE_BAD_ARGUMENT, "keys_rotated",
             [](Call &k) {
                 k.rotate();
                 k.c.args.keys_rotated = 2;
             }},
            {"values_rotated", GYRE_BAD_ARGUMENT, "values_rotated",
             [](Call &k) {
                 k.rotate_values();
                 k.c.args.values_rotated = -1;
             }},
            {"window_left", GYRE_BAD_ARGUMENT, "window_left", [](Call &k) { k.c.args.window_left = -2; }},
            {"window_right", GYRE_BAD_ARGUMENT, "window_right", [](Call &k) { k.c.args.window_right = -huge; }},
            {"bias keys", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {2, 4, 5, 6}); }},
            {"bias heads", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {2, 2, 5, 7}); }},
            {"bias batch", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {3, 1, 1, 1}); }},
            {"bias queries", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {7, 5}); }},
            {"bias empty", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {0}); }},
            {"bias rank", GYRE_BAD_SHAPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {7}).rank = 5; }},
            {"bias type", GYRE_BAD_TYPE, "bias", [](Call &k) { k.give(&Args::bias, GYRE_BOOL, {5, 7}); }},
            {"bias NULL", GYRE_BAD_ARGUMENT, "bias",
             [](Call &k) { k.give(&Args::bias, GYRE_F32, {5, 7}).data = nullptr; }},
            {"bias keys far apart", past_2_31_elements, "bias",
             [](Call &k) { k.give(&Args::bias, GYRE_F32, {5, 7}).strides[1] = INT64_C(1) << 30; }},
            {"bias on CUDA", GYRE_UNSUPPORTED, "bias",
             [](Call &k) { k.give(&Args::bias, GYRE_F32, {5, 7}).device = GYRE_CUDA; }},
            {"mask shape", GYRE_BAD_SHAPE, "mask", [](Call &k) { k.give(&Args::mask, GYRE_BOOL, {5, 5}); }},
            {"mask type", GYRE_BAD_TYPE, "mask", [](Call &k) { k.give(&Args::mask, GYRE_F32, {5, 7}); }},
            {"mask NULL", GYRE_BAD_ARGUMENT, "mask",
             [](Call &k) { k.give(&Args::mask, GYRE_BOOL, {5, 7}).data = nullptr; }},
            {"sinks shape", GYRE_BAD_SHAPE, "sinks", [](Call &k) { k.give(&Args::sinks, GYRE_F32, {2}); }},
            {"sinks type", GYRE_BAD_TYPE, "sinks", [](Call &k) { k.give(&Args::sinks, GYRE_F16, {4}); }},
            {"sinks NaN", GYRE_BAD_ARGUMENT, "sinks",
             [](Call &k) { k.give(&Args::sinks, GYRE_F32, {4}, not_a_number); }},
            {"sinks infinite", GYRE_BAD_ARGUMENT, "sinks",
             [](Call &k) { k.give(&Args::sinks, GYRE_F32, {4}, infinity); }},
            {"alibi shape", GYRE_BAD_SHAPE, "alibi", [](Call &k) { k.give(&Args::alibi, GYRE_F32, {4, 1}); }},
            {"alibi type", GYRE_BAD_TYPE, "alibi", [](Call &k) { k.give(&Args::alibi, GYRE_F64, {4}); }},
            {"alibi NaN", GYRE_BAD_ARGUMENT, "alibi",
             [](Call &k) { k.give(&Args::alibi, GYRE_F32, {4}, not_a_number); }},
            {"alibi infinite", GYRE_BAD_ARGUMENT, "alibi",
             [](Call &k) { k.give(&Args::alibi, GYRE_F32, {4}, infinity); }},
            {"alibi infinite below", GYRE_BAD_ARGUMENT, "alibi",
             [](Call &k) { k.give(&Args::alibi, GYRE_F32, {4}, -infinity); }},
        });
}
