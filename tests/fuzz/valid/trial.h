/// One valid call with its memory, and what it must write.
#pragma once
#include "memory.h"

#include <gyre/gyre.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gyre::fuzz {

/// Memory that a caller gives; NULL: the context's own.
struct Workspace {
    void *memory = nullptr;
    size_t bytes = 0;
};

class Trial {
public:
    virtual ~Trial() = default;
    Trial() = default;
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    virtual gyre_status call(gyre_context *context, Workspace workspace) = 0;
    virtual gyre_status workspace_size(gyre_context *context, size_t *bytes) = 0;
    /// What is wrong with what the call wrote, which ran last with this context; empty: nothing.
    virtual std::string compare(gyre_context *context) = 0;
    virtual std::string describe() const = 0;
    /// True if only some targets have kernels for it.
    virtual bool may_be_unsupported() const { return false; }

    /// Puts garbage wherever nothing counts, and poison into what is to be written.
    void prepare(Garbage garbage);
    /// Memory that must not have been written since; empty: none was.
    std::string find_stray_writes() const;
    /// All that was written; all NaNs are alike.
    std::vector<std::vector<uint64_t>> bits() const;

protected:
    Store store;
};

/// "name: element 3 is 1, expected 2 within 0.5" of the worst of the elements that are outside; empty: none is. Infinity is what
/// the type `stored` holds of numbers beyond its range.
std::string find_difference(const char *name, const std::vector<double> &got, const std::vector<double> &expected,
                            const std::vector<double> &allowed, gyre_dtype stored = GYRE_F32);

} // namespace gyre::fuzz
