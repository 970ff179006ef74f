/// gyre_attention() of few queries with biases, masks, cap, ALiBi and sinks: split over keys, grouped heads together.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/decode_options.h"
#include "support/each_kernel.h"

#include <cstddef>
#include <functional>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<gyre_dtype> float_types = {GYRE_F32, GYRE_F16, GYRE_BF16};

bool ran(gyre_context *context, const std::string &family) {
    return text(gyre_selected_kernel(context)).rfind("attention_" + family + "_", 0) == 0;
}

} // namespace

TEST_CASE("decode with options: alone, in pairs and together, in one part and in several") {
    for (const int which : {1, 2, 4, 8, 16, 3, 12, 20, 31})
        for (const int64_t seqlen_kv : {int64_t{1}, int64_t{63}, int64_t{1100}, int64_t{2125}})
            for (const int64_t seqlen_q : {1, 3}) {
                AttentionCase c(AttentionShape().batches(2).lengths(seqlen_q, seqlen_kv).head_counts(4, 2).dims(64));
                c.args.causal = seqlen_q > 1;
                give_options(c, which);
                c.check();
            }
}

TEST_CASE("decode with options: grouped heads of every kind, head sizes, layouts and types") {
    const int64_t counts[][2] = {{1, 1}, {4, 4}, {8, 1}, {14, 2}, {5, 1}, {80, 1}};
    for (const auto &heads : counts)
        for (const int64_t head_dim : {64, 72, 16, 9, 256})
            for (const gyre_dtype dtype : float_types)
                for (const int64_t seqlen_q : {1, 16}) {
                    if (heads[0] > 14 && (seqlen_q == 16 || head_dim != 64)) continue; // others show all that these do
                    AttentionCase c(AttentionShape()
                                        .lengths(seqlen_q, 150)
                                        .head_counts(heads[0], heads[1])
                                        .dims(head_dim, head_dim == 72 ? 40 : 0)
                                        .of(dtype)
                                        .in(seqlen_q == 1 ? GYRE_BHSD : GYRE_BSHD));
                    give_options(c, 31);
                    c.check();
                }
}

TEST_CASE("decode with a bias of every type, which broadcasts in every dimension and lies in any strides") {
    const std::vector<std::vector<int64_t>> shapes = {{2, 4, 3, 90}, {2, 1, 3, 90}, {4, 3, 90}, {4, 1, 90},
                                                      {3, 1},        {2, 4, 1, 1},  {90},       {2, 1, 1, 90}};
    for (const std::vector<int64_t> &shape : shapes)
        for (const gyre_dtype type : float_types) {
            AttentionCase c(AttentionShape().batches(2).lengths(3, 90).head_counts(4, 2).dims(64));
            c.args.bias = normal_bias(c, type, shape);
            c.check();
        }
    for (const std::vector<int64_t> &strides :
         {std::vector<int64_t>{1080, 270, 1, 3}, {1080, 270, -90, 1}, {90, 0, 0, -1}})
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_BOOL}) {
            AttentionCase c(AttentionShape().batches(2).lengths(3, 90).head_counts(4, 2).dims(64));
            Tensor tensor(type, {2, 4, 3, 90}, Placement::with_strides(strides));
            if (type == GYRE_BOOL)
                for (int64_t i = 0; i < 4; i++) tensor.set({0, i, 0, 7 + i}, 1);
            else
                tensor.fill_normal(7);
            (type == GYRE_BOOL ? c.args.mask : c.args.bias) = c.hold(std::move(tensor));
            c.check();
        }
}

TEST_CASE("decode with sinks: of every size, where parts or rows see nothing, windows leave the first part out") {
    for (const double sink : {-infinity, -200.0, 0.0, 90.0, 1000.0})
        for (const int64_t heads : {2, 16})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
                AttentionCase c(AttentionShape().batches(4).lengths(2, 3000).head_counts(heads, 2).dims(64).of(dtype));
                std::vector<double> sinks(static_cast<size_t>(heads), sink);
                sinks.back() = 0.25;
                c.args.sinks = c.hold(GYRE_F32, sinks);
                c.args.causal = 1;
                c.args.window_left = 300;
                c.args.seqused_k = c.hold(GYRE_I32, {3000, 1, 0, 1025});
                c.check();
            }
}

