"""Gyre's attention and rotations in models of Hugging Face Transformers, on the CPU.

    import gyre.transformers
    gyre.transformers.enable()
    model = AutoModelForCausalLM.from_pretrained(…, attn_implementation="gyre")      # or model.set_attn_implementation("gyre")
    gyre.transformers.enable_rotary(model)

Causal masks and windows are arguments of the call, and padding is one row of booleans a sequence: no seqlen × seqlen array is made.
"""

from ._attention import attention_forward, calls
from ._masks import mask
from ._rotary import disable_rotary, enable_rotary, rotary_calls

__all__ = ["calls", "disable_rotary", "enable", "enable_rotary", "rotary_calls"]


def enable(name: str = "gyre") -> None:
    """Makes `name` an attention implementation of Transformers. Twice is once.

    Errors: ImportError (no Transformers 5, or no PyTorch).
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, mask)  # without one, Transformers would leave padding out
