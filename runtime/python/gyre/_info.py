"""What is linked, and what this machine runs of it."""

from collections import Counter
from ctypes import byref
from typing import Any

from . import _library
from ._structures import KernelInfo, TargetInfo


def _each(count: str, at: str, structure: type) -> Any:
    for index in range(getattr(_library.library, count)()):
        row = structure()
        if getattr(_library.library, at)(index, byref(row)):
            yield row


def info() -> dict[str, Any]:
    """Version and file of the library, the target that calls use here, the processor's features, and what is linked.

    Keys: version, library (a path), target, threads, features (a list); targets (a list of dictionaries with name, linked,
    runnable and missing, the first feature that this machine lacks); kernels (how many of each operation).
    """
    targets = [{"name": row.name.decode(), "linked": bool(row.linked), "runnable": bool(row.runnable),
                "missing": row.missing.decode()} for row in _each("gyre_target_count", "gyre_target_at", TargetInfo)]
    kernels = Counter(row.operation.decode() for row in _each("gyre_kernel_count", "gyre_kernel_at", KernelInfo))
    return {"version": _library.library.gyre_version().decode(), "library": str(_library.path),
            "target": _library.library.gyre_context_target(None).decode(),
            "threads": _library.library.gyre_context_threads(None),
            "features": _library.library.gyre_cpu_features().decode().split(), "targets": targets,
            "kernels": dict(sorted(kernels.items()))}
