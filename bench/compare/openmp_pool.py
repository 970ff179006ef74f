"""openmp_pool.c as a library that is compiled when it is asked for."""

import ctypes
import os
import pathlib
import subprocess
import tempfile
from ctypes import byref, c_int32, c_int64, c_void_p

import gyre
from gyre import _library
from gyre._structures import ContextOptions

SOURCE = pathlib.Path(__file__).with_name("openmp_pool.c")


class OpenMP:
    """A program's OpenMP threads. It needs a C compiler, $CC or cc."""

    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            built = os.path.join(folder, "openmp_pool.so")
            compiler = os.environ.get("CC", "cc")
            subprocess.run([compiler, "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", SOURCE, "-o", built], check=True)
            self.library = ctypes.CDLL(built)
        self.library.read_numbers.argtypes = c_void_p, c_int64, c_int32

    def context(self, threads, target):
        """A gyre.Context whose tasks run on these threads."""
        context = gyre.Context(threads=1, target=target)
        options = ContextOptions(threads=threads, target=target.encode() if target else None,
                                 parallel_for=ctypes.cast(self.library.run_in_openmp, c_void_p).value)
        handle = c_void_p()
        _library.check(_library.library.gyre_context_create(byref(options), byref(handle)))
        context.handle = handle  # kept until the program ends
        return context

    def reader(self, arrays, threads):
        """A function that reads all bytes of these arrays with so many threads."""
        places = [(array.ctypes.data, array.nbytes // 8) for array in arrays]

        def run():
            for place, count in places:
                self.library.read_numbers(place, count, threads)

        run.keeps = arrays
        return run
