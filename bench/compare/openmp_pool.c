/* A program's OpenMP threads as gyre_parallel_for, and a loop of theirs that reads memory and does nothing else. */
#include <stdint.h>

void run_in_openmp(void *pool, int32_t count, void (*task)(void *state, int32_t index), void *state) {
    (void)pool;
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int32_t i = 0; i < count; i++) task(state, i);
}

/* Returns something of all numbers, lest the compiler leave them out. */
uint64_t read_numbers(const uint64_t *numbers, int64_t count, int32_t threads) {
    uint64_t all = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(^ : all)
    for (int64_t i = 0; i < count; i++) all ^= numbers[i];
    return all;
}
