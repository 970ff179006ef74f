/// Calls from several threads at once, under ThreadSanitizer: contexts that are made by the first call, apart, shared, and that come
/// and go; libraries of kernels that come and go; a host's pool. Every call gives the bits that it gives alone.
#include "../faults/operations.h"
#include "../support/said_arguments.h"
#include "races.h"

#include <gyre/kernels.h>

using namespace gyre::test;

namespace {

/// A call that several threads share, with memory of its own.
struct Call {
    std::vector<float> numbers, out;
    gyre_attention_args args = gyre_attention_defaults();
    gyre_rope rope = gyre_rope_defaults();

    Call() : numbers(2 * 64 * 2 * 64), out(numbers.size()) {
        for (size_t i = 0; i < numbers.size(); i++) numbers[i] = (float)(i % 13) / 13;
        const int64_t shape[4] = {2, 64, 2, 64};
        args.q = args.k = args.v = gyre_tensor_dense(numbers.data(), GYRE_F32, 4, shape);
        args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
        args.causal = 1;
        args.rope = &rope;
    }
    void run(gyre_context *context, const char *what) {
        out.assign(out.size(), -1);
        expect(gyre_attention(context, &args) == GYRE_OK, what);
        expect(*gyre_selected_kernel(context), "no name of a kernel");
    }
};

/// The first thing that this process does.
void call_first() {
    std::vector<Call> calls(callers);
    in_threads(callers, [&](int i) { calls[(size_t)i].run(nullptr, "the first call"); });
    for (const Call &call : calls) expect(call.out == calls[0].out, "the first call gave other bits");
}

gyre_context *create(int32_t threads, gyre_parallel_for pool = nullptr) {
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    options.parallel_for = pool;
    gyre_context *context = nullptr;
    expect(gyre_context_create(&options, &context) == GYRE_OK, "a context");
    return context;
}

/// Twice as wide as promised, in any order.
void run_in_threads(void *, int32_t count, void (*task)(void *, int32_t), void *state) {
    in_threads(2 * count, [&](int i) { task(state, i); });
}

void share_contexts(const std::vector<float> &expected) {
    gyre_context *const contexts[] = {create(1), create(3), create(3, run_in_threads), nullptr};
    std::vector<Call> calls(callers);
    for (gyre_context *context : contexts)
        in_threads(callers, [&](int i) {
            Call &call = calls[(size_t)i];
            for (int round = 0; round < rounds; round++) {
                call.run(context, "a shared context");
                expect(call.out == expected, "a shared context gave other bits");
            }
        });
    for (gyre_context *context : contexts)
        if (context) gyre_context_destroy(context);
}

/// Every operation in contexts that come and go, beside threads that ask for kernels, are refused, and register libraries.
void run_operations() {
    std::vector<std::vector<Operation>> sets;
    for (int i = 0; i < callers; i++) {
        Kind kind;
        kind.threads = 1 + i % 3;
        sets.push_back(operations(kind));
    }
    std::vector<std::vector<float>> alone;
    for (const std::vector<Operation> &set : sets)
        for (const Operation &o : set) {
            expect(o.run() == GYRE_OK, o.name);
            if (o.written) alone.push_back(*o.written);
        }
    std::atomic<int> at_work{callers};
    in_threads(callers + 1, [&](int i) {
        if (i == callers) {
            while (at_work > 0)
                for (const Operation &o : sets[0])
                    if (o.name == "looking around" || o.name == "refusals") expect(o.run() == GYRE_OK, o.name);
            return;
        }
        for (int round = 0; round < rounds; round++)
            for (const Operation &o : sets[(size_t)i])
                if (o.written) expect(o.run() == GYRE_OK, o.name);
        at_work--;
    });
    size_t next = 0;
    for (const std::vector<Operation> &set : sets)
        for (const Operation &o : set)
            if (o.written) expect(*o.written == alone[next++], o.name + " gave other bits");
}

int called(void **) {
    expect(false, "a kernel was called that no call may take");
    return 0;
}

/// Libraries of kernels come and go beside calls, which take others, beside contexts that are bound to them, and beside lists of all.
void register_beside_calls(const std::vector<float> &expected) {
    const gyre_kernel foreign = {"rotary_f32_half__arm_64_bf16",
                                 "rotary",
                                 "f32_half",
                                 "arm_64_bf16",
                                 "dtype=float32 pairing=half workspace=0",
                                 "",
                                 called,
                                 nullptr,
                                 rotary_metadata};
    std::atomic<int> at_work{callers};
    const auto come_and_go = [&](const char *name) {
        const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, name, &foreign, 1};
        while (at_work > 0) {
            expect(gyre_register_kernels(&library) == GYRE_OK, "registering");
            gyre_context_options options = gyre_context_defaults();
            options.library = name;
            gyre_context *bound = nullptr;
            if (gyre_context_create(&options, &bound) == GYRE_OK) gyre_context_destroy(bound);
            expect(gyre_unregister_kernels(&library) == GYRE_OK, "unregistering");
        }
    };
    std::vector<Call> calls(callers);
    in_threads(callers + 3, [&](int i) {
        if (i == callers) return come_and_go("one");
        if (i == callers + 1) return come_and_go("other");
        if (i == callers + 2) {
            gyre_kernel_info info;
            while (at_work > 0)
                for (int32_t n = 0; gyre_kernel_at(n, &info); n += 7)
                    expect(info.name && *info.name, "a kernel's name");
            return;
        }
        gyre_context *const own = i % 2 ? create(2) : nullptr;
        for (int round = 0; round < 4 * rounds; round++) {
            calls[(size_t)i].run(own, "a call beside registering");
            expect(calls[(size_t)i].out == expected, "a call beside registering gave other bits");
        }
        if (own) gyre_context_destroy(own);
        at_work--;
    });
}

} // namespace

int main() {
    call_first();
    Call alone;
    gyre_context *const context = create(1);
    alone.run(context, "a call alone");
    gyre_context_destroy(context);
    share_contexts(alone.out);
    run_operations();
    register_beside_calls(alone.out);
    std::printf("%d failure(s)\n", failures.load());
    return failures != 0;
}
