/* SPDX-License-Identifier: MIT */
/* property.c: the table of properties. */
#include "property.h"

static const char *is_a_task(const struct checked *s)
{
    return s->plugin->desc->kind == PEAT_TASK ? "it is a task" : NULL;
}

static const char *not_a_task(const struct checked *s)
{
    return is_a_task(s) ? NULL : "it is not a task";
}

/* The hook `positions` sees whole rows, so hidden places may change the positions of others. */
static const char *moves_rows(const struct checked *s)
{
    const peat_scheme *scheme = checked_scheme(s);
    return scheme && scheme->positions ? "it changes the positions of whole rows" : NULL;
}

static const char *keeps_softmax(const struct checked *s)
{
    return scheme_has(checked_scheme(s), HOOK_SOFTMAX) ? NULL : "it does not replace the softmax";
}

static const char *has_one_path(const struct checked *s)
{
    const char *hook = scheme_needs_composed(checked_scheme(s));
    return hook ? arena_printf(s->arena, "it works on %s, which needs the composed path", hook)
                : NULL;
}

static const char *has_no_reference(const struct checked *s)
{
    return s->reference ? NULL : "no --reference FILE";
}

static const char *reads_length(const struct checked *s)
{
    const peat_scheme *scheme = checked_scheme(s);
    uint32_t needs = scheme ? scheme->needs : checked_combine(s)->needs;
    return needs & PEAT_NEED_LENGTH ? "it depends on the length" : NULL;
}

static const char *acts_on_no_head(const struct checked *s)
{
    return scheme_acts_on(checked_scheme(s), ACTS_ON_HEADS) ? NULL : "it acts on no heads";
}

/* A scheme with a period, or one that acts at large positions alone, fails at some of these. */
#define SHIFTS(rest)                                                                               \
    "shift=7" rest "; shift=1" rest "; shift=61" rest "; shift=1000" rest "; shift=12345" rest     \
    "; fractional shift=7" rest
#define PLACES(rest)                                                                               \
    "place=1" rest "; place=2" rest "; place=3" rest "; place=4" rest "; place=5" rest
#define ACROSS(more) .traits = PEAT_ACROSS | (more), .claim = "to act across two sequences"

/* In narrower models the loss curves so much that central differences are too inexact. */
enum { GRADIENT_T = 12, GRADIENT_ROWS = 2, GRADIENT_D = 8 };

