/// Files that appear whole or not at all.
#pragma once

#include <csignal>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gyre::cli {

/// Throws UsageError that names the option unless a file can be made there (or replaced): the check that comes before
/// minutes of computing.
void check_output(const std::string &option, const std::string &path);

/// Checks the files of several options, or none (""), and that no two are one file, through links or by another
/// spelling.
void check_outputs(const std::vector<std::pair<std::string, std::string>> &outputs);

/// Puts off Ctrl-C, termination and hang-up on this thread until it is destroyed; then they take effect.
class SignalsHeld {
public:
    SignalsHeld();
    ~SignalsHeld();
    SignalsHeld(const SignalsHeld &) = delete;
    SignalsHeld &operator=(const SignalsHeld &) = delete;

private:
    sigset_t previous_;
};

/// A temporary file in the directory of `path`, renamed to it by commit() and removed by the destructor otherwise. To
/// be used while a SignalsHeld lives. Throws RunError, also when a signal is waiting, so that a long write can be
/// ended.
class OutputFile {
public:
    explicit OutputFile(const std::string &path);
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    void write(const void *data, std::size_t bytes);
    void commit();

private:
    [[noreturn]] void fail(const char *what) const;
    void close();

    std::string path_, temporary_;
    int descriptor_ = -1;
};

} // namespace gyre::cli
