/// What rotary and attention say when they are done: which kernel ran, and what was written.
#pragma once

#include "files/array.h"
#include "json/json_output.h"

#include <string>
#include <vector>

namespace gyre::cli {

struct WrittenFile {
    const char *name; // "out"
    std::string path;
    const Array *array;
};

struct OperationReport {
    const char *operation = "";
    std::string kernel;
    int threads = 0;
    std::vector<WrittenFile> files;
};

/// path, dtype and shape.
JsonObject to_json(const WrittenFile &file);

/// One JSON object: operation, kernel, target, threads, and for each file an object of path, dtype and shape.
std::string to_json(const OperationReport &report);

/// A line a file.
std::string to_text(const OperationReport &report);

} // namespace gyre::cli
