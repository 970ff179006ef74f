/// Tensors that options may give to a call, and the options that the library's refusals are about.
#pragma once

#include "files/array.h"
#include "files/inputs.h"
#include "options/declared_options.h"

#include <string>

namespace gyre::cli {

/// What the calls of operations have in common.
class ArgumentTensors {
protected:
    using Reader = Array (*)(const std::string &option, const std::string &path);

    /// The tensor in a file, kept; nullptr without a path. Notes what stands for the argument. Throws UsageError.
    const gyre_tensor *optional_tensor(const File &file, Reader read) {
        names_.emplace_back(DeclaredOptions::argument_of(file.option),
                            file.empty() ? file.option : file.option + (" " + file));
        return file.empty() ? nullptr : store_.keep(names_.back().second, read(file.option, file));
    }

    /// Sets the lengths of sequences and the positions, which attention and linear attention have alike.
    template <typename Options, typename Args>
    void read_sequences(const Options &options, Args *args) {
        args->seqused_k = optional_tensor(options.seqused_k, read_lengths);
        args->cu_seqlens_q = optional_tensor(options.cu_seqlens_q, read_lengths);
        args->cu_seqlens_k = optional_tensor(options.cu_seqlens_k, read_lengths);
        args->q_positions = optional_tensor(options.q_positions, read_positions);
        args->k_positions = optional_tensor(options.k_positions, read_positions);
    }

    ArgumentNames names_;
    TensorStore store_;
};

} // namespace gyre::cli
