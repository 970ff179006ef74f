/// Whether tensors share memory.
#pragma once
#include "core/call_tensors.h"
#include "core/tensor.h"

#include <initializer_list>

namespace gyre {

/// True if no two elements of the view share memory, so that threads may write them. Sufficient, not necessary: strides
/// that interleave dimensions are taken for overlap.
bool writable(const Heads &v);

/// True if the views share no byte: apart from each other, or slots of one packed array (as q, k and v often are).
bool disjoint(const Heads &a, const Heads &b);

/// True if the memory from the tensor's lowest to its highest element holds no byte of the view.
bool disjoint(const gyre_tensor &t, const Heads &v);

/// True if the two views are the same elements in the same places, or disjoint.
bool same_or_disjoint(const Heads &a, const Heads &b);

/// What a call writes, by its name in the arguments.
struct Written {
    const Heads *view;
    const char *name;
};

/// Refuses lists, masks and tables that share memory with what the call writes: they are read while it is written, after they
/// were checked. A visitor of checked tensors (core/call_tensors.h); operands have checks of their own.
class ReadsApart : public TensorReader<ReadsApart> {
public:
    /// `skipped`: a tensor that the call writes, or does not read; NULL: none.
    ReadsApart(std::initializer_list<Written> written, const gyre_tensor *skipped)
        : written(written), skipped(skipped) {}

    using TensorReader::operator();
    void operator()(const gyre_tensor &, const char *) {}
    void read(const gyre_tensor &t, const char *name) {
        if (&t != skipped && status == GYRE_OK) status = check(t, name);
    }

    gyre_status status = GYRE_OK;

private:
    gyre_status check(const gyre_tensor &t, const char *name) const;

    const std::initializer_list<Written> written;
    const gyre_tensor *const skipped;
};

/// ReadsApart of a call's arguments. Errors: BAD_ARGUMENT, which names what is read.
template <typename Arguments>
gyre_status check_reads_apart(Arguments args, std::initializer_list<Written> written,
                              const gyre_tensor *skipped = nullptr) {
    ReadsApart visit{written, skipped};
    each_tensor(args, visit);
    return visit.status;
}

} // namespace gyre
