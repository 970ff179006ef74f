/// Calls with boolean masks that hide whole blocks of keys from whole tiles of rows: documents, prefixes, windows beside global tokens,
/// padded queries.
#pragma once
#include "attention_case.h"

#include <cstdlib>
#include <functional>
#include <vector>

namespace gyre::test {

struct BlockMask {
    const char *name;
    std::function<bool(int64_t head, int64_t i, int64_t j)> sees; // of block_mask_length queries and keys
};

constexpr int64_t block_mask_length = 400;

inline int64_t document_of(int64_t token) { return token < 150 ? 0 : token < 170 ? 1 : token < 333 ? 2 : 3; }

inline const std::vector<BlockMask> &block_masks() {
    static const std::vector<BlockMask> masks = {
        {"documents", [](int64_t, int64_t i, int64_t j) { return document_of(i) == document_of(j); }},
        {"causal documents", [](int64_t, int64_t i, int64_t j) { return document_of(i) == document_of(j) && j <= i; }},
        {"prefix", [](int64_t, int64_t i, int64_t j) { return j < 130 || j <= i; }},
        {"global tokens", [](int64_t, int64_t i, int64_t j) { return j < 2 || std::abs(i - j) < 20; }},
        {"a window, but for one key", [](int64_t, int64_t i, int64_t j) { return std::abs(i - j) < 90 && j != 200; }},
        {"a window that moves on",
         [](int64_t, int64_t i, int64_t j) { return j > i + 4 - i / 200 * 50 && j < i + 60; }},
        {"padded queries", [](int64_t, int64_t i, int64_t j) { return i < 290 && j < 290; }},
        {"queries between padding", [](int64_t, int64_t i, int64_t j) { return i > 130 && i < 290 && j > 130; }},
        {"a key here and there", [](int64_t, int64_t i, int64_t j) { return i % 64 < 7 && j == 399 - i; }},
        {"other keys for each head", [](int64_t head, int64_t i, int64_t j) { return j / 100 == head && i != 17; }},
        {"all keys", [](int64_t, int64_t, int64_t) { return true; }},
    };
    return masks;
}

/// A call of four query heads on two key heads with such a mask: one for all heads, or one for each of four.
struct BlockMaskCase {
    AttentionCase c;
    Tensor mask;
    gyre_tensor mask_view;

    static AttentionShape shape(gyre_dtype dtype, int64_t head_dim) {
        return AttentionShape()
            .lengths(block_mask_length, block_mask_length)
            .head_counts(4, 2)
            .dims(head_dim)
            .of(dtype);
    }

    BlockMaskCase(const AttentionShape &shape, const BlockMask &kind, int64_t heads)
        : c(shape), mask(GYRE_BOOL, {heads, shape.seqlen_q, shape.seqlen_kv}) {
        std::vector<double> values;
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < shape.seqlen_q; i++)
                for (int64_t j = 0; j < shape.seqlen_kv; j++) values.push_back(kind.sees(h, i, j));
        mask.set_values(values);
        mask_view = mask.view();
        c.args.mask = &mask_view;
    }
};

} // namespace gyre::test
