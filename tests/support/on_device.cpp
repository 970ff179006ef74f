#include "on_device.h"
#include "doctest.h"
#include "each_kernel.h"
#include "element.h"

#include <dlfcn.h>

#include <map>

namespace gyre::test {
namespace {

/// The few functions of the CUDA driver that moving tensors takes; in a device's primary context.
struct Memory {
    int (*Alloc)(uint64_t *, size_t);
    int (*Free)(uint64_t);
    int (*HtoD)(uint64_t, const void *, size_t);
    int (*DtoH)(void *, uint64_t, size_t);
    int (*Synchronize)();
    int (*Push)(void *);
    int (*Pop)(void **);
    void *primary = nullptr;

    explicit Memory(int ordinal) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        REQUIRE_MESSAGE((library != nullptr), "there is no CUDA driver");
        const auto find = [&](auto *function, const char *name) {
            *reinterpret_cast<void **>(function) = dlsym(library, name);
            REQUIRE_MESSAGE((*function != nullptr), name);
        };
        int (*init)(unsigned), (*retain)(void **, int);
        find(&init, "cuInit");
        find(&retain, "cuDevicePrimaryCtxRetain");
        find(&Alloc, "cuMemAlloc_v2");
        find(&Free, "cuMemFree_v2");
        find(&HtoD, "cuMemcpyHtoD_v2");
        find(&DtoH, "cuMemcpyDtoH_v2");
        find(&Synchronize, "cuCtxSynchronize");
        find(&Push, "cuCtxPushCurrent_v2");
        find(&Pop, "cuCtxPopCurrent_v2");
        REQUIRE(init(0) == 0);
        REQUIRE(retain(&primary, ordinal) == 0);
    }

    static const Memory &of(int ordinal) {
        static std::map<int, Memory> of_devices;
        return of_devices.try_emplace(ordinal, ordinal).first->second;
    }
};

/// In the primary context while it lives; the library's calls are made outside of it.
class Inside {
public:
    explicit Inside(int ordinal) : memory(Memory::of(ordinal)) { REQUIRE(memory.Push(memory.primary) == 0); }
    ~Inside() {
        void *popped;
        memory.Pop(&popped);
    }
    const Memory &memory;
};

} // namespace

bool is_on_device(const gyre_context *context) {
    const std::string name = gyre_context_target(context);
    for (const gyre_target_info &info : all_targets())
        if (name == info.name) return info.device == GYRE_CUDA;
    return false;
}

OnDevice::OnDevice(int ordinal) : ordinal_(ordinal) { Memory::of(ordinal); }

OnDevice::~OnDevice() {
    const Inside inside(ordinal_);
    for (const Copy &c : copies_) inside.memory.Free(c.device);
}

const OnDevice::Copy &OnDevice::copy(unsigned char *host, size_t bytes) {
    const Inside inside(ordinal_);
    Copy made{host, bytes, 0};
    REQUIRE(inside.memory.Alloc(&made.device, bytes) == 0);
    REQUIRE(inside.memory.HtoD(made.device, host, bytes) == 0);
    copies_.push_back(made);
    return copies_.back();
}

void OnDevice::add(Tensor &tensor) { copy(tensor.memory().data(), tensor.memory().size()); }

gyre_tensor OnDevice::view(const gyre_tensor &host) {
    gyre_tensor on_device = host;
    on_device.device = GYRE_CUDA;
    auto *data = static_cast<unsigned char *>(host.data);
    if (!data) return on_device;
    const auto point_into = [&](const Copy &c) {
        on_device.data = reinterpret_cast<void *>(c.device + (uint64_t)(data - c.host));
        return on_device;
    };
    for (const Copy &c : copies_)
        if (data >= c.host && data < c.host + c.bytes) return point_into(c);
    int64_t low = 0, high = 0;
    for (int i = 0; i < host.rank; i++) {
        if (host.shape[i] <= 0) return on_device;
        const int64_t far = (host.shape[i] - 1) * host.strides[i];
        (far < 0 ? low : high) += far;
    }
    const int64_t size = element_size(host.dtype);
    return point_into(copy(data + low * size, (size_t)((high - low + 1) * size)));
}

const gyre_tensor *OnDevice::view(const gyre_tensor *host) {
    if (!host) return nullptr;
    views_.push_back(view(*host));
    return &views_.back();
}

const gyre_rope *OnDevice::view(const gyre_rope *host) {
    if (!host) return nullptr;
    gyre_rope &there = ropes_.emplace_back(*host);
    there.cos = view(there.cos);
    there.sin = view(there.sin);
    return &there;
}

void OnDevice::fetch() {
    const Inside inside(ordinal_);
    REQUIRE(inside.memory.Synchronize() == 0);
    for (const Copy &c : copies_) REQUIRE(inside.memory.DtoH(c.host, c.device, c.bytes) == 0);
}

} // namespace gyre::test
