#include "cuda/rows/slots.h"

#include "cuda/rotary/launch.h"

namespace gyre::cuda {

gyre_status write_slots(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotation &rotation,
                        TokenAngles *angles, const SlotLists &lists, const SlotTensors &tensors) {
    const Heads &from = tensors.from, &to = tensors.to;
    constexpr float rotate = 1;
    const RotatedFeatures features(rotation, from.dim, rotate, false);
    const bool packed = lists.bounds, has_held = lists.held;
    const auto sequences = static_cast<int32_t>(lists.sequences), capacity = static_cast<int32_t>(lists.capacity);
    const auto entries = static_cast<int32_t>(to.batch), entry_stride = static_cast<int32_t>(to.batch_stride);
    const halide_type_t i32 = halide_type(GYRE_I32);
    Buffer bounds(lists.bounds, i32, {{sequences + 1, 1}}), held(lists.held, i32, {{sequences, 1}});
    Buffer table(lists.table, i32, {{lists.table_pages, 1}, {sequences, lists.table_stride}});
    Buffer x(from.data, halide_type(from.dtype),
             {{from.dim, 1},
              {from.heads, from.head_stride},
              {from.seqlen, from.token_stride},
              {from.batch, from.batch_stride}});
    Buffer out(to.data, halide_type(to.dtype),
               {{from.dim, 1}, {to.heads, to.head_stride}, {tensors.tokens, to.token_stride}, {tensors.entries, 0}});
    using A = RotaryCudaArguments;
    KernelArguments<A> arguments(kernel.places_on_device);
    angles->add_to(&arguments);
    features.add_to(&arguments);
    arguments[A::bounds] = &bounds;
    arguments[A::held] = &held;
    arguments[A::page_table] = &table;
    arguments[A::packed] = &packed;
    arguments[A::has_held] = &has_held;
    arguments[A::paged] = &lists.paged;
    arguments[A::from_pages] = &lists.from_pages;
    arguments[A::sequences] = &sequences;
    arguments[A::page_bits] = &lists.page_bits;
    arguments[A::capacity] = &capacity;
    arguments[A::entries] = &entries;
    arguments[A::entry_stride] = &entry_stride;
    arguments[A::x] = &x;
    arguments[A::out] = &out;
    return launch(context, scope, *kernel.kernel, arguments);
}

} // namespace gyre::cuda
