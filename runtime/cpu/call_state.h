/// What a call changes of the thread that runs it, and gives back at its end.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__) && !defined(__arm__)
#include <cfenv>
#endif
#if defined(__linux__) && !defined(__ANDROID__)
#include <pthread.h>
#endif

namespace gyre {

/// The floating-point modes that results are documented for: rounding to nearest even, subnormals as they are, no traps. Bits
/// then depend neither on the caller's modes nor on which thread runs a task. The caller's modes come back, flags included.
class FloatingPointModes {
public:
    FloatingPointModes(const FloatingPointModes &) = delete;
    FloatingPointModes &operator=(const FloatingPointModes &) = delete;

#if defined(__x86_64__)
    FloatingPointModes() : before(_mm_getcsr()) { _mm_setcsr(0x1f80); } // all exceptions masked
    ~FloatingPointModes() { _mm_setcsr(before); }

private:
    const unsigned before;
#elif defined(__aarch64__)
    FloatingPointModes() {
        __asm__ volatile("mrs %0, fpcr" : "=r"(before));
        __asm__ volatile("msr fpcr, %0" : : "r"(0ul) : "memory");
    }
    ~FloatingPointModes() { __asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory"); }

private:
    unsigned long before;
#elif defined(__arm__)
    FloatingPointModes() {
        __asm__ volatile("vmrs %0, fpscr" : "=r"(before));
        __asm__ volatile("vmsr fpscr, %0" : : "r"(0u) : "memory");
    }
    ~FloatingPointModes() { __asm__ volatile("vmsr fpscr, %0" : : "r"(before) : "memory"); }

private:
    unsigned before;
#else
    FloatingPointModes() {
        std::fegetenv(&before);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatingPointModes() { std::fesetenv(&before); }

private:
    std::fenv_t before;
#endif
};

/// Puts cancellation off: a thread that pthread_cancel() ends within a call would leave the context locked. restore() is a
/// function rather than the destructor, because a thread may end there, where cancellation is asynchronous.
class CancellationOff {
public:
    CancellationOff(const CancellationOff &) = delete;
    CancellationOff &operator=(const CancellationOff &) = delete;

#if defined(__linux__) && !defined(__ANDROID__)
    CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); }
    void restore() const { pthread_setcancelstate(before, nullptr); }

private:
    int before = 0;
#else
    CancellationOff() {}
    void restore() const {}
#endif
};

} // namespace gyre