const struct property properties[] = {
    {"abi", .whole = abi_whole},
    {"parameters", .whole = parameters_whole},
    {"finite", finite_holds, ARCH_BOTH,
     "f32 rows=2 length=1; f32 rows=2 length=2; f32 rows=2; f32 rows=2 length=64 step=1000; f32 "
     "rows=1 length=300 step=1000000; f32 rows=1 stride=819; f32 training step=1000000; f32 "
     "layers=4 llama; f32 heads=1; f32 heads=9 width=4",
     .may = CASE_TRAINING},
    {"gradients", gradients_hold, ARCH_BOTH,
     "training rows=2; training rows=2 length=1; training rows=2 streams=3; training rows=2 "
     "layers=4 step=1000000 llama; training rows=2 heads=3 width=6; rows=1 length=80 step=1000; "
     "rows=1 stride=819 step=1000000",
     .may = CASE_TRAINING, .longest = GRADIENT_T, .most_rows = GRADIENT_ROWS,
     .narrowest = GRADIENT_D},
    {"gradients", gradients_reach, ARCH_BOTH, .name = "gradients-reach", .once = true},
    {"where", finite_holds, ARCH_BOTH,
     "some-heads; some-heads heads=3; some-dims; wider; some-heads some-dims step=1000",
     .name = "where-finite", .may = CASE_TRAINING, .unfit = acts_on_no_head},
    {"where", gradients_hold, ARCH_BOTH,
     "some-heads training rows=2; some-dims training rows=2; wider training rows=2",
     .name = "where-gradients", .may = CASE_TRAINING, .longest = GRADIENT_T,
     .most_rows = GRADIENT_ROWS, .narrowest = GRADIENT_D, .unfit = acts_on_no_head},
    {"where", layers_agree, ARCH_BOTH, .name = "where-layers", .may = CASE_TRAINING,
     .unfit = acts_on_no_head},
    {"precision", precision_holds, ARCH_BOTH,
     "training rows=2; training rows=2 length=40; training rows=2 heads=3 width=6 layers=3",
     .may = CASE_TRAINING, .narrowest = GRADIENT_D},
    {"lengths", lengths_agree, ARCH_BOTH, "rows=1; rows=1 training", .once = true,
     .unfit = reads_length}, /* once: a drawn length may exceed the T_max that sets a grid */
    {"widths", .whole = widths_whole},
    {"shift-invariant", shift_holds, ARCH_BOTH,
     SHIFTS("") "; " SHIFTS(" rows=1 length=48 step=1000000"), .has = CASE_MOVED,
     .may = CASE_TRAINING | CASE_FRACTIONAL, .traits = PEAT_SHIFT_INVARIANT,
     .claim = "to be shift-invariant"},
    {"norm-preserving", norms_hold, ARCH_BOTH, "rows=3; step=1000000", .may = CASE_TRAINING,
     .traits = PEAT_NORM_PRESERVING, .claim = "to preserve norms"},
    {"permutation-equivariant", permutation_holds, ARCH_ENCODER, "rows=3; step=1000000",
     .traits = PEAT_PERMUTATION_EQUIVARIANT, .claim = "to be permutation-equivariant"},
    {"finite-length", .whole = finite_length, .traits = PEAT_FINITE_LENGTH},
    {"no-trainable", nothing_trained, ARCH_BOTH, "rows=1", .traits = PEAT_NO_TRAINABLE,
     .claim = "to have no trained tensors"},
    {"content-dependent", .whole = content_dependent, .traits = PEAT_CONTENT_DEPENDENT},
    {"needs-causal", .whole = needs_causal, .traits = PEAT_NEEDS_CAUSAL},
    {"storable", storable_holds, ARCH_DECODER,
     "place=2; padded place=2 seed=1 step=1000000; packed place=3",
     .may = CASE_PADDED | CASE_PACKED, .traits = PEAT_STORABLE, .claim = "to be storable"},
    {"across", acts_across, ARCH_SEQ2SEQ, .name = "across-acts", ACROSS(0), .once = true},
    {"across", finite_holds, ARCH_SEQ2SEQ, .name = "across-finite", .may = CASE_TRAINING,
     ACROSS(0)},
    {"across", source_tokens_hold, ARCH_SEQ2SEQ, "rows=3; training", .name = "across-tokens",
     .may = CASE_TRAINING, ACROSS(0)},
    {"across", source_padding_holds, ARCH_SEQ2SEQ, "rows=3; step=1000000", .name = "across-padding",
     ACROSS(0)},
    {"across", source_padding_holds, ARCH_SEQ2SEQ, .name = "across-only-padding",
     .has = CASE_ACROSS_ONLY, ACROSS(0)},
    {"across", storable_holds, ARCH_SEQ2SEQ, "place=2", .name = "across-storable",
     ACROSS(PEAT_STORABLE)},
    {"across", threads_hold, ARCH_SEQ2SEQ, .name = "across-threads",
     .may = CASE_TRAINING | CASE_F32, ACROSS(0)},
    {"across", gradients_hold, ARCH_SEQ2SEQ, "rows=2", .name = "across-gradients",
     .may = CASE_TRAINING, .longest = GRADIENT_T, .most_rows = GRADIENT_ROWS,
     .narrowest = GRADIENT_D, ACROSS(0)},
    {"causality", future_token_holds, ARCH_DECODER,
     "rows=64 place=1 seed=1; rows=64 place=2 seed=2 step=1000; rows=64 place=3 seed=3; rows=64 "
     "place=4 seed=4; rows=64 place=5 seed=5; rows=16 length=48 place=1 seed=0; rows=16 length=48 "
     "place=9 seed=1 step=1000000; rows=16 length=48 place=24 seed=2; rows=16 length=48 place=40 "
     "seed=3; rows=16 length=48 place=47 seed=4",
     .name = "causality-token", .most_rows = 32},
    {"causality", future_holds, ARCH_DECODER,
     PLACES(" training") "; training place=3 layers=4 step=1000000; training place=3 step=1000; "
                         "rows=1 length=128 place=70 step=1000; rows=1 length=300 place=200 "
                         "step=1000000; rows=1 length=300 place=299 training step=50000; rows=1 "
                         "place=4 stride=819",
     .may = CASE_TRAINING},
    {"prefix", prefix_holds, ARCH_DECODER,
     PLACES("") "; place=3 step=1000; rows=1 length=300 place=140 step=1000000"},
    {"batch", row_alone_holds, ARCH_BOTH, "rows=3; moved step=1000", .may = CASE_MOVED},
    {"batch", other_rows_hold, ARCH_BOTH, "training; training moved; training step=100000",
     .name = "batch-others", .may = CASE_TRAINING | CASE_MOVED},
    {"batch", fewer_rows_hold, ARCH_BOTH, "training; training moved", .name = "batch-fewer",
     .may = CASE_TRAINING | CASE_MOVED},
    {"padding", unpadded_holds, ARCH_BOTH, "seed=0; seed=1 step=1000; place=1 seed=2",
     .has = CASE_PADDED, .unfit = moves_rows},
    {"padding", under_padding_holds, ARCH_BOTH, "training place=1 seed=2", .name = "padding-tokens",
     .has = CASE_PADDED, .may = CASE_TRAINING, .unfit = moves_rows},
    {"packing", document_alone_holds, ARCH_BOTH, "place=2; place=2 step=1000", .has = CASE_PACKED,
     .unfit = moves_rows},
    {"packing", other_document_holds, ARCH_BOTH, "training place=2", .name = "packing-tokens",
     .has = CASE_PACKED, .may = CASE_TRAINING, .unfit = moves_rows},
    {"masked", masked_holds, ARCH_BOTH,
     "rows=3; padded place=1 seed=2 step=1000; packed place=2; training",
     .may = CASE_TRAINING | CASE_PADDED | CASE_PACKED, .unfit = keeps_softmax},
    {"paths", paths_hold, ARCH_BOTH, "rows=3; step=1000", .may = CASE_TRAINING,
     .unfit = has_one_path},
    {"purity", purity_holds, ARCH_BOTH, "training; training step=1000000", .may = CASE_TRAINING},
    {"threads", threads_hold, ARCH_BOTH, "training f32 rows=5 length=17",
     .may = CASE_TRAINING | CASE_F32},
    {"buffers", buffers_hold, ARCH_BOTH, "training length=5", .has = CASE_F32 | CASE_GUARDED,
     .may = CASE_TRAINING},
    {"buffers", reads_hold, ARCH_BOTH, "rows=2; training length=5 heads=3; rows=2 length=1",
     .name = "buffers-reads", .has = CASE_F32, .may = CASE_TRAINING},
    {"statics", .whole = statics_stay},
    {"uses", .whole = uses_apart, .unfit = acts_on_no_head},
    {"batches", batches_hold, ARCH_BOTH},
    {"draws", draws_hold, ARCH_BOTH | ARCH_SEQ2SEQ},
    {"answers", answers_hold, ARCH_BOTH,
     .once = true}, /* once: in the few rows of a drawn case all answers may be equal */
    {"metrics", .whole = task_metrics},
    {"leaks", .whole = task_leaks, .unfit = not_a_task},
    {"leaks", no_leak_holds, ARCH_BOTH, "training f32", .name = "leaks-model", .once = true,
     .unfit = is_a_task},
    {"environment", .whole = environment_after_load},
    {"environment", environment_after_step, ARCH_BOTH, "training f32", .name = "environment-model",
     .once = true, .unfit = is_a_task},
    {"reference", .whole = reference_whole, .unfit = has_no_reference},
    {NULL},
};

const char *property_name(const struct property *p)
{
    return p->name ? p->name : p->check;
}

const struct property *property_find(const char *name)
{
    for (const struct property *p = properties; p->check; p++)
        if (strcmp(property_name(p), name) == 0)
            return p;
    return NULL;
}

static uint32_t traits_of(const struct checked *s)
{
    const peat_scheme *scheme = checked_scheme(s);
    const peat_combine *combine = checked_combine(s);
    return scheme ? scheme->traits : combine ? combine->traits : 0;
}

const char *property_unfit(const struct property *p, const struct checked *s)
{
    if (!check_is_for(check_find(p->check), s->plugin->desc->kind))
        return "it is for other kinds of plugins";
    if ((traits_of(s) & p->traits) != p->traits)
        return "not claimed";
    return p->unfit ? p->unfit(s) : NULL;
}
