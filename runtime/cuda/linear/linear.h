/// gyre_linear_attention() with tensors on a CUDA device: features in f32, and then three steps by chunks of tokens: what each chunk adds to the
/// states, the states before each, and rows.
#pragma once
#include "cuda/driver/call.h"
#include "cuda/linear/memory.h"
#include "cuda/rows/gradients.h"
#include "linear/call.h"
#include "linear/tensors.h"

namespace gyre::cuda {

/// One of the three steps, and where its kernel takes its arguments.
struct LinearStep {
    const Kernel *kernel = nullptr;
    ArgumentPlaces places;
};

class LinearOnDevice : public Call<gyre_linear_attention_args> {
public:
    explicit LinearOnDevice(const gyre_linear_attention_args &args) : Call(args) {}

    gyre_status check(bool need_data) override;
    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &) const override { return memory.bytes() + results.bytes(); }
    gyre_status run(gyre_context &context) override;

private:
    /// The launches of some batch entries at once.
    struct Entries {
        gyre_context &context;
        const Scope &scope;
        int64_t first, count;
    };

    LinearCall call;
    const Kernel *features = nullptr, *copies = nullptr; // of the tensors' type, and of f32
    const LinearStep *chunks = nullptr, *sums = nullptr, *rows = nullptr;
    const RotaryKernel *rotary = nullptr; // NULL: nothing is rotated
    Rotated queries, keys;
    LinearMemory memory;
    GradientRows results; // of all entries, in f32

    gyre_status rotate(const Entries &of, const LinearArray &array, const Heads &tensor, const Rotated &how) const;
    gyre_status form_queries(const Entries &of) const;
    gyre_status form_keys(const Entries &of) const;
    gyre_status add_chunks(const Entries &of) const;
    gyre_status add_sums(const Entries &of, const LinearArray &chunks, const LinearArray &to, const Heads &before,
                         const Heads &after) const;
    gyre_status attend(const Entries &of) const;
    gyre_status run_entries(const Entries &of) const;
};

} // namespace gyre::cuda
