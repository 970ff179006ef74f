/// Calls run on the program's own thread pool, through one callback. Here it is as plain as can be: a thread a task.
#include <gyre/gyre.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct Pool {
    std::atomic<int> tasks{0};
};

/// Runs task(state, 0) … task(state, count - 1) and returns when all are done.
void parallel_for(void *pool, std::int32_t count, void (*task)(void *state, std::int32_t index), void *state) {
    static_cast<Pool *>(pool)->tasks += count;
    std::vector<std::thread> threads;
    for (std::int32_t index = 1; index < count; index++) threads.emplace_back(task, state, index);
    task(state, 0);
    for (std::thread &thread : threads) thread.join();
}

} // namespace

int main() try {
    constexpr std::int64_t tokens = 512, heads = 8, dim = 64;
    std::vector<float> q(tokens * heads * dim), own(q.size()), pooled(q.size());
    for (std::size_t i = 0; i < q.size(); i++) q[i] = static_cast<float>(i % 97) / 97;
    gyre::AttentionArgs args;
    args.q = args.k = args.v = gyre::view(q, {1, tokens, heads, dim});
    args.causal = 1;

    Pool pool;
    gyre_context_options options = gyre_context_defaults();
    options.threads = 4; // parallel_for is asked for at most so many tasks
    options.parallel_for = parallel_for;
    options.pool = &pool;
    args.out = gyre::view(pooled, {1, tokens, heads, dim});
    gyre::attention(gyre::Context(options), args);
    args.out = gyre::view(own, {1, tokens, heads, dim});
    gyre::attention(nullptr, args);
    std::printf("%d tasks on the program's pool\n", pool.tasks.load());
    return pool.tasks > 0 && own == pooled ? 0 : 1; // bit for bit, whatever the threads
} catch (const gyre::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
