/// What passes that change a loop do alike.
#pragma once
#include <Halide.h>

#include <string>

namespace gyre {

/// Stops the build if it has come to the end of a pipeline without having found its loop.
class LoopMutator : public Halide::Internal::IRMutator {
public:
    /// `missing`: what to say then.
    explicit LoopMutator(const std::string &missing) : missing(missing) {}

    using IRMutator::mutate;
    Halide::Internal::Stmt mutate(const Halide::Internal::Stmt &s) override {
        const bool outermost = depth++ == 0;
        if (outermost) begin();
        const Halide::Internal::Stmt mutated = IRMutator::mutate(s);
        depth--;
        _halide_user_assert(!outermost || found) << missing << "\n";
        return mutated;
    }

protected:
    bool found = false;

    /// Forgets what is known of a pipeline: a pass is called each time that one is lowered.
    virtual void begin() { found = false; }

    using IRMutator::visit;

private:
    const std::string missing;
    int depth = 0;
};

} // namespace gyre
