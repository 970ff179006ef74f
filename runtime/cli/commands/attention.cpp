/// gyre attention: fused attention over .npy files, with rotary embeddings of queries and keys, and of values (RoPER).
#include "commands/commands.h"

#include "calls/attention_call.h"
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
    AttentionOptions attention;
    std::string q, k, v, out, lse, probabilities;
    GradientOptions gradients;
    std::string bias_grad;
};

/// The backward pass: reads the gradient of the result, and returns those of q, k and v, and of the bias if it is asked for.
std::vector<Array> run_backward(const Options &options, const AttentionCall &call, gyre_context *context,
                                const std::vector<const Array *> &inputs) {
    const std::string name = "--out-grad " + options.gradients.out_grad;
    const Array out_grad = read_tensor("--out-grad", options.gradients.out_grad, inputs[0]->dtype);
    std::vector<Array> gradients;
    for (const Array *input : inputs) gradients.push_back(make_array("--out-grad", input->dtype, input->shape));
    gyre_tensor bias_grad;
    if (!options.bias_grad.empty()) {
        const gyre_tensor &bias = *call.args().bias;
        gradients.push_back(make_array("--bias-grad", GYRE_F32, Shape(bias.shape, bias.shape + bias.rank)));
        bias_grad = view(gradients.back());
    }
    call.run_backward(context, {view(out_grad), view(gradients[0]), view(gradients[1]), view(gradients[2]), name},
                      options.bias_grad.empty() ? nullptr : &bias_grad);
    return gradients;
}

/// The shapes of out [batch, heads, seqlen_q, v_head_dim] and lse [batch, heads, seqlen_q], by the layout.
struct OutputShapes {
    Shape out, lse;
};

OutputShapes output_shapes(const Options &options, const Array &q, const Array &v) {
    const gyre_layout layout = layout_of(options.attention);
    Extents extents = extents_of("--q " + options.q, layout, q.shape);
    extents.dim = extents_of("--v " + options.v, keys_layout_of(options.attention), v.shape).dim;
    if (layout == GYRE_THD) return {shape_of(layout, extents), {extents.heads, extents.seqlen}};
    return {shape_of(layout, extents), {extents.batch, extents.heads, extents.seqlen}};
}

void run(const Options &options) {
    check_combinations(options.attention);
    const GradientOptions &g = options.gradients;
    g.check();
    refuse_without({"--bias-grad", !options.bias_grad.empty()}, {"--out-grad", g.given()});
    refuse_without({"--bias-grad", !options.bias_grad.empty()}, {"--bias", !options.attention.bias.empty()});
    const Given probabilities_given{"--probabilities", !options.probabilities.empty()};
    refuse_together({probabilities_given, {"--cu-seqlens-q", !options.attention.cu_seqlens_q.empty()}});
    refuse_together({probabilities_given, {"--page-table", !options.attention.page_table.empty()}});
    check_outputs({{"--out", options.out},
                   {"--lse", options.lse},
                   {"--probabilities", options.probabilities},
                   {"--q-grad", g.q_grad},
                   {"--k-grad", g.k_grad},
                   {"--v-grad", g.v_grad},
                   {"--bias-grad", options.bias_grad}});
    Progress progress;
    progress.show("reading");
    const Array q = read_tensor("--q", options.q, options.common.dtype);
    const Array k = read_tensor("--k", options.k, options.common.dtype);
    const Array v = read_tensor("--v", options.v, options.common.dtype);
    const OutputShapes shapes = output_shapes(options, q, v);
    extents_of("--k " + options.k, keys_layout_of(options.attention), k.shape);
    Array out = make_array("--out", q.dtype, shapes.out);
    Array lse = make_array("--lse", GYRE_F32, shapes.lse);
    const gyre_tensor lse_tensor = view(lse);

    OperationReport report;
    std::vector<Array> gradients;
    Array probabilities;
    {
        AttentionCall call(options.attention, {view(q), view(k), view(v), view(out),
                                               options.lse.empty() && !g.given() ? nullptr : &lse_tensor,
                                               "--q " + options.q, "--k " + options.k, "--v " + options.v});
        const Context context(options.common);
        progress.show("computing");
        call.run(context.get());
        report = {"attention", context.kernel(), context.threads(), {{"out", options.out, &out}}};
        if (g.given()) gradients = run_backward(options, call, context.get(), {&q, &k, &v});
        if (probabilities_given.given) probabilities = call.probabilities(context.get());
    }
    progress.show("writing");
    std::vector<NpyOutput> outputs = {{options.out, &out}};
    if (!options.lse.empty()) {
        outputs.push_back({options.lse, &lse});
        report.files.push_back({"lse", options.lse, &lse});
    }
    if (probabilities_given.given) {
        outputs.push_back({options.probabilities, &probabilities});
        report.files.push_back({"probabilities", options.probabilities, &probabilities});
    }
    const std::pair<const char *, const std::string &> gradient_files[] = {
        {"q_grad", g.q_grad}, {"k_grad", g.k_grad}, {"v_grad", g.v_grad}, {"bias_grad", options.bias_grad}};
    for (std::size_t i = 0; i < gradients.size(); i++) {
        outputs.push_back({gradient_files[i].second, &gradients[i]});
        report.files.push_back({gradient_files[i].first, gradient_files[i].second, &gradients[i]});
    }
    write_npy(outputs);
    progress.clear();
    print(options.common.json ? to_json(report) : to_text(report));
}

} // namespace

void add_attention(const Command &program) {
    const auto options = std::make_shared<Options>();
    const Command command = program.add("attention", "fused attention, with RoPE and RoPER");
    command.show_example(
        "gyre attention --q q.npy --k k.npy --v v.npy --out o.npy --causal --rotary-dim 64 --rotary-v-dim 64");
    add_text(command, "--q", options->q, "Q.npy", "float, [batch, num_heads, seqlen_q, head_dim]").require();
    add_text(command, "--k", options->k, "K.npy", "float, [batch, num_kv_heads, seqlen_kv, head_dim]").require();
    add_text(command, "--v", options->v, "V.npy", "float, [batch, num_kv_heads, seqlen_kv, v_head_dim]").require();
    add_text(command, "--out", options->out, "O.npy", "[batch, num_heads, seqlen_q, v_head_dim]").require();
    add_text(command, "--lse", options->lse, "L.npy", "f32, [batch, num_heads, seqlen_q]: log of the denominators");
    add_text(command, "--probabilities", options->probabilities, "P.npy",
             "f32, [batch, num_heads, seqlen_q, seqlen_kv]: the weights of the values, before dropout; for debugging, "
             "since it takes a call for every head_dim keys");
    add_gradient_options(command, options->gradients);
    add_text(command, "--bias-grad", options->bias_grad, "DB.npy", "with --out-grad: the gradient of --bias, f32");
    options->attention.add_to(command);
    add_dtype(command, options->common);
    add_target_and_threads(command, options->common);
    add_json(command, options->common);
    command.run([options] { run(*options); });
}

} // namespace gyre::cli