TEST_CASE("prefill with sinks takes the kernels that calls without take") {
    each_target([&](gyre_context *context) {
        for (const gyre_dtype dtype : float_types) {
            AttentionCase c(AttentionShape().lengths(200, 200).dims(64).of(dtype)); // f32 copies keys of so many rows
            REQUIRE(c.run(context) == GYRE_OK);
            const std::string without = text(gyre_selected_kernel(context));
            c.args.sinks = c.hold(GYRE_F32, {0.5});
            REQUIRE(c.run(context) == GYRE_OK);
            CHECK(text(gyre_selected_kernel(context)) == without);
        }
    });
    for (const gyre_dtype dtype : float_types)
        for (const int64_t head_dim : {64, 24})
            for (const int64_t window : {-1, 5}) {
                AttentionCase c(AttentionShape().batches(2).lengths(37, 70).head_counts(6, 2).dims(head_dim).of(dtype));
                c.args.sinks = per_head(c, -2, 1.5);
                c.args.causal = window >= 0;
                c.args.window_left = window;
                c.check();
            }
}

TEST_CASE("decode with options: which kernels take which calls") {
    each_target([&](gyre_context *context) {
        const auto run = [&](const std::function<void(AttentionCase &)> &change, int64_t heads, const char *family) {
            AttentionCase c(AttentionShape().lengths(1, 140).head_counts(heads, 1).dims(64));
            change(c);
            REQUIRE(c.run(context) == GYRE_OK);
            CAPTURE(text(gyre_selected_kernel(context)));
            CHECK(ran(context, family));
        };
        for (const int which : {1, 2, 4, 8, 24}) run([&](AttentionCase &c) { give_options(c, which); }, 8, "decode");
        for (const int which : {0, 16}) {
            run([&](AttentionCase &c) { give_options(c, which); }, 8, "split");
            run([&](AttentionCase &c) { give_options(c, which); }, 2, "decode");
        }
        run(
            [&](AttentionCase &c) {
                static gyre_rope rope = gyre_rope_defaults();
                give_options(c, 4);
                c.args.rope = &rope;
            },
            8, "general");
    });
}

TEST_CASE("decode with options: counts of keys around vectors and blocks, with a mask, a bias of any type, and both") {
    for (const int64_t keys : {1, 7, 8, 9, 63, 65, 86, 127, 129, 150})
        for (const int64_t head_dim : {40, 64})
            for (const gyre_dtype bias_type : {GYRE_F32, GYRE_F16, GYRE_BF16})
                for (const int options : {1, 2, 3}) {
                    CAPTURE(keys);
                    AttentionCase c(AttentionShape().lengths(3, keys).head_counts(2, 2).dims(head_dim));
                    Tensor bias(bias_type, {2, 3, keys}), mask(GYRE_BOOL, {3, keys});
                    bias.fill_normal(3);
                    for (int64_t i = 0; i < 3; i++)
                        for (int64_t j = 0; j < keys; j++) mask.set({i, j}, (i + j) % 3 != 0);
                    if (options & 1) c.args.bias = c.hold(std::move(bias));
                    if (options & 2) c.args.mask = c.hold(std::move(mask));
                    c.check();
                }
}

TEST_CASE("decode with options: neither threads nor the lengths of other sequences change a bit") {
    const std::vector<double> lengths = {5, 4000, 0, 1024, 17, 4000, 2049};
    for (const int which : {0, 29})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16})
            for (const std::string &target : runnable_targets()) {
                CAPTURE(target);
                AttentionCase c(AttentionShape().batches(7).lengths(2, 4000).head_counts(4, 2).dims(64).of(dtype));
                give_options(c, which);
                c.args.seqused_k = c.hold(GYRE_I32, lengths);
                std::vector<uint64_t> out, lse;
                for (const int32_t threads : {1, 2, 7}) {
                    const Context context(target.c_str(), threads);
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    if (out.empty()) {
                        out = c.out.bits();
                        lse = c.lse.bits();
                    }
                    CHECK(c.out.bits() == out);
                    CHECK(c.lse.bits() == lse);
                }
                // Each alone.
                const Context context(target.c_str(), 1);
                const Dense all = c.output();
                for (size_t b = 0; b < lengths.size(); b++) {
                    std::vector<double> only(7, 0);
                    only[b] = lengths[b];
                    c.args.seqused_k = c.hold(GYRE_I32, only);
                    REQUIRE(c.run(context) == GYRE_OK);
                    const size_t each = all.data.size() / 7;
                    const auto part = [&](const std::vector<double> &values) {
                        return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(b * each),
                                                   values.begin() + static_cast<std::ptrdiff_t>((b + 1) * each));
                    };
                    CHECK(part(c.output().data) == part(all.data));
                }
            }
}
