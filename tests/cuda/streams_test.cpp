/// The stream that a call is queued on: its own, else its context's; with the driver that tests/cuda/fake_driver/ is.
#include "device_attention.h"
#include "made_gradients.h"
#include "support/append_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_case.h"
#include "support/merge_case.h"
#include "support/rotary_case.h"

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

using namespace gyre::test;

namespace {

void *last_stream() { return fake<void *()>("fake_cuda_last_stream")(); }
void *stream_of_memory() { return fake<void *()>("fake_cuda_stream_of_memory")(); }

/// A context whose calls are queued on a stream if they name none.
struct Queued {
    gyre_context *context = nullptr;
    explicit Queued(void *stream) {
        gyre_context_options options = gyre_context_defaults();
        options.cuda_stream = stream;
        options.target = "cuda";
        REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    }
    ~Queued() { gyre_context_destroy(context); }
};

/// Two queries to 1000 keys, which takes a workspace.
AttentionShape few_queries() { return AttentionShape().lengths(2, 1000).head_counts(4, 1).dims(64).of(GYRE_BF16); }

} // namespace

TEST_CASE("launches and memory of a call are on its own stream, else its context's, with one context for all") {
    int first = 0, second = 0;
    const Queued queued(&first);
    const auto legacy = reinterpret_cast<void *>(uintptr_t{1}), per_thread = reinterpret_cast<void *>(uintptr_t{2});
    DeviceAttention d(few_queries());
    for (void *own : {static_cast<void *>(nullptr), static_cast<void *>(&second), legacy, per_thread}) {
        d.args.cuda_stream = own;
        void *expected = own ? own : &first;
        CHECK_MESSAGE(gyre_attention(queued.context, &d.args) == GYRE_OK, text(gyre_last_error()));
        CHECK(last_stream() == expected);
        CHECK(stream_of_memory() == expected);
    }
}

TEST_CASE("every operation takes a stream of its own") {
    int own = 0;
    AttentionCase attention(few_queries());
    attention.args.cuda_stream = &own;
    attention.check_on_devices();
    CHECK(last_stream() == &own);
    const RotaryShape shape = RotaryShape().length(5).head_count(2).dim(64).of(GYRE_BF16);
    RotaryCase rotary(shape), keys(shape);
    OnDevice device;
    for (Tensor *t : {&rotary.x, &rotary.out, &keys.x, &keys.out}) device.add(*t);
    gyre_rotary_args args = rotary.args;
    args.x = device.view(rotary.args.x);
    args.out = device.view(rotary.args.out);
    CHECK(gyre_rotary(nullptr, &args) == GYRE_OK);
    CHECK(last_stream() == nullptr); // the legacy default stream
    args.cuda_stream = &own;
    CHECK(gyre_rotary(nullptr, &args) == GYRE_OK);
    CHECK(last_stream() == &own);
    gyre_rotary_qk_args both = gyre_rotary_qk_defaults();
    both.rope = args.rope;
    both.q = args.x;
    both.q_out = args.out;
    both.k = device.view(keys.args.x);
    both.k_out = device.view(keys.args.out);
    CHECK_MESSAGE(gyre_rotary_qk(nullptr, &both) == GYRE_OK, text(gyre_last_error()));
    CHECK(last_stream() == nullptr);
    both.cuda_stream = &own;
    CHECK(gyre_rotary_qk(nullptr, &both) == GYRE_OK);
    CHECK(last_stream() == &own);
}

TEST_CASE("appending, merging, gradients and linear attention take a stream of their own") {
    int of_append = 0, of_merge = 0, of_gradients = 0, of_linear = 0;
    AppendCase append(ragged_append(GYRE_BSHD));
    append.args.cuda_stream = &of_append;
    append.check_on_devices();
    CHECK(last_stream() == &of_append);
    MergeCase merge(3, 1, 5, 2, 64);
    merge.args.cuda_stream = &of_merge;
    merge.check_on_devices();
    CHECK(last_stream() == &of_merge);
    BackwardCase backward(made[0].shape(20, 30));
    backward.args.cuda_stream = &of_gradients;
    backward.check_on_devices();
    CHECK(last_stream() == &of_gradients);
    LinearCase linear(AttentionShape().lengths(20, 20).dims(64).of(GYRE_BF16));
    linear.args.cuda_stream = &of_linear;
    linear.check_on_devices();
    CHECK(last_stream() == &of_linear);
}

TEST_CASE("threads with a stream each share a context") {
    const Queued queued(nullptr);
    DeviceAttention alone(few_queries());
    REQUIRE(gyre_attention(queued.context, &alone.args) == GYRE_OK);
    alone.device.fetch();
    constexpr int count = 3;
    int streams[count];
    std::vector<std::unique_ptr<DeviceAttention>> calls;
    for (int i = 0; i < count; i++) {
        calls.push_back(std::make_unique<DeviceAttention>(few_queries()));
        calls.back()->args.cuda_stream = &streams[i];
    }
    gyre_status statuses[count];
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] { statuses[i] = gyre_attention(queued.context, &calls[i]->args); });
    for (std::thread &t : threads) t.join();
    for (int i = 0; i < count; i++) {
        CHECK(statuses[i] == GYRE_OK);
        calls[i]->device.fetch();
        CHECK(calls[i]->c.out.bits() == alone.c.out.bits());
    }
}
