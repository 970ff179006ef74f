"""Contexts: threads, target and scratch memory of calls."""

import weakref
from ctypes import byref, c_void_p

from . import _library
from ._structures import ContextOptions
from ._values import integer, text


class Context:
    """Threads, target and scratch memory that calls share. Calls that share a context run one after the other.

    threads   0: as many as this process may run on
    target    whose kernels run, such as "x86_64_avx2"; None: the environment variable GYRE_TARGET, else the best
    library   None: kernels of every library; else of this one only; "gyre": those of this package

    Errors: ValueError (threads below 0, an unknown target or library), NotImplementedError (a target that this machine cannot
    run), MemoryError.
    """

    def __init__(self, threads: int = 0, target: str | None = None, library: str | None = None) -> None:
        options = ContextOptions(threads=integer(threads, "threads"), target=text(target, "target"),
                                 library=text(library, "library"))
        handle = c_void_p()
        _library.check(_library.library.gyre_context_create(byref(options), byref(handle)))
        self.handle = handle
        # When the interpreter ends, daemon threads may still be in calls, and what ends after it may still call: contexts stay.
        weakref.finalize(self, _library.library.gyre_context_destroy, handle).atexit = False

    def __getstate__(self) -> None:
        """Errors: TypeError, since a copy would share memory that the first one to go gives back."""
        raise TypeError("context: cannot be copied or stored, expected another gyre.Context()")

    def __repr__(self) -> str:
        return f"gyre.Context(threads={self.threads}, target={self.target!r})"

    @property
    def threads(self) -> int:
        """How many threads calls use."""
        return int(_library.library.gyre_context_threads(self.handle))

    @property
    def target(self) -> str:
        """The best target that calls use, such as "x86_64_avx512"."""
        return str(_library.library.gyre_context_target(self.handle), "utf-8")

    @property
    def selected_kernel(self) -> str:
        """The kernel that the last successful call ran, such as "attention_plain_f32_d64__x86_64_avx512"; "" before the first."""
        return str(_library.library.gyre_selected_kernel(self.handle), "utf-8")
