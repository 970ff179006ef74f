"""Prefill and decode of six model shapes in Transformers: eager, sdpa, and with Gyre's attention and rotations.

    python model_table.py [--tokens 1024] [--rounds 7] [--threads 1] [--dtypes bf16 f32] [--bound] [--markdown FILE]

Needs PyTorch, Transformers 5 and gyre.torch (runtime/python). Models have random weights, two layers and the published sizes of a layer; vocabularies
are of 1,000 words, so that attention is not lost beside the last product. The three take turns, and each figure is the median of a
round's quotients. --bound adds models whose attention is left out: no attention, however quick, gains more. With one thread, times are the process's own, which other programs disturb less than a clock's.
"""

import argparse
import statistics
import time
import warnings

import gyre.torch
import gyre.transformers
import torch
import transformers as T

warnings.filterwarnings("ignore")
T.logging.set_verbosity_error()
COMMON = dict(vocab_size=1000, num_hidden_layers=2, max_position_embeddings=8192, pad_token_id=0)
SHAPES = {
    "Llama 3.2 1B": lambda: T.LlamaConfig(**COMMON, hidden_size=2048, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=8),
    "Qwen 3 1.7B": lambda: T.Qwen3Config(**COMMON, hidden_size=2048, intermediate_size=6144, num_attention_heads=16, num_key_value_heads=8,
                                         head_dim=128),
    "Gemma 2 2B": lambda: T.Gemma2Config(**COMMON, hidden_size=2304, intermediate_size=9216, num_attention_heads=8, num_key_value_heads=4,
                                         head_dim=256, sliding_window=4096),
    "Gemma 3 1B": lambda: T.Gemma3TextConfig(**COMMON, hidden_size=1152, intermediate_size=6912, num_attention_heads=4,
                                             num_key_value_heads=1, head_dim=256, sliding_window=512),
    "gpt-oss 20B": lambda: T.GptOssConfig(**COMMON, hidden_size=2880, intermediate_size=720, num_attention_heads=64, num_key_value_heads=8,
                                          head_dim=64, sliding_window=128, num_local_experts=4, num_experts_per_tok=1),
    "GPT-NeoX 1.4B": lambda: T.GPTNeoXConfig(**COMMON, hidden_size=2048, intermediate_size=8192, num_attention_heads=16, rotary_pct=0.25),
}
DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}


def no_attention(module, query, key, value, attention_mask, **options):
    """Gives the queries back, as attention() of Transformers lays its result out."""
    return query.transpose(1, 2), None


def ways_of(model, bound):
    """The names of those that the model has."""
    return ["eager", *(["sdpa"] if getattr(model, "_supports_sdpa", False) else []), "gyre", *(["none"] if bound else [])]


def choose(model, way):
    gyre.transformers.disable_rotary()
    model.set_attn_implementation(way)
    if way == "gyre":
        gyre.transformers.enable_rotary(model)


def prefill(model, ids):
    model(ids, use_cache=False, logits_to_keep=1)


def decoder(model, ids):
    """A step of one token behind those of `ids` and of the steps before."""
    cache = model(ids, use_cache=True).past_key_values
    token = ids[:, -1:]

    def step():
        model(token, past_key_values=cache, use_cache=True)

    return step


def timed(call, clock):
    begin = clock()
    call()
    return clock() - begin


def measure(model, ids, rounds, clock, bound):
    """Seconds of (prefill, decode) by way, a list of rounds each."""
    times = {way: ([], []) for way in ways_of(model, bound)}
    steps = {}
    for way in times:
        choose(model, way)
        prefill(model, ids)
        steps[way] = decoder(model, ids)
    for _ in range(rounds):
        for way in times:
            choose(model, way)
            times[way][0].append(timed(lambda: prefill(model, ids), clock))
            steps[way]()
            times[way][1].append(timed(lambda: [steps[way]() for _ in range(5)], clock) / 5)
    return times


def row(name, dtype, times):
    cells = [name, dtype]
    for part in range(2):
        mine = times["gyre"][part]
        cells.append(f"{1e3 * statistics.median(mine):.3g}")
        for way in ("eager", "sdpa"):
            quotients = [a / b for a, b in zip(times[way][part], mine)] if way in times else []
            cells.append(f"{statistics.median(quotients):.2f}" if quotients else "none")
    if "none" in times:
        cells.append(f"{statistics.median(a / b for a, b in zip(times['eager'][0], times['none'][0])):.2f}")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--models", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--bound", action="store_true", help="also without attention: a column of what eager's prompt takes beside it")
    parser.add_argument("--markdown", help="a file to write the table to as well")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    gyre.transformers.enable()
    T.AttentionInterface.register("none", no_attention)
    T.AttentionMaskInterface.register("none", lambda *words, **options: None)
    lines = [f"| {options.tokens} tokens, {options.threads} thread{'s'[: options.threads > 1]} | | prefill, ms | eager / Gyre | sdpa / Gyre "
             "| a token, ms | eager / Gyre | sdpa / Gyre |" + " prefill, eager / no attention |" * options.bound,
             "|---" * (8 + options.bound) + "|"]
    print("\n".join(lines))
    ids = torch.randint(1, 1000, (1, options.tokens), generator=torch.Generator().manual_seed(0))
    for dtype in options.dtypes:
        for name in options.models:
            torch.manual_seed(0)
            model = T.AutoModelForCausalLM.from_config(SHAPES[name](), attn_implementation="eager", dtype=DTYPES[dtype]).eval()
            with torch.no_grad():
                lines.append(row(name, dtype, measure(model, ids, options.rounds, clock, options.bound)))
            print(lines[-1], flush=True)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
