/// Accesses that AddressSanitizer must report, to large blocks of each kind (large_blocks.cpp).
///
///     gyre_large_blocks <new, malloc or aligned> <before, beyond, freed or kept>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr size_t alignment = 64, size = (size_t{1} << 20) + alignment;

struct Kind {
    void *(*take)();
    void (*give_back)(void *);
};

Kind kind_of(const char *name) {
    if (!std::strcmp(name, "new")) return {[] { return ::operator new(size); }, [](void *p) { ::operator delete(p); }};
    if (!std::strcmp(name, "malloc")) return {[] { return std::malloc(size); }, std::free};
    return {[] { return std::aligned_alloc(alignment, size); }, std::free};
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const Kind kind = kind_of(argv[1]);
    auto *const block = static_cast<unsigned char *>(kind.take());
    std::memset(block, 1, size); // all of it is the program's
    volatile unsigned char *const bytes = block;
    if (!std::strcmp(argv[2], "before")) bytes[-1] = 1;
    if (!std::strcmp(argv[2], "beyond")) bytes[size] = 1;
    kind.give_back(block);
    if (!std::strcmp(argv[2], "freed")) bytes[size / 2] = 1;
    const bool is_kept = kind.take() == block; // given out again
    return is_kept ? 0 : 1;
}
