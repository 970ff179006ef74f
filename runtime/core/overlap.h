/// Whether tensors share memory.
#pragma once
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
struct ReadsApart {
    std::initializer_list<Written> written;
    const gyre_tensor *skipped; // one that the call writes, or does not read; NULL: none
    gyre_status status = GYRE_OK;

    void operator()(const gyre_tensor &, const char *) {}
    void operator()(const gyre_tensor *t, const char *name) {
        if (t && t != skipped && status == GYRE_OK) status = check(*t, name);
    }
    void operator()(const gyre_rope &rope, const char *cos, const char *sin) {
        (*this)(rope.cos, cos);
        (*this)(rope.sin, sin);
    }
    void operator()(const gyre_rope *rope, const char *cos, const char *sin) {
        if (rope) (*this)(*rope, cos, sin);
    }

private:
    gyre_status check(const gyre_tensor &t, const char *name) const;
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
