"""The attention calls that published models make, as a table: head counts and sizes are those of their configurations.

`padding` "right" or "left": entry b of the batch has b / (2 batch) of its keys hidden on that side by a boolean mask, as
tokenizers pad. "lengths": the same amounts as lengths of a cache. A causal call aligns its last query with its last key.
"""

from typing import NamedTuple


class Rope(NamedTuple):
    """pairing as gyre.Rope has it; rotary_dim 0: the whole head."""

    pairing: str
    rotary_dim: int = 0


class Call(NamedTuple):
    name: str
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_dim: int
    v_head_dim: int = 0  # 0: head_dim
    causal: bool = False
    window: int = 0  # keys before the query that it sees, beside its own; without causal as many behind it; 0: all
    padding: str = ""
    mask: str = ""  # "prefix": the first half of the keys is seen by all; "documents": four of them; "tree": drafts
    relative_bias: bool = False  # [1, heads, queries, keys], learnt, as T5 has it
    alibi: bool = False
    softcap: float = 0.0
    sinks: bool = False
    scale: float = 0.0  # 0: 1 / sqrt(head_dim)
    rope: Rope | None = None  # rotated inside the call; peers rotate before it

    @property
    def value_dim(self):
        return self.v_head_dim or self.head_dim

    @property
    def group(self):
        return self.heads // self.kv_heads

    @property
    def is_causal_alone(self):
        """Whether nothing but the diagonal hides keys, and nothing is added to scores."""
        return self.causal and not (self.window or self.padding or self.alibi or self.relative_bias)


NEOX_20B = Rope("half", 24)
PHI_2 = Rope("half", 32)
WHOLE_INTERLEAVED = Rope("interleaved")

