/// What is linked: kernels, and the targets they were made for, best first.
#pragma once
#include "gyre/kernels.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

/// The kernels that are part of the library itself. Defined by the list that the build writes, or empty.
extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void);

namespace gyre {

/// One row of the target table of this architecture.
struct Target {
    const char *name;
    const char *features; // separated by blanks
    const char *rest;     // the target whose kernels serve where this one has none of its own; "": there is none
    gyre_device device;   // where its kernels' tensors are
};

/// The rows of a table that is part of the program.
template <typename Row>
struct RowList {
    const Row *first;
    size_t count;
    const Row *begin() const { return first; }
    const Row *end() const { return first + count; }
};
using TargetList = RowList<Target>;

TargetList known_targets();
const Target *find_target(std::string_view name); // nullptr: unknown
bool can_run(const Target &target);
bool serves(const Target *serving, const Target &target); // it is `target`, or has the rest of its kernels
bool is_linked(const Target &target);

/// A kernel of some registered library.
struct Kernel : gyre_kernel {
    const gyre_kernel_library *library;
    const Target *row; // of the target table; nullptr: of no target of this architecture
    bool runnable;     // on this machine's CPU
};

/// All kernels, best target first; of one target, those of the library registered last first. A list is never changed:
/// after a registration there is another one, and the old ones stay.
const std::vector<Kernel> &linked_kernels();

/// The registered library of that name; nullptr: there is none.
const gyre_kernel_library *find_library(std::string_view name);

/// The value of `name=value` among a kernel's attributes; empty, or `fallback`, if it has none of that name.
std::string_view attribute(const gyre_kernel &kernel, std::string_view name);
int64_t attribute(const gyre_kernel &kernel, std::string_view name, int64_t fallback);

/// The kernels of one operation with their attributes read, made once for each list of linked kernels. A table may keep
/// groups apart, so that a call looks through those only that may serve it.
template <typename Row>
class KernelTable {
public:
    KernelTable(std::string_view operation, Row (*read)(const Kernel &), size_t (*group_of)(const Row &) = nullptr)
        : operation(operation), read(read), group_of(group_of) {}

    const std::vector<Row> &rows(size_t group = 0) {
        static const std::vector<Row> none;
        const auto &groups = table().groups;
        return group < groups.size() ? groups[group] : none;
    }

private:
    struct Table {
        const std::vector<Kernel> *of;
        std::vector<std::vector<Row>> groups;
    };

    const Table &table() {
        const std::vector<Kernel> &kernels = linked_kernels();
        const Table *known = current.load(std::memory_order_acquire);
        if (known && known->of == &kernels) return *known;
        const std::lock_guard<std::mutex> lock(mutex);
        for (const auto &made : tables)
            if (made->of == &kernels) return *made;
        auto made = std::make_unique<Table>();
        made->of = &kernels;
        for (const Kernel &k : kernels) {
            if (k.operation != operation) continue;
            Row row = read(k);
            const size_t group = group_of ? group_of(row) : 0;
            if (group >= made->groups.size()) made->groups.resize(group + 1);
            made->groups[group].push_back(std::move(row));
        }
        tables.push_back(std::move(made));
        current.store(tables.back().get(), std::memory_order_release);
        return *tables.back();
    }

    const std::string_view operation;
    Row (*const read)(const Kernel &);
    size_t (*const group_of)(const Row &);
    std::atomic<const Table *> current{nullptr};
    std::mutex mutex;
    std::vector<std::unique_ptr<Table>> tables;
};

} // namespace gyre
