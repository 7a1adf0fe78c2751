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

static const char *is_no_scheme(const struct checked *s)
{
    return checked_scheme(s) ? NULL : "it is not a scheme";
}

#define ACROSS(more) .traits = PEAT_ACROSS | (more), .claim = "to act across two sequences"

const struct property properties[] = {
    {"abi", .whole = abi_whole},
    {"parameters", .whole = parameters_whole},
    {"start", starts_inside, ON_ALL | IN_TRAINING | IN_F32},
    {"finite", finite_holds, ON_ALL | IN_F32},
    {"finite", far_holds, ON_ALL | IN_F32 | MOVED, .unfit = is_no_scheme},
    {"gradients", gradients_hold, ON_ALL},
    {"gradients", gradients_hold, ON_ALL | ON_SHORT | ON_SOME | MOVED, .unfit = is_no_scheme},
    {"gradients", .whole = gradients_reach},
    {"where", layers_agree, ON_ALL | ON_ALONE, .unfit = acts_on_no_head},
    {"where", wider_holds, ON_ALL | ON_PLACES | ON_SHORT, .unfit = acts_on_no_head},
    {"precision", precision_holds, ON_ALL | ON_SHORT},
    {"lengths", lengths_agree, ON_ALL | ON_SHORT, .unfit = reads_length},
    {"widths", .whole = widths_whole},
    {"shift-invariant", shift_holds, ON_ALL | MOVED | ON_ALONE, .traits = PEAT_SHIFT_INVARIANT,
     .claim = "to be shift-invariant"},
    {"norm-preserving", norms_hold, ON_ALL, .traits = PEAT_NORM_PRESERVING,
     .claim = "to preserve norms"},
    {"permutation-equivariant", permutation_holds,
     ON_ALONE | ON_ENCODER | ON_TOKENS | ON_PLACES | IN_EVALUATION,
     .traits = PEAT_PERMUTATION_EQUIVARIANT, .claim = "to be permutation-equivariant"},
    {"finite-length", .whole = finite_length, .traits = PEAT_FINITE_LENGTH},
    {"no-trainable", nothing_trained, ON_ALL, .traits = PEAT_NO_TRAINABLE,
     .claim = "to have no trained tensors"},
    {"content-dependent", .whole = content_dependent, .traits = PEAT_CONTENT_DEPENDENT},
    {"needs-causal", .whole = needs_causal, .traits = PEAT_NEEDS_CAUSAL},
    {"storable", storable_holds, ON_DECODER | ON_SEQ2SEQ | IN_EVALUATION, .traits = PEAT_STORABLE,
     .claim = "to be storable"},
    {"across", acts_across, ON_SEQ2SEQ, ACROSS(0)},
    {"across", source_tokens_hold, ON_SEQ2SEQ, ACROSS(0)},
    {"across", source_padding_holds, ON_SEQ2SEQ | IN_EVALUATION, ACROSS(0)},
    {"across", storable_holds, ON_SEQ2SEQ | IN_EVALUATION, ACROSS(PEAT_STORABLE)},
    {"causality", future_token_holds,
     ON_DECODER | ON_SEQ2SEQ | ON_TOKENS | ON_PLACES | IN_EVALUATION},
    {"causality", future_holds, ON_DECODER | ON_SEQ2SEQ | ON_PLACES},
    {"causality", far_future_holds, ON_DECODER | ON_SEQ2SEQ | ON_PLACES | ON_SHORT | MOVED,
     .unfit = is_no_scheme},
    {"prefix", prefix_holds, ON_DECODER | ON_SEQ2SEQ | ON_PLACES | IN_EVALUATION},
    {"batch", row_alone_holds, ON_ALL | IN_EVALUATION},
    {"batch", other_rows_hold, ON_ALL},
    {"batch", fewer_rows_hold, ON_ALL},
    {"padding", unpadded_holds, ON_ALL | IN_EVALUATION | STILL, .unfit = moves_rows},
    {"padding", under_padding_holds, ON_ALL | STILL, .unfit = moves_rows},
    {"packing", document_alone_holds, ON_ALL | ON_PLACES | IN_EVALUATION | STILL,
     .unfit = moves_rows},
    {"packing", other_document_holds, ON_ALL | ON_PLACES | STILL, .unfit = moves_rows},
    {"masked", masked_holds, ON_DECODER | ON_ENCODER | ON_PLACES, .unfit = keeps_softmax},
    {"paths", paths_hold, ON_ALL, .unfit = has_one_path},
    {"purity", purity_holds, ON_ALL | ON_SOME | IN_EITHER},
    {"purity", setup_stays, ON_ALL | IN_F32},
    {"threads", threads_hold, ON_ALL | ON_SOME | ON_SHORT | IN_EITHER},
    {"buffers", buffers_hold, ON_ALL | ON_SOME | ON_SHORT | IN_F32 | GUARDED},
    {"buffers", reads_hold, ON_ALL | ON_SOME | IN_F32},
    {"buffers", reads_hold, ON_ALL | ON_SOME | IN_F32 | MOVED, .unfit = is_no_scheme},
    {"statics", .whole = statics_stay},
    {"uses", uses_apart, ON_DECODER | ON_ENCODER | ON_HEADS | ON_ALONE | ON_SHORT,
     .unfit = acts_on_no_head},
    {"streams", streams_matter, ON_ALL | ON_PLACES | IN_EVALUATION},
    {"costs", costs_hold, ON_ALL | IN_TRAINING},
    {"batches", batches_hold, ON_ALL | IN_TRAINING},
    {"draws", draws_hold, ON_ALL | IN_TRAINING},
    {"answers", answers_hold, ON_ALL | ON_PLACES | IN_TRAINING},
    {"metrics", .whole = task_metrics},
    {"leaks", .whole = task_leaks, .unfit = not_a_task},
    {"leaks", no_leak_holds, ON_ALL | ONCE | ON_SHORT | ON_SOME | IN_TRAINING | IN_F32,
     .unfit = is_a_task},
    {"environment", .whole = environment_after_load},
    {"environment", environment_after_step, ON_ALL | ONCE | ON_SHORT | IN_TRAINING | IN_F32,
     .unfit = is_a_task},
    {"reference", .whole = reference_whole, .unfit = has_no_reference},
    {NULL},
};

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
