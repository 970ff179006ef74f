#include "reports/operation_report.h"

#include "options/common_options.h"

namespace gyre::cli {
namespace {

/// NumPy has no bf16, so such results are written as f32.
const char *file_dtype(const Array &array) { return dtype_name(array.dtype == GYRE_BF16 ? GYRE_F32 : array.dtype); }

} // namespace

JsonObject to_json(const WrittenFile &file) {
    JsonObject json;
    json.add("path", file.path);
    json.add("dtype", file_dtype(*file.array));
    json.add("shape", file.array->shape);
    return json;
}

std::string to_json(const OperationReport &report) {
    JsonObject json;
    json.add("operation", report.operation);
    json.add("kernel", report.kernel);
    json.add("target", target_of_kernel(report.kernel));
    json.add("threads", report.threads);
    for (const WrittenFile &file : report.files) json.add(file.name, to_json(file));
    return json.text();
}

std::string to_text(const OperationReport &report) {
    std::string text;
    for (const WrittenFile &file : report.files) {
        text += (text.empty() ? "" : "\n") + file.path + ": " + file_dtype(*file.array) + " " +
                shape_text(file.array->shape) + " by " + report.kernel + ", " + std::to_string(report.threads) +
                (report.threads == 1 ? " thread" : " threads");
    }
    return text;
}

} // namespace gyre::cli
