/// A kernel's arguments as its generator has them: declared from the table that the runtime fills them by.
///
///     class FooGenerator : public Halide::Generator<FooGenerator> {
///         gyre::DeclaredArguments arguments;
///     #include "foo_arguments.inc"                         // a member for each row, by its name
///         void configure() { arguments.declare(*this, {{"general", general}}, {{"dtype", dtype}}); }
#pragma once
#include "argument_types.h"

#include <Halide.h>

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace gyre {

class DeclaredArguments {
public:
    /// Declares the rows in their order, in configure(): those whose `when` is true among the conditions. `types` has the
    /// parameters that rows name. A word that is in neither stops the generator.
    void declare(Halide::Internal::GeneratorBase &generator, const std::map<std::string, bool> &conditions = {},
                 const std::map<std::string, Halide::Type> &types = {});

    using Make = std::function<void(Halide::Internal::GeneratorBase &, const Halide::Type &)>;
    void add(const char *type, const char *when, Make make) { rows.push_back({type, when, std::move(make)}); }

private:
    struct Row {
        std::string type, when;
        Make make;
    };
    std::vector<Row> rows;
};

/// An argument; false if the variant does not have it.
template <typename Io>
class DeclaredArgument {
public:
    DeclaredArgument() = default;
    DeclaredArgument(const DeclaredArgument &) = delete; // the declaration points to it
    explicit operator bool() const { return io != nullptr; }
    Io *operator->() const { return io; }
    Io &operator*() const { return *io; }

protected:
    Io *io = nullptr;
};

template <typename Io>
class DeclaredBuffer : public DeclaredArgument<Io> {
public:
    operator Halide::Func() const { return *this->io; }
    Halide::Internal::Dimension dim(int d) const { return this->io->dim(d); }
    template <typename... Index>
    Halide::Expr operator()(const Index &...index) const {
        return (*this->io)(index...);
    }
    void set_estimates(const Halide::Region &region) { this->io->set_estimates(region); }
};

class InputBuffer : public DeclaredBuffer<Halide::GeneratorInput<Halide::Buffer<>>> {
public:
    InputBuffer(DeclaredArguments &all, const char *name, const char *type, int rank, const char *when) {
        all.add(type, when, [this, name, rank](Halide::Internal::GeneratorBase &generator, const Halide::Type &of) {
            io = generator.add_input<Halide::Buffer<>>(name, of, rank);
        });
    }
};

class OutputBuffer : public DeclaredBuffer<Halide::GeneratorOutput<Halide::Buffer<>>> {
public:
    OutputBuffer(DeclaredArguments &all, const char *name, const char *type, int rank, const char *when) {
        all.add(type, when, [this, name, rank](Halide::Internal::GeneratorBase &generator, const Halide::Type &of) {
            io = generator.add_output<Halide::Buffer<>>(name, of, rank);
        });
    }
};

template <typename Value>
class InputScalar : public DeclaredArgument<Halide::GeneratorInput<Value>> {
public:
    InputScalar(DeclaredArguments &all, const char *name, const char *type, int, const char *when) {
        all.add(type, when, [this, name](Halide::Internal::GeneratorBase &generator, const Halide::Type &) {
            this->io = generator.add_input<Value>(name);
        });
    }
    operator Halide::Expr() const { return *this->io; }
    void set_estimate(const Value &value) { this->io->set_estimate(value); }
};

// What an argument is computed with as an expression: its own namespace is this one, where no operator would be found.
using Halide::operator==, Halide::operator!=, Halide::operator+, Halide::operator-, Halide::operator*,
    Halide::operator/;

template <typename Type, int rank>
using InputArgument = std::conditional_t<rank == 0, InputScalar<typename Type::scalar>, InputBuffer>;

} // namespace gyre

#define GYRE_INPUT(name, type, rank, when)                                                                             \
    gyre::InputArgument<gyre::argument_type::type, rank> name{arguments, #name, #type, rank, #when};
#define GYRE_OUTPUT(name, type, rank, when) gyre::OutputBuffer name{arguments, #name, #type, rank, #when};
