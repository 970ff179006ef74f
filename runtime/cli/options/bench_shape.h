/// --shape b=1,h=8,hkv=8,lq=1024,lk=1024,d=128,dv=128: the sizes that a benchmark runs on.
#pragma once

#include "console/command.h"
#include "options/layout.h"
#include "json/json_output.h"

#include <cstdint>
#include <string>

namespace gyre::cli {

struct BenchShape {
    std::int64_t batch = 0;
    std::int64_t num_heads = 0;
    std::int64_t num_kv_heads = 0;
    std::int64_t seqlen_q = 0;
    std::int64_t seqlen_kv = 0;
    std::int64_t head_dim = 0;
    std::int64_t v_head_dim = 0;
};

/// Makes --shape a required option. h and lq must be said; b is 1, hkv = h, lk = lq, d = 128 and dv = d where they are not.
void add_shape(const Command &command, BenchShape &shape);

/// The sizes by the names that --shape takes: {"b": 1, "h": 8, …}
JsonObject to_json(const BenchShape &shape);

/// " b=1 h=8 …"
std::string to_text(const BenchShape &shape);

/// The shape of a tensor of all sequences; packed (thd), they lie one behind the other.
Shape tensor_shape(gyre_layout layout, std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t dim);

} // namespace gyre::cli
