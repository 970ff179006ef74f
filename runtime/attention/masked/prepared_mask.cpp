// gyre_mask_prepare(): a header that says what calls it is for, the lengths of their sequences, and the spans of the mask's rows.
#include "attention/masked/prepared_mask.h"

#include "attention/call/tensors.h"
#include "attention/check/check.h"
#include "attention/masks/spans.h"
#include "core/arguments.h"
#include "core/call_tensors.h"
#include "core/context.h"
#include "core/entry.h"
#include "core/overlap.h"
#include "core/workspace.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>

namespace gyre {
namespace {

/// What the spans of a mask depend on, beside the mask and the lengths of sequences.
struct Traits {
    static constexpr const char *names[] = {"batch",         "num_heads",     "seqlen_q",      "seqlen_kv",
                                            "mask stride 0", "mask stride 1", "mask stride 2", "window_left",
                                            "window_right",  "alignment",     "seqused_k"};
    static constexpr size_t count = std::size(names);
    int64_t values[count];

    explicit Traits(const AttentionCall &c)
        : values{c.q.batch,         c.q.heads, c.q.seqlen, c.k.seqlen,  c.mask.strides[0], c.mask.strides[1],
                 c.mask.strides[2], c.left,    c.right,    c.alignment, c.has_used_keys} {}
};

/// The beginning of a caller's memory.
struct Header {
    static constexpr uint64_t written_by_this_version = 0x3130'6b73'616d'7967; // "gymask01"
    uint64_t mark = written_by_this_version;
    Traits traits;

    explicit Header(const AttentionCall &c) : traits(c) {}
};

/// The places of its parts.
struct Parts {
    size_t lengths, spans, end; // bytes from its beginning

    explicit Parts(const AttentionCall &c)
        : lengths(sizeof(Header)),
          spans(lengths + (c.has_used_keys ? static_cast<size_t>(c.sequences) * sizeof(int32_t) : 0)),
          end(round_up(spans + static_cast<size_t>(describe_spans(c).count()) * sizeof(RowSpan))) {}
};

gyre_status check_alignment(const void *memory, const char *name) {
    if (reinterpret_cast<uintptr_t>(memory) % alignof(Header) == 0) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, name, "is not aligned to %zu bytes", alignof(Header));
}

gyre_status check_lengths(const AttentionCall &c, const int32_t *prepared) {
    for (int64_t i = 0; i < c.sequences; i++)
        if (prepared[i] != c.seqused_k[i])
            return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "was prepared for seqused_k[%lld] = %d, got %d",
                          static_cast<long long>(i), prepared[i], c.seqused_k[i]);
    return GYRE_OK;
}

/// A call whose mask is to be prepared.
class MaskToPrepare {
public:
    gyre_status check(const gyre_attention_args *given, bool need_data) {
        gyre_attention_args a;
        GYRE_TRY(adopt(given, "args", gyre_attention_defaults(), offsetof(gyre_attention_args, score), &a));
        FirstOnDevice first;
        each_tensor(a, first);
        if (first.name) return refuse(GYRE_UNSUPPORTED, first.name, "is on a CUDA device, expected memory of the CPU");
        if (a.prepared_mask) return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "is given, expected NULL");
        if (!a.mask) return refuse(GYRE_BAD_ARGUMENT, "mask", "got NULL, expected the mask to prepare");
        GYRE_TRY(check_attention(a, false, &call));
        if (!has_spans(call))
            return refuse(GYRE_UNSUPPORTED, "mask", "got stride %lld along the keys, expected 1",
                          static_cast<long long>(call.mask.strides[3]));
        if (!need_data) return GYRE_OK;
        if (!a.mask->data && Parts(call).end > Parts(call).spans)
            return refuse(GYRE_BAD_ARGUMENT, "mask", "has no data");
        return check_used_keys(a, true, &call);
    }

    size_t bytes() const { return Parts(call).end; }

    gyre_status write(gyre_context *given, char *memory) const {
        HeldContext context;
        GYRE_TRY(context.take(given));
        const Parts parts(call);
        new (memory) Header(call);
        if (call.has_used_keys)
            std::copy_n(call.seqused_k, call.sequences, reinterpret_cast<int32_t *>(memory + parts.lengths));
        form_spans(call, describe_spans(call), reinterpret_cast<RowSpan *>(memory + parts.spans), context->threads);
        return GYRE_OK;
    }

