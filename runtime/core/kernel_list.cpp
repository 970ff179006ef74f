#include "core/kernel_list.h"

#include <stdexcept>

namespace gyre {

const Library *KernelList::find_library(std::string_view name) const {
    for (const auto &library : libraries_)
        if (!library->gone && name == library->name) return library.get();
    return nullptr;
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
        made = table.make(*this);
        known[place - 1].store(made.get(), std::memory_order_release);
    }
    return *made;
}

} // namespace gyre
