"""The CUDA driver by ctypes: memory, images, occupancy, graphs and events of device 0. Nothing but libcuda.so.1 is needed."""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint64, c_void_p

COMPUTE_MAJOR, COMPUTE_MINOR, MULTIPROCESSORS, L2_BYTES = 75, 76, 16, 38  # CUdevice_attribute
FUNCTION_FACTS = {"shared": 1, "local": 3, "registers": 4, "max_threads": 0}  # CUfunction_attribute
MAX_DYNAMIC_SHARED = 8
CAPTURE_RELAXED = 2


class DriverError(RuntimeError):
    """A function of the driver failed."""


class Driver:
    """Device 0 with its primary context, which gyre and PyTorch use as well."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise DriverError(f"there is no CUDA driver: {error}") from error
        self.call("cuInit", 0)
        count = c_int()
        self.call("cuDeviceGetCount", byref(count))
        if not count.value:
            raise DriverError("the CUDA driver has no device")
        self.context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), 0)
        self.call("cuCtxPushCurrent_v2", self.context)
        self.stream = c_void_p()
        self.call("cuStreamCreate", byref(self.stream), 1)  # does not wait for the NULL stream

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorName(status, byref(text))
            raise DriverError(f"{name}: {(text.value or b'').decode()} ({status})")

    def attribute(self, number):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), number, 0)
        return value.value

    def name(self):
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, len(text), 0)
        return text.value.decode()

    def version(self):
        value = c_int()
        self.call("cuDriverGetVersion", byref(value))
        return value.value

    def allocate(self, size):
        pointer = c_uint64()
        self.call("cuMemAlloc_v2", byref(pointer), c_size_t(max(size, 1)))
        return pointer.value

    def free(self, pointer):
        self.call("cuMemFree_v2", c_uint64(pointer))

    def upload(self, pointer, array):
        self.call("cuMemcpyHtoD_v2", c_uint64(pointer), c_void_p(array.ctypes.data), c_size_t(array.nbytes))

    def download(self, array, pointer):
        self.synchronize()
        self.call("cuMemcpyDtoH_v2", c_void_p(array.ctypes.data), c_uint64(pointer), c_size_t(array.nbytes))

    def copy(self, to, source, size):
        self.call("cuMemcpyDtoDAsync_v2", c_uint64(to), c_uint64(source), c_size_t(size), self.stream)

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)

    def load(self, image):
        """A module of the bytes of a fat binary."""
        module = c_void_p()
        self.call("cuModuleLoadData", byref(module), image)
        return module

    def function_facts(self, module, entry, threads, shared_bytes):
        """What the driver says of a function, and how many of its blocks a multiprocessor holds."""
        function, value = c_void_p(), c_int()
        self.call("cuModuleGetFunction", byref(function), module, entry.encode())
        facts = {}
        for name, number in FUNCTION_FACTS.items():
            self.call("cuFuncGetAttribute", byref(value), number, function)
            facts[name] = value.value
        self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared_bytes)
        self.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(value), function, threads, c_size_t(shared_bytes))
        return {**facts, "threads": threads, "dynamic_shared": shared_bytes, "blocks": value.value}

    def capture(self, calls):
        """A graph of what `calls` queue on self.stream, ready to be replayed."""
        graph, executable = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, CAPTURE_RELAXED)
        try:
            for call in calls:
                call()
        finally:
            self.call("cuStreamEndCapture", self.stream, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
        return executable

    def replay_us(self, executable):
        """The time on the device that one replay takes."""
        begin, end, elapsed = c_void_p(), c_void_p(), c_float()
        for event in (begin, end):
            self.call("cuEventCreate", byref(event), 0)
        self.call("cuEventRecord", begin, self.stream)
        self.call("cuGraphLaunch", executable, self.stream)
        self.call("cuEventRecord", end, self.stream)
        self.call("cuEventSynchronize", end)
        self.call("cuEventElapsedTime", byref(elapsed), begin, end)
        for event in (begin, end):
            self.call("cuEventDestroy_v2", event)
        return 1e3 * elapsed.value
