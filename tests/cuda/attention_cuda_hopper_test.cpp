/// The target cuda_90a, whose attention multiplies by wgmma: which devices and calls get it. What it computes the suite for devices
/// compares with the oracle, run on an emulated device of compute capability 9.0 if GYRE_TEST_HOPPER is set.
#include "device_attention.h"
#include "support/each_kernel.h"

#include <cmath>
#include <cstdlib>
#include <string>

using namespace gyre::test;

namespace {

// Also called before doctest begins, where REQUIRE() is of no use.
void set_compute_major(int major) {
    if (auto *set = find_fake<void(int)>("fake_cuda_set_compute_major")) set(major);
}

const bool runs_on_hopper = std::getenv("GYRE_TEST_HOPPER") != nullptr;
[[maybe_unused]] const bool is_set = runs_on_hopper && (set_compute_major(9), true);

/// The target of the kernel that a call takes on a device of compute capability `major`.0.
std::string target_of(const AttentionShape &shape, int major, const char *forced = nullptr) {
    set_compute_major(major);
    DeviceAttention call(shape);
    const Context context(forced);
    REQUIRE_MESSAGE(gyre_attention(context, &call.args) == GYRE_OK, gyre_last_error());
    set_compute_major(runs_on_hopper ? 9 : 8);
    const std::string kernel = gyre_selected_kernel(context);
    return kernel.substr(kernel.find("__") + 2);
}

} // namespace

TEST_CASE(
    "attention on a Hopper: plain calls of 16 bits and head sizes 64, 128 and 256 take wgmma, on such devices alone") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 128, 256}) {
            const AttentionShape shape = AttentionShape().lengths(70, 90).dims(dim).of(type);
            CHECK(target_of(shape, 9) == "cuda_90a");
            CHECK(target_of(shape, 9, "cuda_90a") == "cuda_90a");
            CHECK(target_of(shape, 9, "cuda") == "cuda");
            CHECK(target_of(shape, 8) == "cuda");
            CHECK(target_of(shape, 10) == "cuda"); // runs no code that is for 9.0a
        }
}

TEST_CASE("attention on a Hopper: values that are not finite, infinite scores and hidden keys, at all head sizes") {
    set_compute_major(9);
    for (const int64_t dim : {64, 128, 256})
        for (const gyre_dtype type : {GYRE_BF16, GYRE_F16}) {
            AttentionCase c(AttentionShape().lengths(150, 150).head_counts(2, 1).dims(dim).of(type));
            c.args.causal = 1;
            for (const double value : {(double)INFINITY, -(double)INFINITY, std::nan("")})
                for (const int64_t token : {3, 77, 140}) {
                    c.v.set({0, token, 0, token % dim}, value);
                    c.v.set({0, token, 0, dim - 1}, value);
                }
            c.check_on_devices();
        }
    set_compute_major(runs_on_hopper ? 9 : 8);
}

TEST_CASE("attention on a Hopper: fewer and more rows and keys than tiles have, windows, scales and lists of keys") {
    set_compute_major(9);
    for (const int64_t dim : {64, 128, 256})
        for (const auto &[queries, keys] : {std::pair<int64_t, int64_t>{1, 1},
                                            {63, 65},
                                            {64, 64},
                                            {65, 63},
                                            {129, 70},
                                            {40, 200},
                                            {200, 65},
                                            {5, 0}}) {
            AttentionCase c(AttentionShape()
                                .batches(2)
                                .lengths(queries, keys)
                                .head_counts(2, 1)
                                .dims(dim)
                                .of(dim == 64 ? GYRE_F16 : GYRE_BF16));
            c.check_on_devices();
            c.args.causal = 1;
            c.check_on_devices();
            c.args.window_left = 20;
            c.args.scale = -0.7f;
            c.check_on_devices();
        }
    AttentionCase used(AttentionShape().batches(4).lengths(20, 130).head_counts(2, 1).dims(128).of(GYRE_BF16));
    used.args.seqused_k = used.hold(GYRE_I32, {130, 0, 64, 1});
    used.check_on_devices();
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase rotated(AttentionShape().lengths(70, 90).dims(128).of(GYRE_F16));
    rotated.args.rope = rotated.args.value_rope = &rope;
    rotated.check_on_devices();
    AttentionCase many(AttentionShape().lengths(40, 1501).dims(128).of(GYRE_BF16));
    many.check_on_devices();
    set_compute_major(runs_on_hopper ? 9 : 8);
}
