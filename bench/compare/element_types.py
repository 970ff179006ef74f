"""NumPy's types of elements by the names that Gyre's options have."""

import numpy as np

TYPES = ("f32", "f16", "bf16")


def element_type(dtype):
    """bf16 is ml_dtypes'."""
    if dtype == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f32": np.float32, "f16": np.float16}[dtype])
