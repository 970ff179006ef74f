// Format: magic, length and text of `run`, Progress's numbers, length and rows of the curve, then of each parameter its values and
// both moments, then a checksum of all that. Numbers as the machine has them.
#include "checkpoint.h"

#include "console/errors.h"
#include "files/output_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <type_traits>

namespace gyre::experiment {
namespace {

const char magic[] = "gyre experiment checkpoint 1\n";

/// FNV-1a, 64 bits. Source: Fowler, Noll and Vo, draft-eastlake-fnv.
std::uint64_t checksum(const char *data, std::size_t size) {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < size; i++) hash = (hash ^ static_cast<unsigned char>(data[i])) * 1099511628211u;
    return hash;
}

template <typename T>
void append(std::string &bytes, const T *numbers, std::size_t count = 1) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(numbers), count * sizeof(T));
}

class Reader {
public:
    Reader(const std::string &path, const std::string &bytes) : path_(path), bytes_(bytes) {}

    template <typename T>
    void read(T *numbers, std::size_t count = 1) {
        if (count > (bytes_.size() - at_) / sizeof(T)) refuse_file("it ends too early", "a whole checkpoint");
        std::memcpy(static_cast<void *>(numbers), bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
    }
    std::string read_text() {
        std::uint64_t length = 0;
        read(&length);
        std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(length, bytes_.size())), '\0');
        read(text.data(), text.size());
        return text;
    }
    void read_finite(const std::string &name, std::vector<float> &numbers) {
        read(numbers.data(), numbers.size());
        for (float x : numbers)
            if (!std::isfinite(x)) refuse_file(name + " holds " + std::to_string(x), "finite numbers");
    }
    std::size_t at() const { return at_; }
    [[noreturn]] void refuse_file(const std::string &was, const std::string &expected) const {
        cli::refuse("checkpoint " + path_, was, expected + ", or no file, to begin anew");
    }

private:
    const std::string &path_, &bytes_;
    std::size_t at_ = 0;
};

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file) cli::refuse("checkpoint " + path, "it cannot be read", "a readable file");
    return bytes;
}

} // namespace

void save_checkpoint(const std::string &path, const std::string &run, const Progress &progress,
                     const std::vector<Parameter> &parameters, const Optimizer &optimizer) {
    std::string bytes(magic);
    const std::uint64_t length = run.size(), rows = progress.curve.size();
    append(bytes, &length);
    bytes += run;
    append(bytes, &progress.step);
    append(bytes, &progress.loss_sum);
    append(bytes, &progress.loss_count);
    append(bytes, &progress.seconds);
    append(bytes, &rows);
    append(bytes, progress.curve.data(), progress.curve.size());
    for (std::size_t i = 0; i < parameters.size(); i++) {
        append(bytes, parameters[i].values, parameters[i].size());
        append(bytes, optimizer.first[i].data(), optimizer.first[i].size());
        append(bytes, optimizer.second[i].data(), optimizer.second[i].size());
    }
    const std::uint64_t sum = checksum(bytes.data(), bytes.size());
    append(bytes, &sum);

    const cli::SignalsHeld held;
    cli::OutputFile file(path);
    file.write(bytes.data(), bytes.size());
    file.commit();
}

bool load_checkpoint(const std::string &path, const std::string &run, Progress *progress,
                     const std::vector<Parameter> &parameters, Optimizer *optimizer) {
    if (!std::filesystem::exists(path)) return false;
    const std::string bytes = read_file(path);
    Reader in(path, bytes);
    if (bytes.compare(0, std::strlen(magic), magic) != 0) in.refuse_file("it is no checkpoint", "one");
    std::string begin(std::strlen(magic), '\0');
    in.read(begin.data(), begin.size());
    const std::string of = in.read_text();
    if (of != run) in.refuse_file("it is of the run '" + of + "'", "one of '" + run + "'");

    Progress loaded;
    std::uint64_t rows = 0;
    in.read(&loaded.step);
    in.read(&loaded.loss_sum);
    in.read(&loaded.loss_count);
    in.read(&loaded.seconds);
    in.read(&rows);
    for (std::uint64_t i = 0; i < rows; i++) {
        loaded.curve.emplace_back();
        in.read(&loaded.curve.back());
    }
    std::vector<std::vector<float>> values, first = optimizer->first, second = optimizer->second;
    for (std::size_t i = 0; i < parameters.size(); i++) {
        values.emplace_back(parameters[i].size());
        in.read_finite(parameters[i].name, values[i]);
        in.read_finite(parameters[i].name + "'s first moment", first[i]);
        in.read_finite(parameters[i].name + "'s second moment", second[i]);
    }
    const std::size_t summed = in.at();
    std::uint64_t sum = 0;
    in.read(&sum);
    if (sum != checksum(bytes.data(), summed)) in.refuse_file("its checksum is wrong", "an undamaged checkpoint");
    if (in.at() != bytes.size()) in.refuse_file("it goes on after its end", "a checkpoint alone");

    for (std::size_t i = 0; i < parameters.size(); i++)
        std::copy(values[i].begin(), values[i].end(), parameters[i].values);
    optimizer->first = std::move(first);
    optimizer->second = std::move(second);
    *progress = std::move(loaded);
    return true;
}

} // namespace gyre::experiment
