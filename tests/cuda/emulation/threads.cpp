#include "threads.h"

#include "block.h"
#include "shared.h"

#include <memory>
#include <vector>

#include <ucontext.h>

namespace gyre::emulation {
namespace {

constexpr size_t stack_bytes = 128 << 10;

struct Fiber {
    Thread thread;
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done = false, waits = false;
};

std::vector<Fiber> fibers;
Fiber *running = nullptr;
ucontext_t scheduler;
const std::function<void()> *body = nullptr;

void run_fiber() {
    (*body)();
    running->done = true;
    swapcontext(&running->context, &scheduler);
}

void start(Fiber &fiber, int x, int y) {
    fiber.thread = {x, y};
    fiber.done = fiber.waits = false;
    if (!fiber.stack) fiber.stack.reset(new char[stack_bytes]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, run_fiber, 0);
}

} // namespace

void run_threads(int x, int y, const std::function<void()> &kernel) {
    body = &kernel;
    fibers.resize(static_cast<size_t>(x) * static_cast<size_t>(y));
    for (int i = 0; i < x * y; i++) start(fibers[static_cast<size_t>(i)], i % x, i / x);
    for (bool forwards = true;; forwards = !forwards) { // no order of threads is to be relied on
        size_t done = 0, waiting = 0;
        for (size_t i = 0; i < fibers.size(); i++) {
            Fiber &fiber = fibers[forwards ? i : fibers.size() - 1 - i];
            if (!fiber.done) {
                fiber.waits = false;
                running = &fiber;
                block->thread = &fiber.thread;
                swapcontext(&scheduler, &fiber.context);
            }
            done += fiber.done, waiting += fiber.waits;
        }
        if (waiting && done) violation("a barrier is not reached by every thread of the block");
        if (!waiting) break;
        next_epoch();
    }
    fibers.clear();
}

void wait_for_block() {
    running->waits = true;
    swapcontext(&running->context, &scheduler);
}

} // namespace gyre::emulation
