#include "bench_shape.h"

#include "option_values.h"

#include <sstream>

namespace gyre::cli {
namespace {

struct Size {
    const char *key;
    std::int64_t BenchShape::*value;
};

const Size sizes[] = {{"b", &BenchShape::batch},          {"h", &BenchShape::num_heads},
                      {"hkv", &BenchShape::num_kv_heads}, {"lq", &BenchShape::seqlen_q},
                      {"lk", &BenchShape::seqlen_kv},     {"d", &BenchShape::head_dim},
                      {"dv", &BenchShape::v_head_dim}};

const char expected[] = "h, lq, d and if wanted b, hkv, lk, dv, each once, as in h=8,lq=1024,d=64";

[[noreturn]] void reject(const std::string &was) {
    throw CLI::ValidationError("--shape", was + "; expected " + expected);
}

void parse_size(const std::string &text, BenchShape &shape) {
    const std::size_t equals = text.find('=');
    for (const Size &size : sizes) {
        if (equals == std::string::npos || text.compare(0, equals, size.key) != 0) continue;
        const std::optional<std::int64_t> value = parse_whole_number(text.substr(equals + 1));
        const std::int64_t largest = std::int64_t(1) << 30;
        if (!value || *value < 1 || *value > largest || shape.*size.value != 0) break;
        shape.*size.value = *value;
        return;
    }
    reject("'" + text + "'");
}

BenchShape parse_shape(const std::string &text) {
    BenchShape shape;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) parse_size(part, shape);
    if (!shape.num_heads || !shape.seqlen_q || !shape.head_dim) reject("'" + text + "'");
    if (!shape.batch) shape.batch = 1;
    if (!shape.num_kv_heads) shape.num_kv_heads = shape.num_heads;
    if (!shape.seqlen_kv) shape.seqlen_kv = shape.seqlen_q;
    if (!shape.v_head_dim) shape.v_head_dim = shape.head_dim;
    return shape;
}

} // namespace

void add_shape(CLI::App &app, BenchShape &shape) {
    const auto parse = [&shape](const std::string &text) { shape = parse_shape(text); };
    app.add_option_function<std::string>("--shape", parse, "batch, heads (of k and v), lengths, head_dim (of v)")
        ->type_name("b=1,h=8,hkv=8,lq=1024,lk=1024,d=64,dv=64")
        ->required();
}

Json to_json(const BenchShape &shape) {
    Json json;
    for (const Size &size : sizes) json[size.key] = shape.*size.value;
    return json;
}

Shape tensor_shape(gyre_layout layout, std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t dim) {
    return shape_of(layout, {batch, heads, layout == GYRE_THD ? batch * seqlen : seqlen, dim});
}

} // namespace gyre::cli
