/// Boolean masks that hide whole blocks of keys from whole tiles of rows: documents, prefixes, windows beside global tokens, padded
/// queries. Hidden blocks are not computed.
#include "support/block_masks.h"
#include "support/each_kernel.h"
#include "support/guarded_memory.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace gyre::test;

namespace {

/// Holds keys or values of one head in memory whose pages in the middle cannot be read.
class RowsWithAHole {
public:
    static constexpr int64_t head_dim = 64, keys = 4096;

    RowsWithAHole() {
        for (int64_t i = 0; i < keys * head_dim; i++) data()[i] = (float)(i % 11) / 11;
    }
    float *data() { return (float *)memory.data(); }
    void close(int64_t first, int64_t end) {
        const int64_t row = head_dim * (int64_t)sizeof(float);
        REQUIRE(mprotect(memory.data() + first * row, (size_t)((end - first) * row), PROT_NONE) == 0);
    }

private:
    GuardedMemory memory{(size_t)(keys * head_dim) * sizeof(float)};
};

} // namespace

TEST_CASE("masks of blocks give what their definition says") {
    for (const BlockMask &kind : block_masks()) {
        CAPTURE(kind.name);
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
            BlockMaskCase(BlockMaskCase::shape(dtype, 64), kind, 4).c.check();
        BlockMaskCase(BlockMaskCase::shape(GYRE_F32, 72), kind, 1).c.check();
    }
}

TEST_CASE("masks of blocks beside a window, whose ends are within row tiles") {
    for (const BlockMask &kind : block_masks()) {
        CAPTURE(kind.name);
        BlockMaskCase m(BlockMaskCase::shape(GYRE_F32, 64), kind, 4);
        m.c.args.window_left = 90;
        m.c.args.window_right = 30;
        m.c.check();
    }
}

TEST_CASE("masks of blocks beside a window, a bias, ALiBi, sinks, dropout, rotations and lengths") {
    for (const BlockMask &kind : block_masks()) {
        CAPTURE(kind.name);
        BlockMaskCase windowed(BlockMaskCase::shape(GYRE_F32, 64), kind, 4);
        windowed.c.args.window_left = 90;
        windowed.c.args.window_right = 5;
        windowed.c.args.alibi = windowed.c.hold(GYRE_F32, {0.1, 0.2, 0.3, 0.4});
        windowed.c.args.sinks = windowed.c.hold(GYRE_F32, {1, -1, 0, 2});
        windowed.c.check();

        BlockMaskCase rotated(BlockMaskCase::shape(GYRE_F32, 64), kind, 1);
        const gyre_rope rope = gyre_rope_defaults();
        rotated.c.args.rope = rotated.c.args.value_rope = &rope;
        rotated.c.args.seqused_k = rotated.c.hold(GYRE_I32, {370});
        Tensor bias(GYRE_F32, {block_mask_length, block_mask_length});
        bias.fill_normal(3);
        rotated.c.args.bias = rotated.c.hold(std::move(bias));
        rotated.c.check();

        BlockMaskCase dropped(BlockMaskCase::shape(GYRE_F32, 64), kind, 4);
        dropped.c.args.dropout = 0.25f;
        dropped.c.args.dropout_seed = 7;
        dropped.c.check();
    }
}

TEST_CASE("the number of threads does not change a bit of masks of blocks") {
    for (const BlockMask &kind : block_masks()) {
        CAPTURE(kind.name);
        BlockMaskCase m(BlockMaskCase::shape(GYRE_F32, 64), kind, 4);
        const gyre_rope rope = gyre_rope_defaults();
        m.c.args.value_rope = &rope;
        for (const std::string &target : runnable_targets()) {
            CAPTURE(target);
            std::vector<uint64_t> out, lse;
            for (const int32_t threads : {1, 2, 5}) {
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(m.c.run(context) == GYRE_OK, text(gyre_last_error()));
                if (threads == 1) {
                    out = m.c.out.bits();
                    lse = m.c.lse.bits();
                }
                CHECK(m.c.out.bits() == out);
                CHECK(m.c.lse.bits() == lse);
            }
        }
    }
}

TEST_CASE("blocks of keys that a mask hides are not read") {
    constexpr int64_t keys = RowsWithAHole::keys, queries = 1024;
    RowsWithAHole k, v;
    std::vector<float> q(queries * 64, 0.5f), out(q.size());
    std::vector<char> mask(queries *
                           keys); // the first queries see the first keys, the last ones the last; those between none
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++)
            mask[(size_t)(i * keys + j)] = (i < 448 && j < 300 - i % 2) || (i >= 576 && j >= 3700 + i % 2);
    k.close(1024, 3072);
    v.close(1024, 3072);
    gyre_attention_args args = gyre_attention_defaults();
    const int64_t rows[] = {1, queries, 1, 64}, key_rows[] = {1, keys, 1, 64}, scores[] = {1, 1, queries, keys};
    args.q = gyre_tensor_dense(q.data(), GYRE_F32, 4, rows);
    args.k = gyre_tensor_dense(k.data(), GYRE_F32, 4, key_rows);
    args.v = gyre_tensor_dense(v.data(), GYRE_F32, 4, key_rows);
    args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, rows);
    const gyre_tensor view = gyre_tensor_dense(mask.data(), GYRE_BOOL, 4, scores);
    args.mask = &view;
    each_target([&](gyre_context *context) {
        const pid_t child = fork();
        if (child == 0) _exit(gyre_attention(context, &args) == GYRE_OK ? 0 : 1);
        int status = 0;
        REQUIRE(child > 0);
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    });
}
