#include "curve.h"

#include "files/output_file.h"

#include <cstdio>

namespace gyre::experiment {

void write_csv(const std::string &path, const std::vector<std::string> &labels, const std::vector<CurveRow> &rows) {
    std::string text = "task,encoding,seed,step,train_loss,held_out_loss,exact_match,longer_exact_match,seconds,"
                       "tokens_per_second\n";
    for (const CurveRow &row : rows) {
        for (const std::string &label : labels) text += label + ",";
        char line[200];
        std::snprintf(line, sizeof line, "%lld,%.5f,%.5f,%.5f,%.5f,%.2f,%.0f\n", static_cast<long long>(row.step),
                      row.train_loss, row.held_out_loss, row.exact_match, row.longer_exact_match, row.seconds,
                      row.tokens_per_second);
        text += line;
    }
    const cli::SignalsHeld held;
    cli::OutputFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

} // namespace gyre::experiment
