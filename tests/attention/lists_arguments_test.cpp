/// Lengths, packed sequences, rotations and positions that gyre_attention() refuses.
#include "support/attention_refusals.h"

#include <cmath>

using namespace gyre::test;

namespace {

using Args = gyre_attention_args;
using Call = AttentionCall;

} // namespace

TEST_CASE("attention refuses bad key lengths") {
    check_all_refused(
        GYRE_BSHD,
        {
            {"too long", GYRE_BAD_ARGUMENT, "seqused_k", [](Call &k) { k.list(&Args::seqused_k, {7, 8}); }},
            {"negative", GYRE_BAD_ARGUMENT, "seqused_k", [](Call &k) { k.list(&Args::seqused_k, {-1, 7}); }},
            {"count", GYRE_BAD_SHAPE, "seqused_k", [](Call &k) { k.list(&Args::seqused_k, {7}); }},
            {"type", GYRE_BAD_TYPE, "seqused_k", [](Call &k) { k.list(&Args::seqused_k, {7, 7}, GYRE_I64); }},
            {"rank", GYRE_BAD_SHAPE, "seqused_k", [](Call &k) { k.give(&Args::seqused_k, GYRE_I32, {2, 1}); }},
            {"NULL", GYRE_BAD_ARGUMENT, "seqused_k",
             [](Call &k) { k.give(&Args::seqused_k, GYRE_I32, {2}).data = nullptr; }},
            {"cu_seqlens_q without thd", GYRE_BAD_ARGUMENT, "cu_seqlens_q",
             [](Call &k) { k.list(&Args::cu_seqlens_q, {0, 5}); }},
            {"cu_seqlens_k without thd", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Call &k) { k.list(&Args::cu_seqlens_k, {0, 7}); }},
        });
}

TEST_CASE("attention refuses bad packed sequences") {
    check_all_refused(
        GYRE_THD,
        {
            {"no cu_seqlens_q", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](Call &k) { k.c.args.cu_seqlens_q = nullptr; }},
            {"no cu_seqlens_k", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Call &k) { k.c.args.cu_seqlens_k = nullptr; }},
            {"starts late", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](Call &k) { k.list(&Args::cu_seqlens_q, {1, 2, 5}); }},
            {"starts early", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Call &k) { k.list(&Args::cu_seqlens_k, {-1, 3, 7}); }},
            {"decreases", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](Call &k) { k.list(&Args::cu_seqlens_q, {0, 6, 5}); }},
            {"decreases below 0", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Call &k) { k.list(&Args::cu_seqlens_k, {0, -3, 7}); }},
            {"ends early", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](Call &k) { k.list(&Args::cu_seqlens_q, {0, 2, 4}); }},
            {"ends late", GYRE_BAD_ARGUMENT, "cu_seqlens_k", [](Call &k) { k.list(&Args::cu_seqlens_k, {0, 3, 8}); }},
            {"counts differ", GYRE_BAD_SHAPE, "cu_seqlens_k", [](Call &k) { k.list(&Args::cu_seqlens_k, {0, 7}); }},
            {"type", GYRE_BAD_TYPE, "cu_seqlens_q", [](Call &k) { k.list(&Args::cu_seqlens_q, {0, 2, 5}, GYRE_I64); }},
            {"rank", GYRE_BAD_SHAPE, "cu_seqlens_q", [](Call &k) { k.give(&Args::cu_seqlens_q, GYRE_I32, {3, 1}); }},
            {"empty", GYRE_BAD_SHAPE, "cu_seqlens_q", [](Call &k) { k.give(&Args::cu_seqlens_q, GYRE_I32, {0}); }},
            {"NULL", GYRE_BAD_ARGUMENT, "cu_seqlens_k",
             [](Call &k) { k.give(&Args::cu_seqlens_k, GYRE_I32, {3}).data = nullptr; }},
            {"seqused_k beyond its sequence", GYRE_BAD_ARGUMENT, "seqused_k",
             [](Call &k) { k.list(&Args::seqused_k, {4, 4}); }},
            {"bias", GYRE_UNSUPPORTED, "bias", [](Call &k) { k.give(&Args::bias, GYRE_F32, {1}); }},
            {"mask", GYRE_UNSUPPORTED, "mask", [](Call &k) { k.give(&Args::mask, GYRE_BOOL, {1}); }},
            {"lse of bshd", GYRE_BAD_SHAPE, "lse", [](Call &k) { k.give(&Args::lse, GYRE_F32, {1, 4, 5}); }},
            {"positions of one sequence", GYRE_BAD_SHAPE, "q_positions",
             [](Call &k) {
                 k.rotate();
                 k.give(&Args::q_positions, GYRE_I32, {2});
             }},
        });
}

