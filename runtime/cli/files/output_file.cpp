#include "files/output_file.h"

#include "console/errors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace gyre::cli {
namespace {

namespace fs = std::filesystem;

const int held_signals[] = {SIGINT, SIGTERM, SIGHUP};

/// What a link points to, even if nothing is there yet: that is replaced, not the link. A link itself, if links go round
/// in a circle.
fs::path behind_links(fs::path path) {
    std::error_code error;
    const int most_links = 40; // as Linux itself
    for (int i = 0; i < most_links && fs::is_symlink(path, error); i++) {
        path = path.parent_path() / fs::read_symlink(path, error); // an absolute one replaces the whole
    }
    return path;
}

fs::path directory_of(const fs::path &path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string subject_of(const std::string &option, const std::string &path) { return option + " " + path; }

/// Whether both names are of one entry of one directory, however they are spelled.
bool is_same_entry(const std::string &one, const std::string &other) {
    std::error_code error;
    const fs::path first = behind_links(one);
    const fs::path second = behind_links(other);
    if (first.filename() != second.filename()) return false;
    return fs::equivalent(directory_of(first), directory_of(second), error);
}

} // namespace

void check_output(const std::string &option, const std::string &path) {
    std::error_code error;
    const std::string subject = subject_of(option, path);
    const fs::path replaced = behind_links(path);
    if (fs::is_symlink(replaced, error)) refuse(subject, "symbolic links without an end", "a file name");
    const fs::path directory = directory_of(replaced);
    if (!fs::is_directory(directory, error)) refuse(subject, "no directory " + directory.string(), "an existing one");
    if (access(directory.c_str(), W_OK | X_OK) != 0) {
        refuse(subject, "directory " + directory.string() + " is not writable", "a writable one");
    }
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status) || !fs::path(path).has_filename()) refuse(subject, "a directory", "a file name");
    if (fs::exists(status) && !fs::is_regular_file(status)) refuse(subject, "not a regular file", "a file name");
}

void check_outputs(const std::vector<std::pair<std::string, std::string>> &outputs) {
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        const auto &[option, path] = *output;
        if (path.empty()) continue;
        check_output(option, path);
        for (auto other = outputs.begin(); other != output; ++other)
            if (!other->second.empty() && is_same_entry(other->second, path))
                refuse(subject_of(option, path), "the file that " + other->first + " names", "another file");
    }
}

SignalsHeld::SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : held_signals) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &previous_);
}

SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

OutputFile::OutputFile(const std::string &path) : path_(behind_links(path).string()) {
    struct stat replaced; // whose permissions stay: a file that nobody else may read is not opened to others
    const bool replaces = stat(path_.c_str(), &replaced) == 0;
    const std::string stem = (directory_of(path_) / ".gyre-").string() + std::to_string(getpid()) + "-";
    for (int attempt = 0; descriptor_ < 0; attempt++) {
        temporary_ = stem + std::to_string(attempt) + ".part";
        descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            temporary_.clear();
            fail("cannot be created");
        }
    }
    if (replaces) fchmod(descriptor_, replaced.st_mode & 0777); // fails on file systems that have no permissions
}

OutputFile::~OutputFile() {
    close();
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

void OutputFile::fail(const char *what) const { throw RunError(path_ + ": " + what + ": " + std::strerror(errno)); }

void OutputFile::write(const void *data, std::size_t bytes) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
        sigset_t pending;
        sigpending(&pending);
        for (int signal : held_signals) {
            if (sigismember(&pending, signal)) throw RunError(path_ + ": interrupted");
        }
        const std::size_t chunk = std::min(bytes, std::size_t(1) << 20);
        const ssize_t written = ::write(descriptor_, from, chunk);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("cannot be written");
        from += written;
        bytes -= std::size_t(written);
    }
}

void OutputFile::commit() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("cannot be written"); // where a network file system reports a full disk
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to");
    temporary_.clear();
}

} // namespace gyre::cli
