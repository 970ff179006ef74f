/// Tensors that options may give to a call, and the options that the library's refusals are about.
#pragma once

#include "files/array.h"
#include "files/inputs.h"
#include "options/library_errors.h"

#include <string>

namespace gyre::cli {

/// What the calls of operations have in common.
class ArgumentTensors {
protected:
    using Reader = Array (*)(const std::string &option, const std::string &path);

    /// The tensor in a file, kept; nullptr without a path. Notes what stands for the argument. Throws UsageError.
    const gyre_tensor *optional_tensor(const char *argument, const char *option, const std::string &path, Reader read) {
        names_.push_back({argument, path.empty() ? option : option + (" " + path)});
        return path.empty() ? nullptr : store_.keep(names_.back().second, read(option, path));
    }

    /// Sets the lengths of sequences and the positions, which attention and linear attention have alike.
    template <typename Options, typename Args>
    void read_sequences(const Options &options, Args *args) {
        args->seqused_k = optional_tensor("seqused_k", "--seqused-k", options.seqused_k, read_lengths);
        args->cu_seqlens_q = optional_tensor("cu_seqlens_q", "--cu-seqlens-q", options.cu_seqlens_q, read_lengths);
        args->cu_seqlens_k = optional_tensor("cu_seqlens_k", "--cu-seqlens-k", options.cu_seqlens_k, read_lengths);
        args->q_positions = optional_tensor("q_positions", "--q-positions", options.q_positions, read_positions);
        args->k_positions = optional_tensor("k_positions", "--k-positions", options.k_positions, read_positions);
    }

    ArgumentNames names_;
    TensorStore store_;
};

} // namespace gyre::cli