# name, batch, heads, key heads, queries, keys, head_dim
CALLS = (
    # Encoders of text.
    Call("BERT base, 128 tokens", 1, 12, 12, 128, 128, 64),
    Call("BERT base, batch 8 padded, 128 tokens", 8, 12, 12, 128, 128, 64, padding="right"),
    Call("BERT large, batch 4 padded, 512 tokens", 4, 16, 16, 512, 512, 64, padding="right"),
    Call("RoBERTa base, 512 tokens", 1, 12, 12, 512, 512, 64),
    Call("RoBERTa base, batch 8 padded, 256 tokens", 8, 12, 12, 256, 256, 64, padding="right"),
    Call("MiniLM-L6, batch 8 padded, 128 tokens", 8, 12, 12, 128, 128, 32, padding="right"),
    Call("ModernBERT base, window, 1024 tokens", 1, 12, 12, 1024, 1024, 64, window=64),
    Call("RoFormer base, rotated, 512 tokens", 1, 12, 12, 512, 512, 64, rope=WHOLE_INTERLEAVED),
    Call("T5 base encoder, 512 tokens", 1, 12, 12, 512, 512, 64, relative_bias=True, scale=1.0),
    Call("T5 base encoder, batch 4 padded, 256 tokens", 4, 12, 12, 256, 256, 64, relative_bias=True, scale=1.0, padding="right"),
    Call("FLAN-T5 XL encoder, 512 tokens", 1, 32, 32, 512, 512, 64, relative_bias=True, scale=1.0),
    Call("T5 base decoder, 1 token on 128", 4, 12, 12, 1, 128, 64, causal=True, relative_bias=True, scale=1.0),
    Call("T5 base cross attention, 1 token on 512 padded", 4, 12, 12, 1, 512, 64, scale=1.0, padding="right"),
    Call("CLIP text encoder, batch 8, 77 tokens", 8, 12, 12, 77, 77, 64, causal=True),
    Call("packed documents, 16 heads, 1024 tokens", 1, 16, 16, 1024, 1024, 64, mask="documents"),
    # Images.
    Call("ViT-B/16, 197 tokens", 1, 12, 12, 197, 197, 64),
    Call("ViT-B/16, batch 8, 197 tokens", 8, 12, 12, 197, 197, 64),
    Call("ViT-L/16 384, 577 tokens", 1, 16, 16, 577, 577, 64),
    Call("ViT-H/14, 257 tokens", 1, 16, 16, 257, 257, 80),
    Call("SigLIP so400m, 729 tokens", 1, 16, 16, 729, 729, 72),
    Call("DiT-XL/2, batch 2, 256 tokens", 2, 16, 16, 256, 256, 72),
    Call("SD 1.5, 4096 tokens", 1, 8, 8, 4096, 4096, 40),
    Call("SD 1.5, batch 2, 1024 tokens", 2, 8, 8, 1024, 1024, 80),
    Call("SD 1.5, batch 2, 256 tokens", 2, 8, 8, 256, 256, 160),
    Call("SD 1.5 cross attention, 4096 tokens on 77", 1, 8, 8, 4096, 77, 40),
    Call("SDXL, 1024 tokens", 1, 20, 20, 1024, 1024, 64),
    Call("SDXL cross attention, 1024 tokens on 77", 1, 20, 20, 1024, 77, 64),
    Call("SD3 medium, 1178 tokens", 1, 24, 24, 1178, 1178, 64),
    # Speech.
    Call("Whisper small encoder, 1500 frames", 1, 12, 12, 1500, 1500, 64),
    Call("Whisper large encoder, 1500 frames", 1, 20, 20, 1500, 1500, 64),
    Call("Whisper large decoder, 1 token on 224", 1, 20, 20, 1, 224, 64, causal=True),
    Call("Whisper large cross attention, 1 token", 1, 20, 20, 1, 1500, 64),
    Call("Whisper large cross attention, 5 beams", 5, 20, 20, 1, 1500, 64),
    # Decoders whose heads have keys of their own.
    Call("GPT-2, prefill 512", 1, 12, 12, 512, 512, 64, causal=True),
    Call("GPT-2, 1 token on 512", 1, 12, 12, 1, 512, 64, causal=True),
    Call("MPT 7B, prefill 512", 1, 32, 32, 512, 512, 128, causal=True, alibi=True),
    Call("MPT 7B, 1 token on 2048", 1, 32, 32, 1, 2048, 128, causal=True, alibi=True),
    Call("BLOOM 560m, prefill 1024", 1, 16, 16, 1024, 1024, 64, causal=True, alibi=True),
    Call("BLOOM 560m, batch 8 left-padded, 1 token on 512", 8, 16, 16, 1, 512, 64, causal=True, alibi=True, padding="left"),
    Call("GPT-NeoX 20B, rotated, prefill 256", 1, 64, 64, 256, 256, 96, causal=True, rope=NEOX_20B),
    Call("GPT-NeoX 20B, 1 token on 1024", 1, 64, 64, 1, 1024, 96, causal=True),
    Call("Phi-2, rotated, prefill 512", 1, 32, 32, 512, 512, 80, causal=True, rope=PHI_2),
    Call("Phi-2, 1 token on 1024", 1, 32, 32, 1, 1024, 80, causal=True),
    Call("Phi-3 mini, prefill 512", 1, 32, 32, 512, 512, 96, causal=True, window=2046),
    Call("DeepSeek V2 Lite, prefill 512", 1, 16, 16, 512, 512, 192, 128, causal=True),
    Call("DeepSeek V2 Lite, 1 token on 1024", 1, 16, 16, 1, 1024, 192, 128, causal=True),
    Call("DeepSeek V3, chunk 64 on 512", 1, 128, 128, 64, 512, 192, 128, causal=True),
    # Decoders whose heads share keys.
    Call("Llama 3 8B, prefill 1024", 1, 32, 8, 1024, 1024, 128, causal=True),
    Call("Llama 3 8B, rotated, prefill 512", 1, 32, 8, 512, 512, 128, causal=True, rope=Rope("half")),
    Call("Llama 3 8B, prefill 17", 1, 32, 8, 17, 17, 128, causal=True),
    Call("Llama 3 8B, chunk 256 on 2048", 1, 32, 8, 256, 2048, 128, causal=True),
    Call("Llama 3 8B, 5 drafts on 2048", 1, 32, 8, 5, 2048, 128, causal=True),
    Call("Llama 3 8B, tree of 26 drafts on 1024", 1, 32, 8, 26, 1024, 128, mask="tree"),
    Call("Llama 3 8B, 1 token on 2048", 1, 32, 8, 1, 2048, 128, causal=True),
    Call("Llama 3 8B, 1 token on 8192", 1, 32, 8, 1, 8192, 128, causal=True),
    Call("Llama 3 8B, batch 8, lengths, 1 token on 2048", 8, 32, 8, 1, 2048, 128, causal=True, padding="lengths"),
    Call("Llama 3 8B, batch 4 left-padded, prefill 256", 4, 32, 8, 256, 256, 128, causal=True, padding="left"),
    Call("Llama 3.2 1B, prefill 1024", 1, 32, 8, 1024, 1024, 64, causal=True),
    Call("Llama 3.2 1B, 1 token on 4096", 1, 32, 8, 1, 4096, 64, causal=True),
    Call("Llama 3.2 1B, batch 8 right-padded, prefill 128", 8, 32, 8, 128, 128, 64, causal=True, padding="right"),
    Call("Llama 3.2 1B, 1 token on 32", 1, 32, 8, 1, 32, 64, causal=True),
    Call("Qwen 3 0.6B, prefill 512", 1, 16, 8, 512, 512, 128, causal=True),
    Call("Qwen 3 8B, batch 8 left-padded, 1 token on 1024", 8, 32, 8, 1, 1024, 128, causal=True, padding="left"),
    Call("Qwen 3 30B-A3B, 1 token on 4096", 1, 32, 4, 1, 4096, 128, causal=True),
    Call("Falcon 7B, 1 token on 2048", 1, 71, 1, 1, 2048, 64, causal=True),
    Call("PaliGemma, prefix 256 of 512", 1, 8, 1, 512, 512, 256, mask="prefix"),
    Call("Gemma 2 2B, prefill 512", 1, 8, 4, 512, 512, 256, causal=True, softcap=50.0),
    Call("Gemma 2 2B, 1 token on 2048", 1, 8, 4, 1, 2048, 256, causal=True, softcap=50.0),
    Call("Gemma 3 1B, window, prefill 1024", 1, 4, 1, 1024, 1024, 256, causal=True, window=511),
    Call("Gemma 3 1B, window, 1 token on 2048", 1, 4, 1, 1, 2048, 256, causal=True, window=511),
    Call("gpt-oss 20B, window, prefill 512", 1, 64, 8, 512, 512, 64, causal=True, window=127, sinks=True),
    Call("gpt-oss 20B, full, prefill 512", 1, 64, 8, 512, 512, 64, causal=True, sinks=True),
    Call("gpt-oss 20B, full, 1 token on 2048", 1, 64, 8, 1, 2048, 64, causal=True, sinks=True),
    Call("gpt-oss 20B, window, 1 token on 2048", 1, 64, 8, 1, 2048, 64, causal=True, window=127, sinks=True),
)
