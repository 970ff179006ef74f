/// gyre_attention() of few queries, whose keys are cut into parts that are merged.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/packed_sequences.h"

using namespace gyre::test;

namespace {

constexpr int64_t least_part = 1024, most_parts = 16, most_tokens = 16; // as runtime/attention has them

bool ran_split(gyre_context *context) {
    const std::string name = gyre_selected_kernel(context);
    return name.rfind("attention_split_", 0) == 0 || name.rfind("attention_decode_", 0) == 0;
}

} // namespace

TEST_CASE("decode: lengths around the sizes of parts, causal and not") {
    for (const int64_t seqlen_kv : {least_part - 1, least_part, least_part + 1, 2 * least_part + 77})
        for (const int64_t seqlen_q : {int64_t{1}, int64_t{5}, most_tokens, most_tokens + 1})
            for (const int causal : {0, 1}) {
                AttentionCase c(AttentionShape().lengths(seqlen_q, seqlen_kv).head_counts(4, 2).dims(64));
                c.args.causal = causal;
                c.check();
            }
}

TEST_CASE("decode: nothing is read past the last key, wherever in a block it is") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {64, 128})
            for (const int64_t keys : {1, 17, 127, 128, 129, 200, 256})
                for (const int64_t rows : {1, 6}) {
                    AttentionCase c(AttentionShape().lengths(rows, keys).head_counts(3, 1).dims(head_dim).of(dtype));
                    check_at_end_of_memory(c);
                }
}

TEST_CASE("decode: more keys than the most parts of the least size hold") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        AttentionCase c(
            AttentionShape().lengths(1, most_parts * least_part + 300).head_counts(2, 1).dims(64).of(dtype));
        c.check();
    }
}

TEST_CASE("decode: grouped heads of every kind, head sizes and types") {
    const int64_t counts[][2] = {{1, 1}, {8, 1}, {14, 2}, {5, 1}, {32, 1}, {24, 2}, {130, 1}, {142, 2}};
    for (const auto &heads : counts)
        for (const int64_t head_dim : {64, 72})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
                for (const int64_t seqlen_q : {1, 3, 16}) {
                    if (heads[0] >= 130 && seqlen_q == 16) continue; // 390 rows of a key head show all that 2,080 do
                    AttentionCase c(AttentionShape()
                                        .lengths(seqlen_q, 1100)
                                        .head_counts(heads[0], heads[1])
                                        .dims(head_dim, head_dim == 72 ? 40 : 0)
                                        .of(dtype)
                                        .in(seqlen_q == 3 ? GYRE_BHSD : GYRE_BSHD));
                    c.args.causal = 1;
                    c.check();
                }
}

TEST_CASE("decode: windows that leave parts out, and key lengths, none among them") {
    for (const int64_t window : {0, 10, 1500}) {
        AttentionCase c(AttentionShape().batches(4).lengths(3, 3000).head_counts(4, 2).dims(64));
        c.args.causal = 1;
        c.args.window_left = window;
        c.args.seqused_k = c.hold(GYRE_I32, {3000, 1, 0, 1025});
        c.check();
    }
}

TEST_CASE("decode: RoPE and RoPER, with keys and values that are already rotated or not") {
    for (const int64_t head_dim : {64, 80})
        for (const int rotated : {0, 1}) {
            AttentionCase c(AttentionShape().batches(2).lengths(2, 2200).head_counts(8, 2).dims(head_dim));
            gyre_rope rope = gyre_rope_defaults();
            c.args.causal = 1;
            c.args.rope = c.args.value_rope = &rope;
            c.args.keys_rotated = c.args.values_rotated = rotated;
            c.args.seqused_k = c.hold(GYRE_I32, {2200, 1030});
            c.check();
        }
}

TEST_CASE("decode: kernels for it take calls of few queries, and no others, where keys are rotated") {
    const gyre_rope rope = gyre_rope_defaults(); // others may have many rows a key head
    each_target([&](gyre_context *context) {
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const int64_t seqlen_q : {int64_t{1}, most_tokens, most_tokens + 1}) {
                AttentionCase c(AttentionShape()
                                    .lengths(seqlen_q, 600)
                                    .dims(64)
                                    .of(dtype)); // of fewer keys, kernels for many queries take some
                c.args.rope = &rope;
                REQUIRE(c.run(context) == GYRE_OK);
                CHECK(ran_split(context) == (seqlen_q <= most_tokens));
            }
    });
}

