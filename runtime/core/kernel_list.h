/// The kernels of the libraries that are registered at one time, and what is read from their attributes once for all calls.
#pragma once
#include "gyre/kernels.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace gyre {

/// One row of the target table of this architecture.
struct Target {
    const char *name;
    const char *features; // separated by blanks
    const char *rest;     // the target whose kernels serve where this one has none of its own; "": there is none
    gyre_device device;   // where its kernels' tensors are
};

/// A registered library.
struct Library {
    const char *name; // lives as long as the process
    const gyre_kernel_library *given;
    mutable std::atomic<bool> gone{false}; // taken away, though a list still holds its kernels

    Library(const char *name, const gyre_kernel_library *given) : name(name), given(given) {}
};

/// A kernel of some registered library. Its strings live as long as the process: the library's own end when it is unloaded.
struct Kernel : gyre_kernel {
    const Library *library;
    const Target *row; // of the target table; nullptr: of no target of this architecture
};

class KernelList;

/// What a KernelTable made of a list.
struct MadeTable {
    virtual ~MadeTable() = default;
};

/// The part of a KernelTable that lists of kernels know.
class AnyKernelTable {
public:
    virtual std::unique_ptr<MadeTable> make(const KernelList &list) const = 0;

protected:
    constexpr AnyKernelTable() = default;
    ~AnyKernelTable() = default; // trivial: calls may still use a table while the process ends

private:
    friend class KernelList;
    std::atomic<size_t> place{0}; // in every list, from 1; 0: none yet
};

/// All kernels, best target first; of one target, those of the library registered last first. A list is never changed: after
/// a registration there is another one, and calls that have begun keep theirs.
class KernelList {
public:
    KernelList(std::vector<Kernel> kernels, std::vector<std::shared_ptr<const Library>> libraries)
        : kernels_(std::move(kernels)), libraries_(std::move(libraries)) {}

    const std::vector<Kernel> &kernels() const { return kernels_; }
    const std::vector<std::shared_ptr<const Library>> &libraries() const { return libraries_; }

    /// The registered library of that name; nullptr: there is none.
    const Library *find_library(std::string_view name) const;

    /// What that table is for this list; made by the first call that asks. Thread-safe.
    const MadeTable &made(AnyKernelTable &table) const;

private:
    static constexpr size_t most_tables = 32;

    const std::vector<Kernel> kernels_;
    const std::vector<std::shared_ptr<const Library>> libraries_;
    mutable std::array<std::atomic<const MadeTable *>, most_tables> known{};
    mutable std::array<std::unique_ptr<MadeTable>, most_tables> owned;
};

/// Held while libraries come and go, and while tables are made.
std::mutex &registry_mutex();

/// The kernels of one operation with their attributes read. A table may keep groups apart, so that a call looks through those
/// only that may serve it.
template <typename Row>
class KernelTable : public AnyKernelTable {
public:
    constexpr KernelTable(std::string_view operation, Row (*read)(const Kernel &),
                          size_t (*group_of)(const Row &) = nullptr)
        : operation(operation), read(read), group_of(group_of) {}

    const std::vector<Row> &rows(const KernelList &list, size_t group = 0) {
        return static_cast<const Made &>(list.made(*this)).group(group);
    }

private:
    struct Made : MadeTable {
        std::vector<std::vector<Row>> groups;
        std::vector<Row> none;

        const std::vector<Row> &group(size_t index) const { return index < groups.size() ? groups[index] : none; }
    };

    std::unique_ptr<MadeTable> make(const KernelList &list) const override {
        auto made = std::make_unique<Made>();
        for (const Kernel &k : list.kernels()) {
            if (k.operation != operation) continue;
            Row row = read(k);
            const size_t group = group_of ? group_of(row) : 0;
            if (group >= made->groups.size()) made->groups.resize(group + 1);
            made->groups[group].push_back(std::move(row));
        }
        return made;
    }

    const std::string_view operation;
    Row (*const read)(const Kernel &);
    size_t (*const group_of)(const Row &);
};

} // namespace gyre
