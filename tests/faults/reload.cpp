/// The library and a plug-in that contains it are loaded, called and closed in turn: neither takes this program's functions for
/// its own, shows what it has within, or keeps more memory each time.
#include <gyre/kernels.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>

namespace {

int taken = 0;
int failures = 0;

void expect(bool ok, const char *what) {
    if (ok) return;
    std::fprintf(stderr, "%s\n", what);
    failures++;
}

struct Call {
    std::vector<float> numbers = std::vector<float>(40 * 64, 0.5f), out = std::vector<float>(40 * 64);
    gyre_attention_args args = gyre_attention_defaults();
    gyre_rope rope = gyre_rope_defaults();

    Call() {
        const int64_t shape[4] = {1, 40, 1, 64};
        args.q = args.k = args.v = gyre_tensor_dense(numbers.data(), GYRE_F32, 4, shape);
        args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
        args.rope = &rope;
    }
};

/// Calls the function `name` of a library in a file, which is then closed.
void call(const char *file, const char *name, bool in_context) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return expect(false, dlerror());
    Call c;
    void *found = dlsym(library, name);
    expect(found, "the function is not there");
    if (found && in_context) expect(((decltype(&gyre_attention))found)(nullptr, &c.args) == GYRE_OK, "the call failed");
    if (found && !in_context)
        expect(((gyre_status (*)(const gyre_attention_args *))found)(&c.args) == GYRE_OK, "the plug-in's call failed");
    if (!in_context) {
        expect(!dlsym(library, "gyre_attention"), "the plug-in exports gyre_attention()");
        expect(!dlsym(library, "gyre_register_kernels"), "the plug-in exports gyre_register_kernels()");
    }
    dlclose(library);
}

} // namespace

extern "C" void *gyre_kernel_malloc(void *, size_t bytes) {
    taken++;
    return std::malloc(bytes);
}
extern "C" void gyre_kernel_free(void *, void *block) {
    taken++;
    std::free(block);
}

int main(int, char **argv) {
    const auto cycle = [&] {
        call(argv[1], "gyre_attention", true);
        call(argv[2], "plug_in_attention", false);
    };
    for (int i = 0; i < 3; i++) cycle();
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 20; i++) cycle();
    const size_t after = mallinfo2().uordblks;
    expect(after <= before + 20 * 100, "memory is kept each time");
    expect(taken == 0, "a library called this program's gyre_kernel_malloc()");
    std::printf("%zu bytes before, %zu after, %d failure(s)\n", before, after, failures);
    return failures != 0;
}
