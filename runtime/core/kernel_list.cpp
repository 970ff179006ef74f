#include "core/kernel_list.h"

#include <cstring>
#include <stdexcept>

namespace gyre {

const Library *KernelList::find_library(std::string_view name) const {
    for (const auto &library : libraries_)
        if (!library->gone && name == library->name) return library.get();
    return nullptr;
}

std::unique_ptr<MadeTable> KernelList::make(const AnyKernelTable &table) const {
    std::vector<const Kernel *> taken;
    for (const Kernel &k : kernels_)
        if (k.operation == table.operation) taken.push_back(&k);
    const size_t bytes = table.row_bytes, end = taken.size() * bytes;
    const std::unique_ptr<std::byte[]> read(new std::byte[end]);
    std::vector<size_t> groups;
    for (size_t i = 0; i < taken.size(); i++) groups.push_back(table.read_row(*taken[i], read.get() + i * bytes));
    auto made = std::make_unique<MadeTable>();
    made->rows.reset(new std::byte[end]);
    size_t placed = 0;
    for (size_t group = 0; placed < end; group++) {
        made->begins.push_back(placed);
        for (size_t i = 0; i < groups.size(); i++) {
            if (groups[i] != group) continue;
            std::memcpy(made->rows.get() + placed, read.get() + i * bytes, bytes);
            placed += bytes;
        }
    }
    made->begins.push_back(end);
    return made;
}

const MadeTable &KernelList::made(AnyKernelTable &table) const {
    static size_t places = 0;
    if (const size_t place = table.place.load(std::memory_order_acquire))
        if (const MadeTable *made = known[place - 1].load(std::memory_order_acquire)) return *made;
    const std::lock_guard<std::mutex> lock(registry_mutex());
    size_t place = table.place.load(std::memory_order_relaxed);
    if (!place) {
        if (places == most_tables) throw std::length_error("more tables of kernels than a list has places");
        place = ++places;
        table.place.store(place, std::memory_order_release);
    }
    auto &made = owned[place - 1];
    if (!made) {
        made = make(table);
        known[place - 1].store(made.get(), std::memory_order_release);
    }
    return *made;
}

} // namespace gyre
