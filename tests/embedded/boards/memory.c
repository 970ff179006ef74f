/* The memory functions that gyre_embedded needs, where there is no C library; and what the linker script knows. */
#include "board.h"

extern unsigned char stack_bottom[], stack_top[], library_begin[], library_end[];

enum { paint = 0x5a, own_frame = 256 };

/* volatile, or the compiler would see memset() and memcpy() in these loops. */
void *memset(void *to, int value, size_t bytes) {
    const uint32_t word = (unsigned char)value * 0x01010101u;
    volatile unsigned char *p = to;
    for (; bytes && (uintptr_t)p % 4; bytes--) *p++ = (unsigned char)value;
    for (; bytes >= 4; bytes -= 4, p += 4) *(volatile uint32_t *)(volatile void *)p = word;
    while (bytes--) *p++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    volatile unsigned char *p = to;
    const unsigned char *q = from;
    if (((uintptr_t)p | (uintptr_t)q) % 4 == 0)
        for (; bytes >= 4; bytes -= 4, p += 4, q += 4)
            *(volatile uint32_t *)(volatile void *)p = *(const uint32_t *)(const void *)q;
    while (bytes--) *p++ = *q++;
    return to;
}

#ifdef __arm__ /* the same by the names of ARM's run-time ABI, which LLVM calls */
void __aeabi_memclr(void *to, size_t bytes) { memset(to, 0, bytes); }
void __aeabi_memclr4(void *to, size_t bytes) { memset(to, 0, bytes); }
void __aeabi_memclr8(void *to, size_t bytes) { memset(to, 0, bytes); }
void __aeabi_memset4(void *to, size_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memset8(void *to, size_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memcpy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void __aeabi_memcpy4(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void __aeabi_memcpy8(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
#endif

void board_paint_stack(void) {
    unsigned char here;
    for (volatile unsigned char *p = stack_bottom; (uintptr_t)p < (uintptr_t)&here - own_frame; p++) *p = paint;
}

size_t board_stack_used(const void *below) {
    const volatile unsigned char *p = stack_bottom;
    const volatile unsigned char *const end = below;
    while (p < end && *p == paint) p++;
    return (size_t)(end - p);
}

size_t board_library_bytes(void) { return (size_t)(library_end - library_begin); }
