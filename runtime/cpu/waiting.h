/// Waiting for what happens soon.
#pragma once
#include <chrono>

namespace gyre {

/// Tells the processor that this is a loop that waits.
inline void relax_processor() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Looks for `happened` for a while, without giving the processor back: what follows soon, as the next loop of a call
/// does, then need not wake a thread, which takes tens of microseconds. Whoever looked in vain sleeps.
template <typename Condition>
void look_for(const Condition &happened) {
    constexpr std::chrono::microseconds look_time{50};
    const auto end = std::chrono::steady_clock::now() + look_time;
    do
        for (int i = 0; i < 16; i++) {
            if (happened()) return;
            relax_processor();
        }
    while (std::chrono::steady_clock::now() < end);
}

} // namespace gyre
