/// Large blocks of `new`, of aligned_alloc(), from which workspaces come, and of malloc(), from which Halide's runtime takes kernels'
/// blocks, in a program with AddressSanitizer. Its allocator maps each block over 256 KiB anew and unmaps it, and the work of the
/// operating system on those pages took a third of the time of tests with assertions. Here they are kept and given out again, the
/// longest free first. Accesses beyond a block, and to one that was freed and not given out again, are found as before
/// (use-after-poison); one that nobody frees is not told of. Smaller blocks and arrays are AddressSanitizer's.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

extern "C" {
void __asan_poison_memory_region(const volatile void *, size_t);
void __asan_unpoison_memory_region(const volatile void *, size_t);
void __lsan_register_root_region(const void *, size_t);
void __lsan_unregister_root_region(const void *, size_t);
// The linker gives the program's own calls to __wrap_…() (--wrap).
void *__real_aligned_alloc(size_t, size_t);
void *__real_malloc(size_t);
void __real_free(void *);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void __wrap_free(void *pointer);
}

namespace {

constexpr size_t least = size_t{1} << 18, reserved = size_t{1} << 36, page = 4096;
constexpr int classes = 96; // of sizes, four to each power of two

/// Stands in the page before a block, which is poisoned but for this code.
struct Header {
    Header *next;
    size_t size;
    int of_class;
};

struct List {
    Header *first, *last;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
unsigned char *start, *end;
List free_blocks[classes];

/// The smallest class that holds `size` bytes, and what it holds.
int class_of(size_t size, size_t &room) {
    room = least;
    for (int c = 0;; c++) {
        if (size <= room) return c;
        const size_t power = size_t{1} << (63 - __builtin_clzll(room));
        room += power / 4;
    }
}

bool reserve() {
    if (start) return true;
    void *all = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    start = end = static_cast<unsigned char *>(all);
    return true;
}

/// A block of the class with its header; null where there is no more address space.
Header *take(int of_class, size_t room) {
    List &list = free_blocks[of_class];
    if (Header *const kept = list.first) {
        list.first = kept->next;
        return kept;
    }
    const size_t bytes = page + (room + 2 * page - 1) / page * page; // a page that stays poisoned follows
    if (!reserve() || bytes > reserved - (size_t)(end - start)) return nullptr;
    auto *const fresh = reinterpret_cast<Header *>(end);
    __asan_poison_memory_region(end, bytes);
    end += bytes;
    fresh->of_class = of_class;
    return fresh;
}

void *take_block(size_t size) {
    size_t room;
    const int of_class = class_of(size, room);
    pthread_mutex_lock(&mutex);
    Header *const header = of_class < classes ? take(of_class, room) : nullptr;
    pthread_mutex_unlock(&mutex);
    if (!header) return nullptr;
    header->size = size;
    unsigned char *const block = reinterpret_cast<unsigned char *>(header) + page;
    __asan_unpoison_memory_region(block, size);
    __lsan_register_root_region(block, size);
    return block;
}

void give_back(unsigned char *block) {
    auto *const header = reinterpret_cast<Header *>(block - page);
    __lsan_unregister_root_region(block, header->size);
    __asan_poison_memory_region(block, header->size);
    pthread_mutex_lock(&mutex);
    List &list = free_blocks[header->of_class];
    header->next = nullptr;
    (list.first ? list.last->next : list.first) = header;
    list.last = header;
    pthread_mutex_unlock(&mutex);
}

/// AddressSanitizer's own function of that name.
template <typename F>
F own(const char *name) {
    return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// True if it was one of these blocks.
bool is_given_back(void *pointer) {
    auto *const block = static_cast<unsigned char *>(pointer);
    if (block < start || block >= end) return false;
    give_back(block);
    return true;
}

void free_block(void *pointer) {
    if (is_given_back(pointer)) return;
    static const auto rest = own<void (*)(void *)>("_ZdlPv");
    rest(pointer);
}

} // namespace

void *operator new(size_t size) {
    if (size >= least)
        if (void *const block = take_block(size)) return block;
    static const auto rest = own<void *(*)(size_t)>("_Znwm");
    return rest(size);
}
void operator delete(void *pointer) noexcept { free_block(pointer); }
void operator delete(void *pointer, size_t) noexcept { free_block(pointer); }

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    if (size >= least && alignment <= page)
        if (void *const block = take_block(size)) return block;
    return __real_aligned_alloc(alignment, size);
}
void *__wrap_malloc(size_t size) {
    if (size >= least)
        if (void *const block = take_block(size)) return block;
    return __real_malloc(size);
}
void __wrap_free(void *pointer) {
    if (!is_given_back(pointer)) __real_free(pointer);
}
