#include "files/npy.h"

#include "console/errors.h"
#include "files/conversion.h"
#include "files/npy_header.h"
#include "files/output_file.h"

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

namespace gyre::cli {
namespace {

/// Fills `bytes` from the stream, or refuses a file that is too short.
void read_exactly(std::ifstream &file, char *bytes, std::size_t count, const std::string &subject, const char *part) {
    file.read(bytes, std::streamsize(count));
    if (std::size_t(file.gcount()) != count) {
        refuse(subject, std::string("truncated in its ") + part, "a whole .npy file");
    }
}

std::string read_dictionary(std::ifstream &file, std::uintmax_t file_size, const std::string &subject) {
    unsigned char preamble[8];
    file.read(reinterpret_cast<char *>(preamble), sizeof preamble);
    if (file.gcount() != sizeof preamble || std::memcmp(preamble, "\x93NUMPY", 6) != 0) {
        refuse(subject, "not an .npy file", "one that numpy.save wrote");
    }
    const int major = preamble[6];
    if (major < 1 || major > 3) refuse(subject, ".npy version " + std::to_string(major), "1, 2 or 3");
    unsigned char length[4] = {};
    read_exactly(file, reinterpret_cast<char *>(length), major == 1 ? 2 : 4, subject, "header");
    const std::size_t bytes = length[0] | length[1] << 8 | length[2] << 16 | std::size_t(length[3]) << 24;
    if (bytes > file_size) refuse(subject, "truncated in its header", "a whole .npy file");
    std::string dictionary(bytes, '\0');
    read_exactly(file, dictionary.data(), bytes, subject, "header");
    return dictionary;
}

} // namespace

Array read_npy(const std::string &option, const std::string &path, const char *types) {
    const std::string subject = option + " " + path;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) refuse(subject, "no such file", "an .npy file");
    if (!std::filesystem::is_regular_file(status)) refuse(subject, "not a file", "an .npy file");
    std::ifstream file(path, std::ios::binary);
    const std::uintmax_t file_size = std::filesystem::file_size(path, error);
    if (!file || error) refuse(subject, "cannot be read", "a readable .npy file");

    const NpyHeader header = parse_npy_dictionary(subject, read_dictionary(file, file_size, subject), types);
    const double wanted = std::accumulate(header.shape.begin(), header.shape.end(), double(dtype_size(header.dtype)),
                                          std::multiplies<>());
    const double present = double(file_size) - double(file.tellg());
    if (wanted != present) {
        refuse(subject,
               (present < wanted ? "truncated: " : "too long: ") + std::to_string(std::int64_t(present)) +
                   " bytes of data",
               "those of " + shape_text(header.shape) + " " + dtype_name(header.dtype));
    }
    Array array = make_array(subject, header.dtype, header.shape);
    read_exactly(file, reinterpret_cast<char *>(array.bytes.data()), array.bytes.size(), subject, "data");
    return array;
}

void write_npy(const std::vector<NpyOutput> &outputs) {
    const SignalsHeld signals; // declared first, released last: after the temporary files are gone
    std::deque<OutputFile> files;
    for (const NpyOutput &output : outputs) {
        Array as_f32;
        if (output.array->dtype == GYRE_BF16) as_f32 = to_float_type(output.path, *output.array, GYRE_F32);
        const Array &array = output.array->dtype == GYRE_BF16 ? as_f32 : *output.array;
        const std::string header = format_npy_header(array.dtype, array.shape);
        OutputFile &file = files.emplace_back(output.path);
        file.write(header.data(), header.size());
        file.write(array.bytes.data(), array.bytes.size());
    }
    for (OutputFile &file : files) file.commit();
}

} // namespace gyre::cli