TEST_CASE("decode: the number of threads does not change a bit, with lse or without") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        AttentionCase c(AttentionShape().batches(2).lengths(2, 4200).head_counts(6, 2).dims(64).of(dtype));
        c.args.causal = 1;
        for (const std::string &target : runnable_targets()) {
            CAPTURE(target);
            std::vector<uint64_t> out;
            for (const bool with_lse : {true, false})
                for (const int32_t threads : {1, 2, 5, 16}) {
                    CAPTURE(threads);
                    const Context context(target.c_str(), threads);
                    const gyre_tensor *const lse = c.args.lse;
                    if (!with_lse) c.args.lse = nullptr;
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    c.args.lse = lse;
                    if (out.empty()) out = c.out.bits();
                    CHECK(c.out.bits() == out);
                }
        }
    }
}

TEST_CASE("decode: packed sequences give the bits that each has alone, also where some have many rows a key head") {
    for (const auto &[heads, kv_heads] : {std::pair{4, 2}, {16, 1}, {71, 1}})
        check_packed_and_alone(AttentionShape().head_counts(heads, kv_heads).dims(64), {0, 1, 1, 17, 20},
                               {0, 2500, 2600, 2616, 6000}, [](AttentionCase &c) { c.args.causal = 1; });
}

TEST_CASE("decode: one sequence with a query too many, and all have kernels for many") {
    AttentionCase packed(AttentionShape().lengths(20, 6000).head_counts(4, 2).dims(64).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 1, 1, 18, 20});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 2500, 2600, 4700, 6000});
    packed.check();
    each_target([&](gyre_context *context) {
        REQUIRE(packed.run(context) == GYRE_OK);
        CHECK_FALSE(ran_split(context));
    });
}

TEST_CASE("decode: the kernel that is named is that of the packed sequence with the most queries") {
    constexpr int64_t many = 9, heads = 32, kv_heads = 2; // 144 rows a key head, which is more than few
    each_target([&](gyre_context *context) {
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            AttentionCase alone(AttentionShape().lengths(many, 100).head_counts(heads, kv_heads).dims(64).of(dtype));
            REQUIRE(alone.run(context) == GYRE_OK);
            const std::string expected = gyre_selected_kernel(context);
            for (const int64_t other : {0, 1})
                for (const bool first : {true, false}) {
                    const double middle = (double)(first ? many : other), end = (double)(many + other);
                    AttentionCase packed(AttentionShape()
                                             .lengths(many + other, 200)
                                             .head_counts(heads, kv_heads)
                                             .dims(64)
                                             .of(dtype)
                                             .in(GYRE_THD));
                    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, middle, end});
                    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 100, 200});
                    REQUIRE_MESSAGE(packed.run(context) == GYRE_OK, text(gyre_last_error()));
                    CHECK(expected == gyre_selected_kernel(context));
                }
        }
    });
}

TEST_CASE("decode: a workspace of the size that is told before the lists of lengths are known is enough") {
    for (const int64_t last : {3, 20}) {
        AttentionCase c(AttentionShape().lengths(last + 2, 5000).head_counts(4, 2).dims(64).in(GYRE_THD));
        c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 2, (double)(last + 2)});
        c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 100, 5000});
        each_target([&](gyre_context *context) {
            gyre_attention_args unknown = c.args;
            gyre_tensor no_q = *c.args.cu_seqlens_q, no_k = *c.args.cu_seqlens_k;
            no_q.data = no_k.data = nullptr;
            unknown.cu_seqlens_q = &no_q;
            unknown.cu_seqlens_k = &no_k;
            size_t bytes = 0;
            REQUIRE(gyre_attention_workspace_size(context, &unknown, &bytes) == GYRE_OK);
            std::vector<char> memory(bytes);
            c.args.workspace = memory.data();
            c.args.workspace_size = bytes;
            CHECK(c.run(context) == GYRE_OK);
            CHECK(ran_split(context) == (last <= most_tokens));
            c.args.workspace = nullptr;
            c.args.workspace_size = 0;
        });
    }
}
