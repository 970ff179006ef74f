#include "patched_code.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>

// What a stub calls, with the address of its Patch above the return address. General registers lie on the stack by their numbers,
// beneath them vectors and masks, which the routine may use.
asm(R"(
    .text
    .p2align 4
    .globl gyre_enter_patch
    .hidden gyre_enter_patch
    .type gyre_enter_patch, @function
gyre_enter_patch:
    pushfq
    .irp name, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax
    push %\name
    .endr
    lea 280(%rsp), %rax
    mov %rax, 32(%rsp)
    mov %rsp, %rbp
    cld
    sub $2176, %rsp
    and $-64, %rsp
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovups %zmm\n, \n*64(%rsp)
    .endr
    .irp n, 0,1,2,3,4,5,6,7
    kmovq %k\n, 2048+\n*8(%rsp)
    .endr
    stmxcsr 2112(%rsp)
    mov 144(%rbp), %rdi
    mov %rbp, %rsi
    mov %rsp, %rdx
    call gyre_run_patch
    ldmxcsr 2112(%rsp)
    .irp n, 0,1,2,3,4,5,6,7
    kmovq 2048+\n*8(%rsp), %k\n
    .endr
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovups \n*64(%rsp), %zmm\n
    .endr
    mov %rbp, %rsp
    .irp name, rax, rcx, rdx, rbx
    pop %\name
    .endr
    lea 8(%rsp), %rsp
    .irp name, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
    pop %\name
    .endr
    popfq
    ret
    .size gyre_enter_patch, .-gyre_enter_patch
)");

extern "C" void gyre_enter_patch();

namespace gyre::test {
namespace {

struct Patch {
    PatchRoutine routine;
    const void *what;
};

/// Executable memory that jumps of 32 bits reach.
struct Stubs {
    static constexpr size_t bytes = 1 << 20;
    uint8_t *begin = nullptr, *free = nullptr;
};

bool reaches(const uint8_t *from, const uint8_t *to) {
    const int64_t distance = to - from;
    return distance == static_cast<int32_t>(distance);
}

uint8_t *allocate(const uint8_t *near, size_t size) {
    static Stubs stubs;
    if (!stubs.begin || stubs.free + size > stubs.begin + Stubs::bytes || !reaches(near, stubs.begin) ||
        !reaches(near, stubs.begin + Stubs::bytes)) {
        const auto around = reinterpret_cast<uintptr_t>(near) & ~(Stubs::bytes - 1);
        void *found = MAP_FAILED;
        for (uintptr_t step = 1; found == MAP_FAILED && step < 1000; step++)
            found = mmap(reinterpret_cast<void *>(around + step * Stubs::bytes), Stubs::bytes,
                         PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (found == MAP_FAILED) return nullptr;
        stubs.begin = stubs.free = static_cast<uint8_t *>(found);
    }
    uint8_t *allocated = stubs.free;
    stubs.free += size;
    return allocated;
}

void write_jump(uint8_t *at, const uint8_t *to) {
    const auto distance = static_cast<int32_t>(to - (at + jump_bytes));
    at[0] = 0xe9;
    std::memcpy(at + 1, &distance, sizeof distance);
}

bool make_writable(uint8_t *at) {
    constexpr uintptr_t page = 4096;
    const auto first = reinterpret_cast<uintptr_t>(at) & ~(page - 1);
    const auto end = (reinterpret_cast<uintptr_t>(at) + jump_bytes + page - 1) & ~(page - 1);
    return mprotect(reinterpret_cast<void *>(first), end - first, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

/// Asking takes longer than a signal: that there are several stands for many calls.
bool has_one_thread() {
    static std::atomic<int> unasked{0};
    if (unasked > 0) {
        unasked--;
        return false;
    }
    std::error_code error;
    const std::filesystem::directory_iterator threads("/proc/self/task", error);
    const bool one = !error && std::distance(begin(threads), end(threads)) == 1;
    if (!one) unasked = 1000;
    return one;
}

} // namespace

bool patch_code(uint8_t *at, const uint8_t *next, PatchRoutine routine, const void *what) {
    // lea -128(%rsp), %rsp: what the interrupted code has there, below its stack, stays; push of the Patch's address in two halves;
    // call of gyre_enter_patch, whose address lies behind; lea 136(%rsp), %rsp; jump.
    constexpr uint8_t code[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x68, 0,    0,  0, 0, 0xc7, 0x44, 0x24,
                                0x04, 0,    0,    0,    0,    0xff, 0x15, 13, 0, 0, 0,    0x48, 0x8d,
                                0xa4, 0x24, 0x88, 0,    0,    0,    0xe9, 0,  0, 0, 0};
    constexpr size_t low_half = 6, high_half = 14, jump = 32;
    if (!has_one_thread()) return false;
    uint8_t *stub = allocate(at, sizeof code + sizeof(void *));
    if (!stub || !make_writable(at)) return false;
    const auto address = reinterpret_cast<uintptr_t>(new Patch{routine, what}); // as long as the code is
    const auto low = static_cast<uint32_t>(address), high = static_cast<uint32_t>(address >> 32);
    const auto enter = reinterpret_cast<uintptr_t>(&gyre_enter_patch);
    std::memcpy(stub, code, sizeof code);
    std::memcpy(stub + low_half, &low, sizeof low);
    std::memcpy(stub + high_half, &high, sizeof high);
    std::memcpy(stub + sizeof code, &enter, sizeof enter);
    write_jump(stub + jump, next);
    write_jump(at, stub);
    return true;
}

bool patch_byte(uint8_t *at, uint8_t value) {
    if (!make_writable(at)) return false;
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST); // other threads read the one instruction or the other
    return true;
}

} // namespace gyre::test

extern "C" __attribute__((used, visibility("hidden"))) void gyre_run_patch(const void *address, int64_t *general,
                                                                           uint8_t (*vectors)[64]) {
    const auto *patch = static_cast<const gyre::test::Patch *>(address);
    patch->routine(patch->what, {general, vectors});
}
