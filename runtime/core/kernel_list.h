/// The kernels of the libraries that are registered at one time, and what is read from their attributes once for all calls.
#pragma once
#include "gyre/kernels.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>
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

/// What a KernelTable made of a list: rows of some type, those of a group together, in the order of the list.
struct MadeTable {
    std::unique_ptr<std::byte[]> rows;
    std::vector<size_t> begins; // of groups, in bytes, and the end of the last
};

/// The part of a KernelTable that lists of kernels know: the same code for rows of every type.
class AnyKernelTable {
protected:
    constexpr AnyKernelTable(std::string_view operation, size_t row_bytes)
        : operation(operation), row_bytes(row_bytes) {}
    ~AnyKernelTable() = default; // trivial: calls may still use a table while the process ends

private:
    friend class KernelList;
    const std::string_view operation;
    const size_t row_bytes;
    std::atomic<size_t> place{0}; // in every list, from 1; 0: none yet

    /// Reads a kernel's row into `row`, and returns its group.
    virtual size_t read_row(const Kernel &k, void *row) const = 0;
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

    std::unique_ptr<MadeTable> make(const AnyKernelTable &table) const;
};

/// Held while libraries come and go, and while tables are made.
std::mutex &registry_mutex();

/// Neighbouring rows of a table.
template <typename Row>
struct TableRows {
    const Row *first = nullptr, *last = nullptr;
    const Row *begin() const { return first; }
    const Row *end() const { return last; }
};

/// The kernels of one operation with their attributes read. A table may keep groups apart, so that a call looks through those
/// only that may serve it.
template <typename Row>
class KernelTable : public AnyKernelTable {
    static_assert(std::is_trivially_copyable_v<Row> && std::is_trivially_destructible_v<Row>,
                  "rows are copied as bytes");

public:
    constexpr KernelTable(std::string_view operation, Row (*read)(const Kernel &),
                          size_t (*group_of)(const Row &) = nullptr)
        : AnyKernelTable(operation, sizeof(Row)), read(read), group_of(group_of) {}

    TableRows<Row> rows(const KernelList &list, size_t group = 0) {
        const MadeTable &made = list.made(*this);
        if (group + 1 >= made.begins.size()) return {};
        const auto row = [&](size_t at) { return reinterpret_cast<const Row *>(made.rows.get() + at); };
        return {row(made.begins[group]), row(made.begins[group + 1])};
    }

private:
    size_t read_row(const Kernel &k, void *row) const override {
        const Row *made = new (row) Row(read(k));
        return group_of ? group_of(*made) : 0;
    }

    Row (*const read)(const Kernel &);
    size_t (*const group_of)(const Row &);
};

} // namespace gyre
