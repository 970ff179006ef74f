// Binds signature, algorithm and engine of fused attention. No arithmetic and no loop order here.
#include "attention_generator.h"

#include "attention_algorithm.h"
#include "passes/instructions/aligned_branches.h"
#include "passes/instructions/half_vectors.h"
#include "passes/instructions/lane_shuffles.h"
#include "passes/memory/given_memory.h"
#include "passes/memory/masked_tails.h"
#include "passes/memory/small_stack.h"
#include "providers/providers.h"

namespace gyre::attention {

void AttentionGenerator::configure() {
    const bool scored = !score.value().empty();
    _halide_user_assert(score.value() == compiled_score_name() && (general || !scored))
        << "score=" << score.value() << " general=" << general.value() << ": this generator was compiled "
        << (compiled_score_name().empty() ? "without a score function" : "with score=" + compiled_score_name())
        << ", which needs general=true\n";
    _halide_user_assert(partial || !many_rows) << "many_rows=true needs partial=true\n";
    _halide_user_assert((partial && as_stored && !general) || !narrow)
        << "narrow=true needs partial=true as_stored=true general=false\n";
    _halide_user_assert((partial && as_stored && general && !dropout) || !own_keys)
        << "own_keys=true needs partial=true as_stored=true general=true dropout=false\n";
    _halide_user_assert(general || !dropout) << "dropout=true needs general=true\n";
    _halide_user_assert(!general || !capped) << "general=true has a cap: capped=true is for others\n";
    _halide_user_assert(!general || !sloped) << "general=true has ALiBi: sloped=true is for others\n";
    _halide_user_assert(!dropout || !scored) << "dropout=true with score=" << score.value() << "\n";
    std::map<std::string, bool> conditions = {{"general", general},
                                              {"dropout", dropout},
                                              {"partial", partial},
                                              {"dense", dense},
                                              {"capped", capped},
                                              {"sloped", sloped},
                                              {"bounded", may_be_bounded(wanted())},
                                              {"own_keys", own_keys},
                                              {"sinks", has_sinks()},
                                              {"tile_lanes", is_told_tile_rows(wanted())},
                                              {"score", scored}};
    for (const CacheFormat &format : cache_formats()) conditions[format.name] = cache.value() == format.name;
    arguments.declare(*this, conditions, {{"dtype", dtype}});
}

void AttentionGenerator::generate() {
    const std::unique_ptr<RecurrenceEngine> engine = make_engine(wanted());
    const Sizes sizes = engine->shared().sizes;
    Inputs in = bind(sizes);
    in.q_rotation.lanes = in.out_rotation.lanes = engine->rotation_lanes();
    in.q_rotation.turns = in.out_rotation.turns = engine->rotation_turns();
    algorithm(*engine, in, out, lse, out_type());
    if (!padded) {
        for (auto *tensor : {&q, &k, &v}) tensor->dim(0).set_bounds(0, head_dim);
        out.dim(0).set_bounds(0, head_dim);
    }
    if (using_autoscheduler()) {
        estimate(sizes);
    } else {
        engine->schedule();
        engine->lower({*this, *k, *v, in.k.slot_stride, in.v.slot_stride, keys, in.tokens * in.heads,
                       dense ? Halide::Expr(first_slot) : Halide::Expr()});
        const int masked_bits = least_masked_bits(get_target());
        if (padded && masked_bits > 0) mask_tails(*this, masked_bits);
        if (general) end_bias_early(engine->shared(), engine->steps().in_vector);
        if (general && engine->shared().general.bias_lanes.out.defined()) {
            end_transposed_bias_early(engine->shared());
            ask_for_bias(engine->shared());
        }
        if (asks_for_results()) ask_for_results(engine->shared());
        specialize(engine->stages());
    }
    if (is_of_avx2()) align_branches();
    map_lane_rounds(*this);
    map_half_vectors(*this);
    if (get_target().os == Halide::Target::NoOS) use_small_stack(*this);
    publish_facts(*this, facts, known(*engine), using_autoscheduler());
    if (get_target().os == Halide::Target::NoOS) use_given_memory(*this);
}

Wanted AttentionGenerator::wanted() {
    Wanted w{head_dim, padded, general, partial, dense, as_stored, integer_scores, cache};
    w.many_rows = many_rows;
    w.own_keys = own_keys;
    w.dtype = dtype;
    w.knobs = {row_vectors, key_unroll, feature_chunk, row_tiles,      key_block,  task_tiles,
               lanes,       fold,       key_vector,    feature_unroll, pair_unroll};
    if (w.knobs.lanes == 0) w.knobs.lanes = natural_vector_size<float>();
    w.target = get_target();
    w.autoscheduled = using_autoscheduler();
    return w;
}

Facts AttentionGenerator::known(const RecurrenceEngine &engine) {
    Facts known = facts_of(engine);
    if (engine.may_be_bounded()) known.emplace_back("bounded", 1);
    if (sinks) known.emplace_back("sinks", 1);
    if (tile_rows) known.emplace_back("tile_lanes", engine.shared().sizes.lanes);
    if (engine.least_head_dim() > 0) known.emplace_back("least_head_dim", engine.least_head_dim());
    if (score_inputs) known.emplace_back("score_inputs", score_inputs->description());
    return known;
}

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionGenerator, attention)