private:
    AttentionCall call;
};

} // namespace

gyre_tensor prepared_mask_view(const void *memory, const AttentionCall &call) {
    const int64_t shape[] = {static_cast<int64_t>(Parts(call).end)};
    return gyre_tensor_dense(const_cast<void *>(memory), GYRE_BOOL, 1, shape);
}

gyre_status check_prepared_mask(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (!a.prepared_mask) {
        if (a.prepared_mask_size == 0) return GYRE_OK;
        return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "got NULL of %zu bytes", a.prepared_mask_size);
    }
    if (!a.mask) return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "is given without mask");
    if (!has_spans(*c))
        return refuse(GYRE_UNSUPPORTED, "mask", "got stride %lld along the keys, expected 1 with prepared_mask",
                      static_cast<long long>(c->mask.strides[3]));
    if (!need_data) return GYRE_OK;
    const Parts parts(*c);
    if (a.prepared_mask_size < parts.end)
        return refuse(GYRE_BAD_ARGUMENT, "prepared_mask_size", "got %zu, expected at least %zu", a.prepared_mask_size,
                      parts.end);
    GYRE_TRY(check_alignment(a.prepared_mask, "prepared_mask"));
    const auto *const memory = static_cast<const char *>(a.prepared_mask);
    const auto &header = *reinterpret_cast<const Header *>(memory);
    if (header.mark != Header::written_by_this_version)
        return refuse(GYRE_BAD_ARGUMENT, "prepared_mask",
                      "does not hold what gyre_mask_prepare() of this version writes");
    const Traits wanted(*c);
    for (size_t i = 0; i < Traits::count; i++)
        if (header.traits.values[i] != wanted.values[i])
            return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "was prepared for %s %lld, got %lld", Traits::names[i],
                          static_cast<long long>(header.traits.values[i]), static_cast<long long>(wanted.values[i]));
    if (c->has_used_keys) GYRE_TRY(check_lengths(*c, reinterpret_cast<const int32_t *>(memory + parts.lengths)));
    const gyre_tensor bytes = prepared_mask_view(a.prepared_mask, *c);
    const Heads lse = c->lse.as_heads(c->q);
    for (const auto &[view, name] : {Written{&c->out, "out"}, {&lse, "lse"}})
        if (view->data && !disjoint(bytes, *view))
            return refuse(GYRE_BAD_ARGUMENT, "prepared_mask", "overlaps %s, expected other memory", name);
    c->spans = describe_spans(*c);
    c->spans.rows = reinterpret_cast<const RowSpan *>(memory + parts.spans);
    return GYRE_OK;
}

} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_mask_prepare_size(const gyre_attention_args *args, size_t *bytes) {
    return enter([&] {
        if (!bytes) return refuse(GYRE_BAD_ARGUMENT, "bytes", "got NULL, expected where to store the size");
        MaskToPrepare mask;
        GYRE_TRY(mask.check(args, false));
        *bytes = mask.bytes();
        return GYRE_OK;
    });
}

extern "C" gyre_status gyre_mask_prepare(gyre_context *context, const gyre_attention_args *args, void *memory,
                                         size_t size) {
    return enter([&] {
        MaskToPrepare mask;
        GYRE_TRY(mask.check(args, true));
        if (!memory) return refuse(GYRE_BAD_ARGUMENT, "memory", "got NULL, expected %zu bytes", mask.bytes());
        GYRE_TRY(check_alignment(memory, "memory"));
        if (size < mask.bytes())
            return refuse(GYRE_WORKSPACE_TOO_SMALL, "size", "got %zu, expected at least %zu", size, mask.bytes());
        return mask.write(context, static_cast<char *>(memory));
    });
}
