/// Any bytes are a model's configuration: its rotary settings are read, or it is refused by name.
#include "edits.h"

#include "console/errors.h"
#include "options/rope_json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace gyre;

namespace {

const std::vector<std::string> good_texts = {
    R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "mscale": 1})",
    R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "rope_theta": 5e5})",
    R"({"rope_type": "longrope", "short_factor": [1, 1.5], "long_factor": [2, 3.25], "partial_rotary_factor": 0.5})",
    R"({"rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}, "head_dim": 128})",
    R"({"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "truncate": false}, "hidden_size": 64})",
    R"({"text_config": {"rotary_pct": 0.25, "rotary_emb_base": 10000, "num_attention_heads": 8, "hidden_size": 512}})",
    R"([[[[{"a": null}], "é\u00e9\ud83d\ude00"], -1e308], 18446744073709551616])",
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    fuzz::ByteReader r(bytes, count);
    const bool raw = r.rarely(4);
    std::string text = raw ? std::string((const char *)bytes, count) : fuzz::edited(r, good_texts);
    if (!text.empty() && text[0] == '@') text[0] = ' '; // would name a file
    try {
        const cli::RopeConfig config = cli::read_rope(text);
        if (std::isfinite(config.numbers.rope_theta) && config.numbers.rope_theta >= 0) return 0;
        std::fprintf(stderr, "rope_theta %g of %s\n", config.numbers.rope_theta, text.c_str());
        std::abort();
    } catch (const cli::UsageError &error) {
        if (std::string(error.what()).find("--rope") != std::string::npos) return 0;
        std::fprintf(stderr, "a refusal that does not name the option: %s\n", error.what());
        std::abort();
    }
}
