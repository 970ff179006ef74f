/// gyre bench: times rotary, attention and linear attention on random data, beside this machine's peak.
#include "commands/commands.h"

#include "calls/attention_call.h"
#include "calls/linear_call.h"
#include "calls/measurement.h"
#include "calls/rotary_call.h"
#include "console/terminal.h"
#include "files/conversion.h"
#include "options/bench_shape.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "reports/bench_report.h"

#include "roofline.h"

#include <memory>
#include <random>

namespace gyre::cli {
namespace {

struct BenchOptions {
    CommonOptions common;
    BenchShape shape;
    std::optional<std::int64_t> repeat;
};

const double peak_sample_seconds = 0.5e-3;

Array random_array(gyre_dtype dtype, Shape shape, std::uint32_t seed) {
    Array array = make_array("--shape", GYRE_F32, std::move(shape));
    std::minstd_rand generator(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::int64_t i = 0, size = array.size(); i < size; i++) array.as<float>()[i] = uniform(generator);
    return to_float_type("--shape", std::move(array), dtype);
}

std::string attributes_of(const std::string &kernel) {
    gyre_kernel_info info;
    for (std::int32_t i = 0; gyre_kernel_at(i, &info); i++)
        if (kernel == info.name) return info.attributes;
    return "";
}

template <typename Call>
BenchReport bench(const char *operation, const BenchOptions &options, Call &call) {
    const Context context(options.common);
    Progress progress;
    call.run(context.get()); // refuses bad arguments, and tells which kernel it is about
    BenchReport report;
    report.operation = operation;
    report.kernel = context.kernel();
    report.dtype = dtype_name(options.common.dtype.value_or(GYRE_F32));
    report.shape = options.shape;
    report.threads = context.threads();
    report.work = work_of(call.args());

    roofline::Roofline roofline(context.threads());
    const auto set = roofline::instruction_set_of_kernel(target_of_kernel(report.kernel), attributes_of(report.kernel));
    report.peak_is_copy = std::string(operation) == "rotary";
    if (report.peak_is_copy)
        report.peak_name = "copy";
    else if (set && roofline::can_run(*set))
        report.peak_name = roofline::name(*set);
    const auto sample_peak = [&] {
        const std::size_t copied = std::size_t(report.work.bytes / 2);
        if (report.peak_is_copy) return roofline.copy_gbytes_per_s(copied, peak_sample_seconds);
        return set ? roofline.fma_gflops(*set, peak_sample_seconds) : 0.0;
    };
    report.measurement = measure([&] { call.run(context.get()); }, sample_peak, options.repeat, progress);
    return report;
}

void print_report(const BenchOptions &options, const BenchReport &report) {
    print(options.common.json ? to_json(report) : to_text(report));
}

void run_rotary(const BenchOptions &options, const RotaryOptions &rotary) {
    const BenchShape &s = options.shape;
    const gyre_layout layout = rotary.layout.value_or(GYRE_BHSD);
    const gyre_dtype dtype = options.common.dtype.value_or(GYRE_F32);
    const Array x = random_array(dtype, tensor_shape(layout, s.batch, s.num_heads, s.seqlen_q, s.head_dim), 1);
    Array out = make_array("--shape", dtype, x.shape);
    RotaryCall call(rotary, "--shape", view(x), view(out));
    print_report(options, bench("rotary", options, call));
}

/// Random queries, keys and values of the shape, and room for the result.
struct BenchTensors {
    Array q, k, v, out;

    BenchTensors(const BenchOptions &options, gyre_layout layout) {
        const BenchShape &s = options.shape;
        const gyre_dtype dtype = options.common.dtype.value_or(GYRE_F32);
        q = random_array(dtype, tensor_shape(layout, s.batch, s.num_heads, s.seqlen_q, s.head_dim), 1);
        k = random_array(dtype, tensor_shape(layout, s.batch, s.num_kv_heads, s.seqlen_kv, s.head_dim), 2);
        v = random_array(dtype, tensor_shape(layout, s.batch, s.num_kv_heads, s.seqlen_kv, s.v_head_dim), 3);
        out = make_array("--shape", dtype, tensor_shape(layout, s.batch, s.num_heads, s.seqlen_q, s.v_head_dim));
    }
};

void run_attention(const BenchOptions &options, const AttentionOptions &attention) {
    check_combinations(attention);
    BenchTensors t(options, layout_of(attention));
    AttentionCall call(attention,
                       {view(t.q), view(t.k), view(t.v), view(t.out), nullptr, "--shape", "--shape", "--shape"});
    print_report(options, bench("attention", options, call));
}

void run_linear_attention(const BenchOptions &options, const LinearOptions &linear) {
    check_combinations(linear);
    BenchTensors t(options, layout_of(linear));
    LinearCall call(linear, {view(t.q), view(t.k), view(t.v), view(t.out), "--shape", "--shape", "--shape"});
    print_report(options, bench("linear-attention", options, call));
}

void add_bench_options(const Command &command, BenchOptions &options) {
    add_shape(command, options.shape);
    add_whole_number(command, "--repeat", options.repeat, 1, 1000000, "timed runs, default: about a second's, >= 11");
    add_dtype(command, options.common);
    add_target_and_threads(command, options.common);
    add_json(command, options.common);
}

} // namespace

void add_bench(const Command &program) {
    const Command bench = program.add("bench", "time an operation on random data, beside this machine's peak");
    bench.show_example("gyre bench attention --shape h=8,lq=1024,d=64 --causal");

    const auto rotary_bench = std::make_shared<BenchOptions>();
    const auto rotary = std::make_shared<RotaryOptions>();
    const Command rotary_command = bench.add("rotary", "gyre rotary's options but --x and --out; reads b, h, lq, d");
    rotary_command.show_example("gyre bench rotary --shape h=8,lq=1024,d=64 --dtype bf16");
    add_bench_options(rotary_command, *rotary_bench);
    add_rotary_options(rotary_command, *rotary);
    rotary_command.run([=] { run_rotary(*rotary_bench, *rotary); });

    const auto attention_bench = std::make_shared<BenchOptions>();
    const auto attention = std::make_shared<AttentionOptions>();
    const Command attention_command = bench.add("attention", "gyre attention's options but the tensors");
    attention_command.show_example("gyre bench attention --shape h=8,lq=1024,d=64 --causal");
    add_bench_options(attention_command, *attention_bench);
    attention->add_to(attention_command);
    attention_command.run([=] { run_attention(*attention_bench, *attention); });

    const auto linear_bench = std::make_shared<BenchOptions>();
    const auto linear = std::make_shared<LinearOptions>();
    const Command linear_command = bench.add("linear-attention", "gyre linear-attention's options but the tensors");
    linear_command.show_example("gyre bench linear-attention --shape h=8,lq=1024,d=64 --causal");
    add_bench_options(linear_command, *linear_bench);
    linear->add_to(linear_command);
    linear_command.run([=] { run_linear_attention(*linear_bench, *linear); });
}

} // namespace gyre::cli
