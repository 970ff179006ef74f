#include "lower.h"

#include "carried.h"
#include "choices.h"
#include "device_loops.h"
#include "loop_ranges.h"
#include "warp_printer.h"

#include <fstream>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

Expr struct_of(const std::vector<Expr> &members) {
    return Call::make(type_of<void *>(), Call::make_struct, members, Call::Intrinsic);
}

/// The address of what the launcher copies as this argument.
Expr address_of(const KernelArgument &a) {
    if (!a.is_buffer) return struct_of({Variable::make(a.type, a.name)});
    const Expr buffer = Variable::make(type_of<halide_buffer_t *>(), a.name + ".buffer");
    const Expr memory = Call::make(type_of<void *>(), Call::buffer_get_host, {buffer}, Call::Extern);
    return a.by_value ? memory : struct_of({memory});
}

/// Takes GPU loops out and puts launches in their place.
class TakeDeviceLoops : public IRMutator {
public:
    explicit TakeDeviceLoops(Lowering given) : lowering(std::move(given)) {}

    Stmt mutate(const Stmt &s) override {
        const bool outermost = depth++ == 0;
        Stmt result = IRMutator::mutate(s);
        depth--;
        if (outermost) write();
        return result;
    }

protected:
    using IRMutator::mutate;
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::GPUBlock) return IRMutator::visit(op);
        const Stmt ranged = read_carried(limit_loops(Stmt(op), lowering.ranges));
        const Stmt limited = lowering.warpgroups ? part_choices(ranged) : ranged;
        const For *nest = limited.as<For>();
        DeviceLoops loops = read_device_loops(nest, lowering.by_value);
        const std::string entry = lowering.entry() + "_" + std::to_string(kernels++);
        printer.order_blocks(lowering.last_first, lowering.across_first);
        printer.take_as_aligned(lowering.aligned);
        printer.share_places_of_rows(lowering.copies_of_row);
        printer.multiply_by_warpgroups(lowering.warpgroups);
        printer.copy_by_warps(lowering.copying);
        if (lowering.copying.count) loops.block.y = simplify(loops.block.y + lowering.copying.count);
        printer.print_kernel(nest, entry, loops.arguments, loops.threads() ? loops.threads() : lowering.most_threads,
                             lowering.blocks_at_once);

        std::vector<Expr> arguments;
        for (const KernelArgument &a : loops.arguments) arguments.push_back(address_of(a));
        std::vector<Expr> values{Variable::make(type_of<void *>(), "__user_context"), Expr(entry)};
        if (lowering.across_first.defined()) {
            const Extents given = loops.grid;
            loops.grid.x = select(lowering.across_first, given.y, given.x);
            loops.grid.y = select(lowering.across_first, given.x, given.y);
        }
        for (const Extents &e : {loops.grid, loops.block}) values.insert(values.end(), {e.x, e.y, e.z});
        values.insert(values.end(), {Expr(printer.shared_bytes()), struct_of(arguments)});
        const Expr launch = Call::make(Int(32), "gyre_kernel_launch", values, Call::Extern);
        // The status stays with the launcher, which asks for no further launches after one that failed.
        return Evaluate::make(launch);
    }

    // Halide's own copies between host and device: there are none here.
    Stmt visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        const bool copies =
            call && (call->name == "halide_copy_to_device" || call->name == "halide_copy_to_host" ||
                     call->name == Call::buffer_set_device_dirty || call->name == Call::buffer_set_host_dirty);
        return copies ? Evaluate::make(0) : IRMutator::visit(op);
    }
    Stmt visit(const AssertStmt *op) override {
        return uses_device_interface(op->condition) ? Evaluate::make(0) : IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        return uses_device_interface(op->value) ? mutate(op->body) : IRMutator::visit(op);
    }

private:
    const Lowering lowering;
    WarpPrinter printer;
    int depth = 0, kernels = 0;

    static bool uses_device_interface(const Expr &e) {
        class Find : public IRVisitor {
            using IRVisitor::visit;
            void visit(const Call *op) override {
                found = found || op->name == "halide_cuda_device_interface";
                IRVisitor::visit(op);
            }

        public:
            bool found = false;
        } find;
        e.accept(&find);
        return find.found;
    }

    void write() const {
        if (lowering.device_code.empty()) return;
        std::ofstream out(lowering.device_code);
        out << "// Written by gyre's generators, for nvcc.\n#include \"gyre_device.h\"\n"
            << (lowering.warpgroups ? "#include \"gyre_warpgroup.h\"\n\n" : "\n") << printer.text();
        _halide_user_assert(out.good()) << "cannot write the device code to " << lowering.device_code << "\n";
    }
};

} // namespace

std::string Lowering::entry() const {
    const std::string file = device_code.substr(device_code.rfind('/') + 1);
    return file.empty() ? "kernel" : file.substr(0, file.find('.'));
}

void lower_to_cuda(GeneratorBase &generator, const Lowering &lowering) {
    lower_to_cuda(generator.get_pipeline(), lowering);
}

void lower_to_cuda(Pipeline pipeline, const Lowering &lowering) {
    pipeline.add_custom_lowering_pass(new TakeDeviceLoops(lowering));
}

} // namespace gyre::cuda
