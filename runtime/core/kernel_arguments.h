/// What a kernel is called with: given by the names of its table, in any order, and handed over in the kernel's.
///
///     KernelArguments<FooArguments> arguments(kernel.places);
///     arguments[FooArguments::x] = &x;             // a Buffer
///     arguments[FooArguments::scale] = &scale;     // a float, as the table says
///     arguments.call(*kernel.kernel, slab);        // false: it failed, or lacks an argument that it has
///
/// What is pointed to must outlive the call. An argument that the kernel does not have may be given all the same.
#pragma once
#include "core/argument_row.h"
#include "core/kernel_call.h"

namespace gyre {

template <typename Table_>
class KernelArguments {
public:
    using Table = Table_;

    KernelArguments() : places(fixed) {
        static_assert(has_fixed_places<Table>(), "which of the arguments it has is the kernel's to tell");
    }
    explicit KernelArguments(const ArgumentPlaces &places) : places(places) {}
    KernelArguments(const KernelArguments &) = delete;

    template <typename Value>
    class Slot {
    public:
        explicit Slot(void **at) : at(at) {}
        void operator=(Value *value) {
            if constexpr (std::is_same_v<Value, Buffer>)
                *at = value->get();
            else
                *at = const_cast<void *>(static_cast<const void *>(value));
        }

    private:
        void **at;
    };

    template <typename Table::Place place, typename Type, int rank>
    auto operator[](ArgumentKey<place, Type, rank>) {
        given.add(static_cast<size_t>(place));
        return Slot<typename ArgumentKey<place, Type, rank>::Value>(&argv[places.of[place]]);
    }

    /// The inputs that a kernel's score function asks for, in the kernel's order.
    template <typename Table::Place place, typename Value>
    void add(ScoreInputsName<place>, Value *value) {
        Slot<Value> slot(&argv[places.of[place] + score_inputs++]);
        slot = value;
    }

    /// Calls a kernel whose memory is `slab`. Returns false if it fails, or lacks an argument or memory.
    bool call(const Kernel &kernel, Slab &slab) { return call_with(kernel, &slab) && !slab.overflowed(); }

    /// Calls a kernel that takes something else than memory as its user context. Returns false if it fails or lacks an argument.
    bool call_with(const Kernel &kernel, void *user_context) {
        argv[0] = &user_context;
        return given.has_all(places.required) && kernel.call(argv) == 0;
    }

private:
    static constexpr ArgumentPlaces fixed = fixed_places<Table>();

    const ArgumentPlaces &places;
    RowSet given;
    size_t score_inputs = 0;
    void *argv[ArgumentPlaces::spare + 1];
};

} // namespace gyre
