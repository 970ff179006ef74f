#include "options/bench_shape.h"

#include "options/option_values.h"

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

const char expected[] = "h, lq and if wanted b, hkv, lk, d, dv, each once, as in h=8,lq=1024,d=64";
const std::int64_t usual_head_dim = 128;

[[noreturn]] void reject(const std::string &was) { refuse("--shape", was, expected); }

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
    if (!shape.num_heads || !shape.seqlen_q) reject("'" + text + "'");
    if (!shape.head_dim) shape.head_dim = usual_head_dim;
    if (!shape.batch) shape.batch = 1;
    if (!shape.num_kv_heads) shape.num_kv_heads = shape.num_heads;
    if (!shape.seqlen_kv) shape.seqlen_kv = shape.seqlen_q;
    if (!shape.v_head_dim) shape.v_head_dim = shape.head_dim;
    return shape;
}

} // namespace

void add_shape(const Command &command, BenchShape &shape) {
    const auto parse = [&shape](const std::string &text) { shape = parse_shape(text); };
    command
        .add_option("--shape", "b=1,h=8,hkv=8,lq=1024,lk=1024,d=128,dv=128",
                    "batch, heads (of k and v), lengths, head_dim (of v); h and lq must be said", parse)
        .require();
}

JsonObject to_json(const BenchShape &shape) {
    JsonObject json;
    for (const Size &size : sizes) json.add(size.key, shape.*size.value);
    return json;
}

std::string to_text(const BenchShape &shape) {
    std::string text;
    for (const Size &size : sizes) text += std::string(" ") + size.key + "=" + std::to_string(shape.*size.value);
    return text;
}

Shape tensor_shape(gyre_layout layout, std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t dim) {
    return shape_of(layout, {batch, heads, layout == GYRE_THD ? batch * seqlen : seqlen, dim});
}

} // namespace gyre::cli
