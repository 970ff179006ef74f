/// Which rows the threads of a call begin with: those that share a key head take its rows in turn, because late rows see more keys than early ones.
#include "support/each_kernel.h"

#include <gyre/kernels.h>

#include <HalideRuntime.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void);

namespace {

constexpr int64_t tokens = 1024, head_dim = 64;

thread_local int place; // of a thread of the host's pool; -1: of the caller
std::atomic<int> begun;
std::vector<int64_t> first_rows; // of the threads' places
const float *queries;
size_t place_of_q; // among the kernel's arguments

/// A kernel that computes nothing. Its first task in each of two threads stays until both have one.
int note_rows(void **arguments) {
    const auto *q = static_cast<const halide_buffer_t *>(arguments[place_of_q]);
    if (place < 0 || first_rows[static_cast<size_t>(place)] >= 0) return 0;
    first_rows[static_cast<size_t>(place)] = (reinterpret_cast<const float *>(q->host) - queries) / head_dim;
    begun++;
    for (long i = 0; begun < 2 && i < 20000000; i++) std::this_thread::yield(); // we may despair
    return 0;
}

void run_in_threads(void *, int32_t count, void (*task)(void *, int32_t), void *state) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < count; i++)
        threads.emplace_back([=] {
            place = i;
            task(state, i);
        });
    for (std::thread &t : threads) t.join();
}

/// A kernel that calls for plain attention in f32 can take; nullptr: there is none.
const gyre_kernel *plain_kernel() {
    const std::vector<std::string> targets = gyre::test::runnable_targets();
    const gyre_kernel_library *library = gyre_prebuilt_kernels();
    for (size_t i = 0; library && i < library->count; i++) {
        const gyre_kernel &k = library->kernels[i];
        const bool runs = std::find(targets.begin(), targets.end(), k.target) != targets.end();
        if (runs && std::string(k.name) == std::string("attention_plain_f32_d64__") + k.target) return &k;
    }
    return nullptr;
}

/// The first rows of two threads, [heads, tokens], in causal attention.
std::vector<int64_t> rows_begun(const gyre_kernel &plain, int64_t heads) {
    gyre_kernel noting = plain;
    noting.call = note_rows;
    const halide_filter_metadata_t *said = plain.metadata();
    for (int32_t i = 0; i < said->num_arguments; i++)
        if (std::string(said->arguments[i].name) == "q") place_of_q = static_cast<size_t>(i);
    const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, "rows", &noting, 1};
    REQUIRE(gyre_register_kernels(&library) == GYRE_OK);
    gyre_context_options options = gyre_context_defaults();
    options.threads = 2;
    options.target = plain.target;
    options.parallel_for = run_in_threads;
    options.library = library.name;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    const int64_t shape[4] = {1, heads, tokens, head_dim};
    std::vector<float> numbers(static_cast<size_t>(heads * tokens * head_dim)), out(numbers.size());
    gyre_attention_args args = gyre_attention_defaults();
    args.layout = GYRE_BHSD;
    args.q = args.k = args.v = gyre_tensor_dense(numbers.data(), GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
    args.causal = 1;
    queries = numbers.data();
    place = -1;
    begun = 0;
    first_rows.assign(2, -1);
    CHECK_MESSAGE(gyre_attention(context, &args) == GYRE_OK, gyre::test::text(gyre_last_error()));
    gyre_context_destroy(context);
    CHECK(gyre_unregister_kernels(&library) == GYRE_OK);
    return first_rows;
}

} // namespace

TEST_CASE("threads take rows of one key head in turn, and else begin with the last rows of heads of their own") {
    const gyre_kernel *plain = plain_kernel();
    if (!plain) return;
    const std::vector<int64_t> shared = rows_begun(*plain, 1);
    CHECK(shared[0] > shared[1]);
    CHECK(shared[1] >= tokens / 2); // the second half is cut into more than one task
    const std::vector<int64_t> apart = rows_begun(*plain, 2);
    CHECK(apart[1] == apart[0] + tokens);
}
