#include "rings.h"

#include "block.h"
#include "threads.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace gyre::emulation {
namespace {

using Clock = std::vector<uint32_t>; // the last time that is known of each thread

struct Word {
    int count = 0, left = 0;
    unsigned phase = 0;  // that has not ended
    Clock known, before; // of those who came in this phase, and in the last
};

std::map<const void *, Word> words;
std::vector<Clock> clocks;
uint32_t now = 0;

void join(Clock &to, const Clock &from) {
    for (size_t i = 0; i < to.size(); i++) to[i] = std::max(to[i], from[i]);
}

void come(Word &word, const Clock &known) {
    join(word.known, known);
    if (--word.left) return;
    word.left = word.count;
    word.phase++;
    word.before = word.known;
    word.known.assign(clocks.size(), 0);
}

Word *find(const void *word) {
    const auto found = words.find(word);
    if (found == words.end()) violation("a word of shared memory counts before it was begun");
    return found == words.end() ? nullptr : &found->second;
}

} // namespace

void begin_rings(size_t threads) {
    words.clear();
    now = 0;
    clocks.assign(threads, Clock(threads, 0));
}

bool has_rings() { return !words.empty(); }
uint32_t tick_of(size_t thread) { return clocks[thread][thread] = ++now; }
uint32_t tick() { return tick_of(running_thread()); }
size_t thread_count() { return clocks.size(); }
const uint32_t *known_times() { return clocks[running_thread()].data(); }

void meet(const std::vector<size_t> &threads) {
    if (words.empty()) return;
    Clock all(clocks.size(), 0);
    for (const size_t thread : threads) {
        tick_of(thread);
        join(all, clocks[thread]);
    }
    for (const size_t thread : threads) clocks[thread] = all;
}

void begin_word(const void *word, int count) {
    Word &w = words[word];
    w.count = w.left = count;
    w.phase = 0;
    w.known.assign(clocks.size(), 0);
    w.before.assign(clocks.size(), 0);
}

void arrive_at(const void *word) {
    tick();
    if (Word *w = find(word)) come(*w, clocks[running_thread()]);
}

void arrive_with_warp(const Lane (&lanes)[32]) {
    const size_t first = running_thread() / 32 * 32;
    std::vector<size_t> warp(32);
    std::iota(warp.begin(), warp.end(), first);
    meet(warp);
    arrive_at(*static_cast<const void *const *>(lanes[0].in));
}

bool WordWait::is_over() const {
    const auto found = word ? words.find(word) : words.end();
    return found == words.end() || found->second.phase % 2 != parity;
}

void wait_at(const void *word, unsigned parity) {
    const WordWait wait{word, parity};
    if (!find(word)) return;
    if (!wait.is_over()) wait_for_word(wait);
    join(clocks[running_thread()], find(word)->before);
}

} // namespace gyre::emulation
