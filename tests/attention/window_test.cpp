/// gyre_attention() of few queries with a window: keys that it hides from all of them are left out on x86, wherever it begins.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

using namespace gyre::test;

namespace {

constexpr int64_t unit = 32; // what the first key is rounded to in bf16, where kernels take values in blocks

bool takes_blocks(gyre_context *context) { return text(gyre_context_target(context)) == "x86_64_amx"; }

/// Whether the runtime leaves out what a window hides: elsewhere small programs do without.
#if defined(__x86_64__)
constexpr bool leaves_keys_out = true;
#else
constexpr bool leaves_keys_out = false;
#endif

/// The last `keys` tokens of the one batch entry of a tensor.
std::vector<double> last_of(const Tensor &t, int64_t keys) {
    const std::vector<double> values = t.values();
    return {values.end() - keys * t.shape()[2] * t.shape()[3], values.end()};
}

} // namespace

TEST_CASE("window: few queries have the bits of a call whose tensors begin with the first key that is seen" *
          doctest::skip(!leaves_keys_out)) {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t heads : {2, 8, 64})
            for (const int64_t head_dim : {64, 80})
                for (const int64_t before : {60 * unit, 60 * unit + 3}) {
                    constexpr int64_t queries = 3, window = 4 * unit + 5, seen = window + queries;
                    AttentionCase all(AttentionShape()
                                          .lengths(queries, before + seen)
                                          .head_counts(heads, 2)
                                          .dims(head_dim)
                                          .of(dtype));
                    AttentionCase alone(
                        AttentionShape().lengths(queries, seen).head_counts(heads, 2).dims(head_dim).of(dtype));
                    alone.q.set_values(all.q.values());
                    alone.k.set_values(last_of(all.k, seen));
                    alone.v.set_values(last_of(all.v, seen));
                    for (AttentionCase *c : {&all, &alone}) {
                        c->args.causal = 1;
                        c->args.window_left = window;
                    }
                    each_target([&](gyre_context *context) {
                        if (dtype == GYRE_BF16 && before % unit != 0 && takes_blocks(context)) return;
                        REQUIRE_MESSAGE(all.run(context) == GYRE_OK, text(gyre_last_error()));
                        const std::string kernel = gyre_selected_kernel(context);
                        REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
                        CHECK(kernel == gyre_selected_kernel(context));
                        CHECK(all.out.bits() == alone.out.bits());
                        CHECK(all.lse.bits() == alone.lse.bits());
                    });
                }
}

TEST_CASE("window: no memory is asked for parts of keys that it hides" * doctest::skip(!leaves_keys_out)) {
    constexpr int64_t keys = 20000, heads = 8, head_dim = 64, window = 512;
    const int64_t rows[] = {1, 1, heads, head_dim}, columns[] = {1, keys, heads, head_dim};
    gyre_attention_args args = gyre_attention_defaults();
    args.q = args.out = gyre_tensor_dense(nullptr, GYRE_BF16, 4, rows);
    args.k = args.v = gyre_tensor_dense(nullptr, GYRE_BF16, 4, columns);
    args.causal = 1;
    constexpr size_t part = heads * head_dim * sizeof(float);
    each_target([&](gyre_context *context) {
        const auto bytes = [&](int64_t left) {
            size_t asked = 0;
            args.window_left = left;
            REQUIRE_MESSAGE(gyre_attention_workspace_size(context, &args, &asked) == GYRE_OK, text(gyre_last_error()));
            return asked;
        };
        CHECK(bytes(window) + 10 * part <= bytes(-1));
    });
}

TEST_CASE("one key head alone: keys that would be one part are two, on x86, with any number of threads") {
    for (const int64_t keys : {511, 512, 777, 1024, 1025})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            AttentionCase c(AttentionShape().batches(2).lengths(2, keys).head_counts(4, 1).dims(64).of(dtype));
            c.args.causal = 1;
            c.check();
            c.args.seqused_k = c.hold(GYRE_I32, {(double)keys, 300});
            c.args.sinks = c.hold(GYRE_F32, {0.5, -1, 2, 0});
            c.check();
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<uint64_t> out = c.out.bits();
                const Context pair(gyre_context_target(context), 2);
                REQUIRE_MESSAGE(c.run(pair) == GYRE_OK, text(gyre_last_error()));
                CHECK(c.out.bits() == out);
            });
        }
    if (!leaves_keys_out) return;
    const auto bytes = [](int64_t keys, int64_t heads) {
        const int64_t row[] = {1, 1, 8, 64}, columns[] = {1, keys, heads, 64};
        gyre_attention_args args = gyre_attention_defaults();
        args.q = args.out = gyre_tensor_dense(nullptr, GYRE_F32, 4, row);
        args.k = args.v = gyre_tensor_dense(nullptr, GYRE_F32, 4, columns);
        size_t asked = 0;
        REQUIRE(gyre_attention_workspace_size(Context(nullptr, 1), &args, &asked) == GYRE_OK);
        return asked;
    };
    constexpr size_t part = 8 * 64 * sizeof(float);
    CHECK(bytes(512, 1) >= bytes(511, 1) + 2 * part);
    CHECK(bytes(512, 2) == bytes(511, 2));
}

TEST_CASE("window: one that begins anywhere, of few queries and many, with every kind of values and weights") {
    for (const int64_t queries : {1, 5, 30})
        for (const int64_t keys : {300, 331})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
                AttentionCase c(
                    AttentionShape().batches(2).lengths(queries, keys).head_counts(4, 2).dims(64).of(dtype));
                c.args.window_left = 70;
                c.args.window_right = 9;
                c.args.seqused_k = c.hold(GYRE_I32, {(double)keys, 201});
                c.check();
                c.args.alignment = GYRE_TOP_LEFT;
                c.check();
                c.args.dropout = 0.25f;
                c.args.dropout_seed = 5;
                c.check();
            }
}
