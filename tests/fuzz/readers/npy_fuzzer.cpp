/// Any bytes are an .npy file: it is read, and its array has the file's bytes, or it is refused by name.
#include "edits.h"

#include "console/errors.h"
#include "files/npy.h"
#include "files/npy_header.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace gyre;

namespace {

/// Files as NumPy writes them, with the numbers 0 0 0 …
std::vector<std::string> good_files() {
    std::vector<std::string> files;
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_F64, GYRE_I32, GYRE_I64, GYRE_BOOL})
        for (const cli::Shape &shape : {cli::Shape{}, {3}, {2, 0, 5}, {1, 2, 3, 4}}) {
            size_t count = cli::dtype_size(dtype);
            for (const int64_t extent : shape) count *= (size_t)extent;
            files.push_back(cli::format_npy_header(dtype, shape) + std::string(count, '\0'));
        }
    return files;
}

const std::string &file_name() {
    static const std::string name =
        (std::filesystem::temp_directory_path() / ("gyre_npy_fuzzer." + std::to_string(getpid()))).string();
    return name;
}

void remove_file() { std::remove(file_name().c_str()); }

[[noreturn]] void report(const char *what) {
    std::fprintf(stderr, "%s; see %s\n", what, file_name().c_str());
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const std::vector<std::string> files = good_files();
    static const int removed = std::atexit(remove_file);
    (void)removed;
    fuzz::ByteReader r(bytes, count);
    const bool raw = r.rarely(4);
    const std::string text = raw ? std::string((const char *)bytes, count) : fuzz::edited(r, files);
    std::ofstream(file_name(), std::ios::binary) << text;
    try {
        const cli::Array array = cli::read_npy("--x", file_name(), "float32");
        size_t wanted = cli::dtype_size(array.dtype);
        for (const int64_t extent : array.shape) wanted *= (size_t)extent;
        if (array.bytes.size() != wanted) report("the array has other bytes than its shape says");
        if (text.size() < wanted ||
            text.compare(text.size() - wanted, wanted, (const char *)array.bytes.data(), wanted))
            report("the array has other bytes than the file");
    } catch (const cli::UsageError &error) {
        if (std::string(error.what()).find("--x") == std::string::npos)
            report("a refusal that does not name the option");
    }
    return 0;
}
