"""Gyre: attention with rotary position embeddings (RoPE, RoPER), from kernels that Halide generated ahead of time.

    import numpy as np, gyre
    q = k = v = np.random.default_rng(0).standard_normal((1, 128, 8, 64), dtype=np.float32)    # [batch, seqlen, heads, head_dim]
    out = gyre.attention(q, k, v, causal=True, rope=gyre.Rope(theta=10000.0))

Arrays are NumPy's, or any with __dlpack__ in the CPU's memory; they are not copied. Mistakes raise ValueError or TypeError
that names the argument, what it was and what is expected. Functions may be called from several threads. What can be relied on (bits, rounding,
memory) is in package/include/gyre/promises.md beside this file.
"""

from . import _library
from ._info import info
from ._attention import attention
from ._attention_backward import attention_backward
from ._build import build
from ._cache import cache_append
from ._context import Context
from ._linear_attention import linear_attention, linear_attention_backward
from ._merge import merge_states
from ._prepared_mask import prepare_mask
from ._rope import Rope
from ._rotary import rotary, rotary_qk
from ._tune import Study, Trial, tune
from . import plot

__version__: str = _library.library.gyre_version().decode()
__all__ = ["Context", "Rope", "Study", "Trial", "attention", "attention_backward", "build", "cache_append", "info", "linear_attention",
           "linear_attention_backward", "merge_states", "plot", "prepare_mask", "rotary", "rotary_qk", "tune"]
