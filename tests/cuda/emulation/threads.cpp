#include "threads.h"

#include "block.h"
#include "copies.h"
#include "shared.h"
#include "warpgroups.h"

#include <memory>
#include <numeric>
#include <vector>

#include <ucontext.h>

namespace gyre::emulation {
namespace {

constexpr int warp_lanes = 32;

/// The place at which the lanes of a warp wait for each other.
struct Meeting {
    Lane lanes[warp_lanes];
    int arrived = 0;
    long turn = 0;
    void (*act)(const Lane (&)[warp_lanes]) = nullptr;
    const void *place = nullptr; // in the kernel
};

constexpr size_t stack_bytes = 128 << 10;

/// The place at which execution goes on, as __builtin_setjmp() writes it.
struct Place {
    void *words[5];
};

struct Fiber {
    Thread thread;
    Place place;
    bool started = false;
    std::unique_ptr<char[]> stack;
    bool done = false, waits = false;
    const Meeting *meets = nullptr; // that has not taken place yet
    long turn = 0;                  // of it
    size_t asked = 0;               // any_of_block()
    bool waits_for_first = false;   // any_of_first()
    WordWait word;                  // that it waits at; nullptr: none
};

/// Where the first threads of a block wait for each other.
struct First {
    std::vector<size_t> arrived;
    bool any = false, found[2] = {};
    size_t turn = 0;
};

std::vector<Fiber> fibers;
First first;
std::vector<Meeting> meetings; // one a warp
bool any[3];                   // of any_of_block()
Fiber *running = nullptr;
Place scheduler;
const std::function<void()> *body = nullptr;

// Fibers switch at every operation of a warp. swapcontext() would call the kernel twice each time, and the sanitizer's would
// clear what it knows of the whole stack.
[[gnu::noinline, gnu::no_sanitize_address, noreturn]] void jump(Place &to) { __builtin_longjmp(to.words, 1); }
#if __has_cpp_attribute(                                                                                               \
    gnu::noipa) // else callers keep in registers what this one does not touch, but what runs meanwhile does
[[gnu::noipa]]
#endif
[[gnu::noinline, gnu::no_sanitize_address]] void switch_to(Place &from, Place &to) {
    if (!__builtin_setjmp(from.words)) jump(to);
}

[[gnu::no_sanitize_address]] void run_fiber() {
    (*body)();
    running->done = true;
    jump(scheduler);
}

[[gnu::noinline, gnu::no_sanitize_address, noreturn]] void enter(Fiber &fiber) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_fiber, 0);
    setcontext(&context);
    __builtin_unreachable();
}

[[gnu::noinline, gnu::no_sanitize_address]] void go_on(Fiber &fiber) {
    if (__builtin_setjmp(scheduler.words)) return;
    if (fiber.started) jump(fiber.place);
    fiber.started = true;
    enter(fiber);
}

void wait_for_turn() { switch_to(running->place, scheduler); }

void prepare(Fiber &fiber, int x, int y) {
    fiber.thread = {x, y};
    fiber.started = fiber.done = fiber.waits = false;
    fiber.meets = nullptr;
    fiber.asked = 0;
    fiber.waits_for_first = false;
    fiber.word = {};
    if (!fiber.stack) fiber.stack.reset(new char[stack_bytes]);
}

} // namespace

void run_threads(int x, int y, const std::function<void()> &kernel) {
    body = &kernel;
    fibers.resize(static_cast<size_t>(x) * static_cast<size_t>(y));
    meetings.assign(fibers.size() / warp_lanes + 1, Meeting());
    for (int i = 0; i < x * y; i++) prepare(fibers[static_cast<size_t>(i)], i % x, i / x);
    begin_copies(fibers.size());
    begin_warpgroups(fibers.size());
    begin_rings(fibers.size());
    first = {};
    any[0] = any[1] = any[2] = false;
    for (bool forwards = true;; forwards = !forwards) { // no order of threads is to be relied on
        size_t done = 0, waiting = 0, ran = 0;
        for (size_t i = 0; i < fibers.size(); i++) {
            Fiber &fiber = fibers[forwards ? i : fibers.size() - 1 - i];
            const bool meets = fiber.meets && fiber.meets->turn == fiber.turn;
            if (!fiber.done && !fiber.waits && !meets && !fiber.waits_for_first && fiber.word.is_over()) {
                running = &fiber;
                block->thread = &fiber.thread;
                go_on(fiber);
                ran++;
            }
            done += fiber.done;
            waiting += fiber.waits;
        }
        if (done == fibers.size()) return end_warpgroups();
        if (ran) continue;
        if (waiting + done < fibers.size()) {
            violation("threads wait for others that do not come");
            break;
        }
        if (done) violation("a barrier is not reached by every thread of the block");
        for (Fiber &fiber : fibers) fiber.waits = false;
        next_epoch();
        std::vector<size_t> all(fibers.size());
        std::iota(all.begin(), all.end(), 0);
        meet(all);
    }
    fibers.clear(); // with the stacks that were left in the middle
}

void with_warp(const void *in, void *out, void (*act)(const Lane (&)[32])) {
    const size_t index = static_cast<size_t>(running - fibers.data());
    Meeting &meeting = meetings[index / warp_lanes];
    const void *const place = __builtin_return_address(0);
    if (meeting.arrived && (meeting.act != act || meeting.place != place))
        violation("lanes of a warp meet in different operations");
    meeting.act = act;
    meeting.place = place;
    meeting.lanes[index % warp_lanes] = {in, out};
    if (++meeting.arrived == warp_lanes) {
        act(meeting.lanes);
        meeting.arrived = 0;
        meeting.turn++;
        return;
    }
    running->meets = &meeting;
    running->turn = meeting.turn;
    wait_for_turn();
    running->meets = nullptr;
}

bool any_of_first(size_t threads, bool condition) {
    if (running_thread() >= threads) violation("a thread waits for others that it is none of");
    const size_t turn = first.turn;
    first.any = first.any || condition;
    first.arrived.push_back(running_thread());
    if (first.arrived.size() < threads) {
        running->waits_for_first = true;
        wait_for_turn();
        return first.found[turn % 2];
    }
    first.found[turn % 2] = first.any;
    first.any = false;
    first.turn++;
    meet(first.arrived);
    for (const size_t thread : first.arrived) fibers[thread].waits_for_first = false;
    first.arrived.clear();
    return first.found[turn % 2];
}

void wait_for_word(const WordWait &wait) {
    running->word = wait;
    wait_for_turn();
    running->word = {};
}

Thread *thread_at(size_t thread) { return &fibers[thread].thread; }

size_t running_thread() { return static_cast<size_t>(running - fibers.data()); }

void wait_for_block() {
    running->waits = true;
    wait_for_turn();
}

// Barriers take words in turn: a thread may be at the next one before another has looked at this one's word, by when all have
// looked at the word of the one before.
bool any_of_block(bool condition) {
    const size_t turn = running->asked++;
    any[turn % 3] = any[turn % 3] || condition;
    wait_for_block();
    any[(turn + 2) % 3] = false;
    return any[turn % 3];
}

} // namespace gyre::emulation
