"""Loads the operators: libgyre_torch.so beside libgyre.so."""

import torch

from .. import _library

_VERSION = tuple(int(word) for word in torch.__version__.split("+")[0].split(".")[:2])
if _VERSION < (2, 10):
    raise ImportError(f"gyre.torch: got PyTorch {torch.__version__}, expected 2.10 or later")
_file = _library.path.parent / "libgyre_torch.so"
if not _file.exists():
    raise ImportError(f"gyre.torch: there is no {_file}: this package was built without PyTorch's operators")
torch.ops.load_library(str(_file))
