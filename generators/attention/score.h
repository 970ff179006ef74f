/// Score functions: what a user writes to change the scores of attention when its kernel is built.
///
///     #include <attention/score.h>
///
///     /// Scores fall with the distance, by a slope for each head, and end at a horizon.
///     Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
///         const Halide::Expr distance = Halide::max(p.q_position - p.k_position, p.k_position - p.q_position);
///         const Halide::Expr lowered = p.score - in.value("slope") * Halide::cast<float>(distance);
///         return Halide::select(distance <= in.value("horizon", Halide::Int(32)), lowered, gyre::masked);
///     }
///
/// A file with such a function makes kernels of its own, called by the file's name: gyre_attention_args.score. What it
/// asks of ScoreInputs are tensors that the caller hands over by name with every call. As FlexAttention (Dong et al.,
/// arXiv:2412.05496) does it, but ahead of time: the function is fused into the kernel.
///
/// The function is called more than once while a kernel is made and must ask for the same inputs each time. Arithmetic
/// is Halide's, in f32 and i32: infinities may not be made, which is why masked is finite.
#pragma once
#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace gyre {

/// A score that gives its key no weight. A row of nothing but masked scores gives 0 and lse -inf.
constexpr float masked = -1e38f;

/// One score S_ij and where it stands. Integers are i32; indices count from the sequence's beginning.
struct ScorePoint {
    Halide::Expr score;   // f32, as the softmax would take it: scale and softcap are in it, bias and masks come later
    Halide::Expr batch;   // entry of the batch; of packed tensors, the sequence
    Halide::Expr head;    // of the queries
    Halide::Expr q_index; // row i of the queries
    Halide::Expr k_index; // row j of the keys
    Halide::Expr q_position; // where row i stands among the keys, by gyre_attention_args.alignment; may be negative
    Halide::Expr k_position; // j
    Halide::Expr q_length;   // queries of the sequence
    Halide::Expr k_length;   // keys of the sequence, those that exist

    using Part = std::function<Halide::Expr(const ScorePoint &)>;
    using PartOfDistance = std::function<Halide::Expr(const Halide::Expr &)>;

    // Parts of a function that are better not formed score by score. Each gives what calling `part` in its place would
    // give, but a table that is read at a distance, say, is read for each distance once instead of for each pair.

    /// `part`, which reads nothing of the key and no score, once a query.
    Halide::Expr by_query(const Part &part) const;
    /// `part`, which reads nothing of the query and no score, once a key.
    Halide::Expr by_key(const Part &part) const;
    /// `part` of k_position - q_position, once a distance.
    Halide::Expr by_distance(const PartOfDistance &part) const;

    /// Distances k_position - q_position at which a part is wanted; it is 0 at others, and whole blocks of others cost
    /// nothing.
    struct Distances {
        Halide::Expr lowest, highest; // undefined: all
    };
    /// `part`, which reads no score, formed for neighbouring keys of one query and then transposed: for tables with a
    /// row for each query, in which neighbouring keys read neighbouring columns.
    Halide::Expr along_keys(const Part &part, const Distances &wanted = {}) const;
    /// `part`, which reads no score, formed for neighbouring queries of one key: for tables with a row for each key.
    Halide::Expr along_queries(const Part &part, const Distances &wanted = {}) const;

    class Staging; // how the kernel keeps such parts
    Staging *staging = nullptr;
};

class ScorePoint::Staging {
public:
    virtual ~Staging() = default;
    virtual Halide::Expr by_query(const Part &part) = 0;
    virtual Halide::Expr by_key(const Part &part) = 0;
    virtual Halide::Expr by_distance(const PartOfDistance &part) = 0;
    virtual Halide::Expr along(bool keys, const Part &part, const Distances &wanted) = 0;
};

/// An extent of a table: a number, or one of the three below.
struct ScoreExtent {
    int count;
    constexpr ScoreExtent(int count) : count(count) {}
};
constexpr ScoreExtent any{-1};     // what the caller's tensor has, at least 1
constexpr ScoreExtent queries{-2}; // seqlen_q; of packed tensors, the sequence's own part of all queries
constexpr ScoreExtent keys{-3};    // seqlen_kv, likewise

/// A table that the caller hands over, as one head of one batch entry sees it.
class ScoreTable {
public:
    /// The element at these indices, outermost first. An index outside is moved to the nearest one inside, so that no
    /// function can read beyond a tensor.
    template <typename... Index>
    Halide::Expr operator()(const Index &...index) const {
        return read({Halide::Expr(index)...});
    }
    /// An extent of the table, i32.
    Halide::Expr extent(int dimension) const;

private:
    friend class ScoreInputs;
    std::string name;
    Halide::Func elements; // innermost first
    std::vector<Halide::Expr> extents;
    Halide::Type type;
    std::vector<Halide::Expr> firsts; // of each dimension, where a tensor is of all sequences
    std::vector<Halide::Expr> entry;  // {head, batch} of such a tensor; empty: it is one head's

    Halide::Expr read(const std::vector<Halide::Expr> &index) const;
};

/// The tensors that a function asks for, at most 16. Names are C identifiers; types Float(32) or Int(32). Before the
/// extents that are declared here, the caller's tensors have [batch or 1, heads or 1], of which 1s in front may be left
/// out.
class ScoreInputs {
public:
    /// One number for each head of each batch entry.
    Halide::Expr value(const std::string &name, const Halide::Type &type = Halide::Float(32));
    /// A table of rank 1 or 2 for each head of each batch entry.
    ScoreTable table(const std::string &name, const std::vector<ScoreExtent> &extents,
                     const Halide::Type &type = Halide::Float(32));

    // For the generator.
    /// What is asked for from now on becomes an argument of the kernel: one head's view of the caller's tensor, or, of a device's
    /// kernel, the tensor of all heads and entries. In configure().
    explicit ScoreInputs(Halide::Internal::GeneratorBase &generator);
    /// Makes inputs what the kernel's arguments are; nothing new may be asked for afterwards. In generate().
    void bind();

    /// Which part of the tensors a score is of, in a device's kernel.
    struct Part {
        Halide::Expr batch, head;          // within the tensors
        Halide::Expr first_query, queries; // of the sequence, among all tokens
        Halide::Expr first_key, keys;
    };
    void bind(const Part &part);
    /// "bias:f32:32,documents:i32:keys" as the runtime reads it.
    std::string description() const;
    /// True if the last dimension of every table is dense.
    Halide::Expr dense() const;

private:
    struct Input {
        std::string name;
        Halide::Type type;
        std::vector<ScoreExtent> extents;
        Halide::GeneratorInput<Halide::Expr> *scalar = nullptr;     // rank 0
        Halide::GeneratorInput<Halide::Buffer<>> *buffer = nullptr; // else
    };
    Halide::Internal::GeneratorBase &generator;
    const bool whole; // tensors are of all heads and entries
    std::vector<Input> inputs;
    bool bound = false;
    Part part;

    const Input &find_or_add(const std::string &name, const std::vector<ScoreExtent> &extents,
                             const Halide::Type &type);
};

} // namespace gyre