TEST_CASE("attention refuses bad rotations") {
    check_all_refused(
        GYRE_BSHD,
        {
            {"size", GYRE_BAD_ARGUMENT, "size", [](Call &k) { k.rotate().size = 1; }},
            {"odd", GYRE_BAD_SHAPE, "rotary_dim", [](Call &k) { k.rotate().rotary_dim = 5; }},
            {"beyond head_dim", GYRE_BAD_SHAPE, "rotary_dim", [](Call &k) { k.rotate().rotary_dim = 18; }},
            {"beyond v_head_dim", GYRE_BAD_SHAPE, "rotary_dim", [](Call &k) { k.rotate_values().rotary_dim = 14; }},
            {"offset", GYRE_UNSUPPORTED, "rotary_offset",
             [](Call &k) {
                 k.rotate().rotary_dim = 8;
                 k.rope.rotary_offset = 2;
             }},
            {"theta", GYRE_BAD_ARGUMENT, "theta", [](Call &k) { k.rotate_values().theta = NAN; }},
            {"pairing", GYRE_BAD_ARGUMENT, "pairing", [](Call &k) { k.rotate().pairing = (gyre_pairing)-1; }},
            {"too few rows for the keys", GYRE_BAD_ARGUMENT, "cos", [](Call &k) { k.tables(6); }},
            {"too few rows for q_positions", GYRE_BAD_ARGUMENT, "q_positions",
             [](Call &k) {
                 k.tables(9);
                 k.give(&Args::q_positions, GYRE_I32, {5}, 9);
             }},
            {"rows a token", GYRE_UNSUPPORTED, "cos",
             [](Call &k) {
                 k.tables(7);
                 k.rope.cos = k.rope.sin = k.c.hold(GYRE_F32, std::vector<double>(2 * 5 * 8), {2, 5, 8});
             }},
            {"axes differ", GYRE_BAD_ARGUMENT, "axes",
             [](Call &k) {
                 k.rotate().axes = 2;
                 k.rope.sections[0] = 8;
                 k.rotate_values();
             }},
            {"keys_rotated alone", GYRE_BAD_ARGUMENT, "keys_rotated", [](Call &k) { k.c.args.keys_rotated = 1; }},
            {"values_rotated alone", GYRE_BAD_ARGUMENT, "values_rotated",
             [](Call &k) {
                 k.rotate();
                 k.c.args.values_rotated = 1;
             }},
            {"q_positions alone", GYRE_BAD_ARGUMENT, "q_positions",
             [](Call &k) { k.give(&Args::q_positions, GYRE_I32, {5}); }},
            {"k_positions alone", GYRE_BAD_ARGUMENT, "k_positions",
             [](Call &k) { k.give(&Args::k_positions, GYRE_I32, {7}); }},
        });
}

TEST_CASE("attention refuses bad positions") {
    check_all_refused(GYRE_BSHD, {
                                     {"negative", GYRE_BAD_ARGUMENT, "q_positions",
                                      [](Call &k) {
                                          k.rotate();
                                          k.give(&Args::q_positions, GYRE_I32, {5}, -1);
                                      }},
                                     {"2^31", GYRE_BAD_ARGUMENT, "k_positions",
                                      [](Call &k) {
                                          k.rotate_values();
                                          k.give(&Args::k_positions, GYRE_I64, {2, 7}, 2147483648.0);
                                      }},
                                     {"type", GYRE_BAD_TYPE, "q_positions",
                                      [](Call &k) {
                                          k.rotate();
                                          k.give(&Args::q_positions, GYRE_F32, {5});
                                      }},
                                     {"tokens", GYRE_BAD_SHAPE, "k_positions",
                                      [](Call &k) {
                                          k.rotate();
                                          k.give(&Args::k_positions, GYRE_I32, {5});
                                      }},
                                     {"batch", GYRE_BAD_SHAPE, "q_positions",
                                      [](Call &k) {
                                          k.rotate();
                                          k.give(&Args::q_positions, GYRE_I32, {3, 5});
                                      }},
                                     {"NULL", GYRE_BAD_ARGUMENT, "q_positions",
                                      [](Call &k) {
                                          k.rotate();
                                          k.give(&Args::q_positions, GYRE_I32, {5}).data = nullptr;
                                      }},
                                 });
}

TEST_CASE("attention refuses null structures, and its size query does too") {
    Call call;
    size_t bytes = 12345;
    check_refused("args NULL", gyre_attention(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
    check_refused("args NULL", gyre_attention_workspace_size(nullptr, nullptr, &bytes), GYRE_BAD_ARGUMENT, "args");
    check_refused("bytes NULL", gyre_attention_workspace_size(nullptr, &call.c.args, nullptr), GYRE_BAD_ARGUMENT,
                  "bytes");
    call.c.args.k.shape[3] = 8;
    check_refused("k", gyre_attention_workspace_size(nullptr, &call.c.args, &bytes), GYRE_BAD_SHAPE, "k");
    CHECK(bytes == 12345);
}

TEST_CASE("an attention workspace one byte too small is refused") {
    Call call;
    size_t bytes = 0;
    REQUIRE(gyre_attention_workspace_size(nullptr, &call.c.args, &bytes) == GYRE_OK);
    Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
    workspace.poison();
    call.c.args.workspace = workspace.view().data;
    call.c.args.workspace_size = bytes - 1;
    check_refused("small", call.c.run(nullptr), GYRE_WORKSPACE_TOO_SMALL, "workspace_size");
    CHECK(call.c.out.untouched());
    CHECK(workspace.untouched());
}
