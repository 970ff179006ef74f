/// gyre linear-attention: linear attention with rotary embeddings over .npy files, its states and its gradients.
#include "commands/commands.h"

#include "calls/linear_call.h"
#include "console/errors.h"
#include "console/terminal.h"
#include "files/inputs.h"
#include "files/npy.h"
#include "files/output_file.h"
#include "options/common_options.h"
#include "options/gradient_options.h"
#include "options/layout.h"
#include "options/option_values.h"
#include "reports/operation_report.h"

#include <memory>

namespace gyre::cli {
namespace {

struct Options {
    CommonOptions common;
    LinearOptions linear;
    std::string q, k, v, out, kv_state_out, k_state_out;
    GradientOptions gradients;
};

/// One output file.
struct Output {
    const char *name;
    const std::string &path;
    Array array;
};

void run(const Options &options) {
    check_combinations(options.linear);
    const GradientOptions &g = options.gradients;
    check_outputs({{"--out", options.out},
                   {"--kv-state-out", options.kv_state_out},
                   {"--k-state-out", options.k_state_out},
                   {"--q-grad", g.q_grad},
                   {"--k-grad", g.k_grad},
                   {"--v-grad", g.v_grad}});
    const Given kv{"--kv-state-out", !options.kv_state_out.empty()},
        k_sum{"--k-state-out", !options.k_state_out.empty()};
    refuse_without(kv, k_sum);
    refuse_without(k_sum, kv);
    g.check();
    Progress progress;
    progress.show("reading");
    const Array q = read_tensor("--q", options.q, options.common.dtype);
    const Array k = read_tensor("--k", options.k, options.common.dtype);
    const Array v = read_tensor("--v", options.v, options.common.dtype);
    const gyre_layout layout = layout_of(options.linear);
    Extents extents = extents_of("--q " + options.q, layout, q.shape);
    const Extents keys = extents_of("--k " + options.k, layout, k.shape);
    extents.dim = extents_of("--v " + options.v, layout, v.shape).dim;

    std::vector<Output> outputs;
    outputs.reserve(6); // so that the arrays stay where they are
    outputs.push_back({"out", options.out, make_array("--out", q.dtype, shape_of(layout, extents))});
    OperationReport report;
    {
        LinearCall call(options.linear, {view(q), view(k), view(v), view(outputs[0].array), "--q " + options.q,
                                         "--k " + options.k, "--v " + options.v});
        gyre_tensor states[2];
        if (!options.kv_state_out.empty()) {
            const gyre_tensor *list = call.args().cu_seqlens_q;
            const std::int64_t sequences = list ? std::max<std::int64_t>(list->shape[0] - 1, 0) : keys.batch;
            outputs.push_back({"kv_state_out", options.kv_state_out,
                               make_array("--kv-state-out", GYRE_F32, {sequences, keys.heads, keys.dim, extents.dim})});
            outputs.push_back({"k_state_out", options.k_state_out,
                               make_array("--k-state-out", GYRE_F32, {sequences, keys.heads, keys.dim})});
            states[0] = view(outputs[1].array);
            states[1] = view(outputs[2].array);
            call.want_states(&states[0], &states[1]);
        }
        const Context context(options.common);
        progress.show("computing");
        call.run(context.get());
        report = {"linear-attention", context.kernel(), context.threads(), {}};
        if (g.given()) {
            const Array out_grad = read_tensor("--out-grad", g.out_grad, q.dtype);
            const std::size_t first = outputs.size();
            outputs.push_back({"q_grad", g.q_grad, make_array("--out-grad", q.dtype, q.shape)});
            outputs.push_back({"k_grad", g.k_grad, make_array("--out-grad", k.dtype, k.shape)});
            outputs.push_back({"v_grad", g.v_grad, make_array("--out-grad", v.dtype, v.shape)});
            call.run_backward(context.get(),
                              {view(out_grad), view(outputs[first].array), view(outputs[first + 1].array),
                               view(outputs[first + 2].array), "--out-grad " + g.out_grad});
        }
    }
    progress.show("writing");
    std::vector<NpyOutput> files;
    for (const Output &output : outputs) {
        files.push_back({output.path, &output.array});
        report.files.push_back({output.name, output.path, &output.array});
    }
    write_npy(files);
    progress.clear();
    print(options.common.json ? to_json(report) : to_text(report));
}

} // namespace

void add_linear_attention(const Command &program) {
    const auto options = std::make_shared<Options>();
    const Command command = program.add("linear-attention", "linear attention with RoPE, in time linear in the length");
    command.show_example("gyre linear-attention --q q.npy --k k.npy --v v.npy --out o.npy --causal --rotary-dim 64");
    add_text(command, "--q", options->q, "Q.npy", "float, [batch, num_heads, seqlen_q, head_dim]").require();
    add_text(command, "--k", options->k, "K.npy", "float, [batch, num_kv_heads, seqlen_kv, head_dim]").require();
    add_text(command, "--v", options->v, "V.npy", "float, [batch, num_kv_heads, seqlen_kv, v_head_dim]").require();
    add_text(command, "--out", options->out, "O.npy", "[batch, num_heads, seqlen_q, v_head_dim]").require();
    options->linear.add_to(command);
    add_text(command, "--kv-state-out", options->kv_state_out, "S.npy", "f32: the state after these keys");
    add_text(command, "--k-state-out", options->k_state_out, "Z.npy", "f32: likewise");
    add_gradient_options(command, options->gradients);
    add_dtype(command, options->common);
    add_target_and_threads(command, options->common);
    add_json(command, options->common);
    command.run([options] { run(*options); });
}

} // namespace gyre::cli
