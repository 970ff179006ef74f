// How vectors are printed: as arrays of one thread, loaded and stored at once where they lie densely.
#include "lanes.h"
#include "printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

/// An array of one boolean a lane; "": all are true.
std::string Printer::print_guards(const Expr &predicate) {
    if (is_const_one(predicate)) return "";
    const std::vector<std::string> lanes = print_lanes(predicate);
    const std::string guards = fresh("guards");
    stream << get_indent() << "const bool " << guards << "[" << lanes.size() << "] = {" << with_commas(lanes) << "};\n";
    return guards;
}

namespace {

/// True if a dense vector is a whole number of 16 bytes, and so aligned as well.
bool is_wide(const Load *op, const Expr &first) {
    const Type element = op->type.element_of();
    const ModulusRemainder at = modulus_remainder(first);
    return op->type.bytes() * op->type.lanes() % 16 == 0 && at.modulus % (16 / element.bytes()) == 0 &&
           at.remainder % (16 / element.bytes()) == 0;
}

} // namespace

/// An array of what is read from shared memory; it is read at once, wherever in an expression it stands.
Expr Printer::load_shared_vector(const Load *op, const Expr &first) {
    const std::string v = fresh("v"), at = print_expr(first), lanes = std::to_string(op->type.lanes());
    const std::string type = print_type(op->type.element_of());
    stream << get_indent() << type << " " << print_name(v) << "[" << lanes << "];\n"
           << get_indent() << "gyre_shared_load_vector<" << lanes << ">(" << print_name(v) << ", "
           << print_name(op->name) << ", " << at << ");\n";
    return Variable::make(op->type, v);
}

/// Reads what `e` reads densely from device memory into arrays; the same with these read instead.
Expr Printer::load_vectors(const Expr &e) {
    class Vectors : public IRMutator {
    public:
        explicit Vectors(Printer &p) : p(p) {}

    private:
        Printer &p;
        std::vector<std::pair<Expr, std::string>> known;
        using IRMutator::visit;

        Expr visit(const Load *op) override {
            const Expr first = op->type.is_vector() ? first_of_dense(op->index) : Expr();
            const bool guarded = !is_const_one(op->predicate);
            if (p.shared.count(op->name) && first.defined() && !guarded && is_wide(op, first))
                return p.load_shared_vector(op, first);
            if (p.arrays.count(op->name) || p.shared.count(op->name) || (!first.defined() && !guarded)) {
                if (guarded && p.shared.count(op->name)) p.refuse("a guarded read of shared memory, " + op->name);
                // Reading an array where it was not written is harmless.
                return Load::make(op->type, op->name, op->index, op->image, op->param, const_true(op->type.lanes()),
                                  op->alignment);
            }
            for (const auto &[load, array] : known)
                if (equal(load, Expr(op))) return Variable::make(op->type, array);
            const std::string guards = p.print_guards(op->predicate), v = p.fresh("v"), array = p.print_name(v);
            const std::string type = p.print_type(op->type.element_of()), from = p.print_name(op->name);
            if (first.defined()) {
                const std::string at = p.print_expr(first);
                const bool aligned =
                    p.aligned.count(op->name) && !guarded && op->type.bytes() * op->type.lanes() % 16 == 0;
                p.stream << p.get_indent() << type << " " << array << "[" << op->type.lanes() << "];\n"
                         << p.get_indent() << (aligned ? "gyre_load_aligned<" : "gyre_load<") << op->type.lanes()
                         << ">(" << array << ", " << from << " + " << at << (guarded ? ", " : "") << guards << ");\n";
            } else {
                std::vector<std::string> lanes;
                for (int lane = 0; lane < op->type.lanes(); lane++)
                    lanes.push_back(guards + "[" + std::to_string(lane) + "] ? " + from + "[" +
                                    p.print_expr(lane_of(op->index, lane)) + "] : " + type + "()");
                p.stream << p.get_indent() << "const " << type << " " << array << "[" << op->type.lanes() << "] = {"
                         << with_commas(lanes) << "};\n";
            }
            known.emplace_back(op, v);
            return Variable::make(op->type, v);
        }
    };
    return Vectors(*this).mutate(e);
}

std::vector<std::string> Printer::print_lanes(const Expr &vector) {
    const Expr loaded = load_vectors(vector);
    std::vector<std::string> lanes;
    for (int lane = 0; lane < vector.type().lanes(); lane++) lanes.push_back(print_expr(lane_of(loaded, lane)));
    return lanes;
}

void Printer::visit(const LetStmt *op) {
    if (!op->value.type().is_vector()) return CodeGen_GPU_C::visit(op);
    const std::vector<std::string> lanes = print_lanes(op->value);
    stream << get_indent() << "const " << print_type(op->value.type().element_of()) << " " << print_name(op->name)
           << "[" << lanes.size() << "] = {" << with_commas(lanes) << "};\n";
    arrays.insert(op->name);
    print_stmt(op->body);
}

void Printer::store_vector(const Store *op) {
    const int lanes = op->value.type().lanes();
    const Expr first = first_of_dense(op->index);
    const std::string guards = print_guards(op->predicate);
    const std::vector<std::string> values = print_lanes(op->value);
    if (!first.defined() || arrays.count(op->name) || shared.count(op->name)) {
        for (int lane = 0; lane < lanes; lane++) {
            const std::string at = print_expr(lane_of(op->index, lane));
            stream << get_indent();
            if (!guards.empty()) stream << "if (" << guards << "[" << lane << "]) ";
            print_store(op->name, at, values[static_cast<size_t>(lane)]);
        }
        return;
    }
    const std::string at = print_expr(first), v = fresh("stored");
    stream << get_indent() << "const " << print_type(op->value.type().element_of()) << " " << v << "[" << lanes
           << "] = {" << with_commas(values) << "};\n"
           << get_indent() << "gyre_store<" << lanes << ">(" << print_name(op->name) << " + " << at << ", " << v
           << (guards.empty() ? "" : ", ") << guards << ");\n";
}

} // namespace gyre::cuda
