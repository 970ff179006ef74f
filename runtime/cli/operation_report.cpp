#include "operation_report.h"

#include "common_options.h"
#include "json_output.h"

namespace gyre::cli {
namespace {

/// NumPy has no bf16, so such results are written as f32.
const char *file_dtype(const Array &array) { return dtype_name(array.dtype == GYRE_BF16 ? GYRE_F32 : array.dtype); }

} // namespace

std::string to_json(const OperationReport &report) {
    Json json = {{"operation", report.operation},
                 {"kernel", report.kernel},
                 {"target", target_of_kernel(report.kernel)},
                 {"threads", report.threads}};
    for (const WrittenFile &file : report.files) {
        json[file.name] = {{"path", file.path}, {"dtype", file_dtype(*file.array)}, {"shape", file.array->shape}};
    }
    return json_text(json);
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
