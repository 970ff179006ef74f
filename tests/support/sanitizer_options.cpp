// AddressSanitizer keeps one frame of where memory was taken: walking and keeping whole stacks took more than half of the time of tests
// with assertions. ASAN_OPTIONS=malloc_context_size=30 brings them back.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "malloc_context_size=1"; }
