/* SPDX-License-Identifier: MIT */
/* property.c: the table of properties. */
#include "property.h"

#define ACROSS(more) .traits = PEAT_ACROSS | (more), .claim = "to act across two sequences"

const struct property properties[] = {
    {"abi", .whole = abi_whole},
    {"parameters", .whole = parameters_whole},
    {"start", starts_inside, ON_ALL | IN_TRAINING | IN_F32},
    {"finite", finite_holds, ON_ALL | IN_F32},
    {"finite", far_holds, ON_ALL | IN_F32 | MOVED, .of = OF_SCHEME},
    {"gradients", gradients_hold, ON_ALL},
    {"gradients", gradients_hold, ON_ALL | ON_SHORT | ON_SOME | MOVED, .of = OF_SCHEME},
    {"gradients", .whole = gradients_reach},
    {"where", layers_agree, ON_ALL | ON_ALONE, .of = OF_HEADS},
    {"where", wider_holds, ON_ALL | ON_PLACES | ON_SHORT, .of = OF_HEADS},
    {"precision", precision_holds, ON_ALL | ON_SHORT},
    {"lengths", lengths_agree, ON_ALL | ON_SHORT, .of = OF_LENGTHLESS},
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
     .of = OF_SCHEME},
    {"prefix", prefix_holds, ON_DECODER | ON_SEQ2SEQ | ON_PLACES | IN_EVALUATION},
    {"batch", row_alone_holds, ON_ALL | IN_EVALUATION},
    {"batch", other_rows_hold, ON_ALL},
    {"batch", fewer_rows_hold, ON_ALL},
    {"padding", unpadded_holds, ON_ALL | IN_EVALUATION | STILL, .of = OF_STILL},
    {"padding", under_padding_holds, ON_ALL | STILL, .of = OF_STILL},
    {"packing", document_alone_holds, ON_ALL | ON_PLACES | IN_EVALUATION | STILL, .of = OF_STILL},
    {"packing", other_document_holds, ON_ALL | ON_PLACES | STILL, .of = OF_STILL},
    {"masked", masked_holds, ON_DECODER | ON_ENCODER | ON_PLACES, .of = OF_SOFTMAX},
    {"paths", paths_hold, ON_ALL, .of = OF_FUSED},
    {"purity", purity_holds, ON_ALL | ON_SOME | IN_EITHER},
    {"purity", setup_stays, ON_ALL | IN_F32},
    {"threads", threads_hold, ON_ALL | ON_SOME | ON_SHORT | IN_EITHER},
    {"buffers", buffers_hold, ON_ALL | ON_SOME | ON_SHORT | IN_F32 | GUARDED},
    {"buffers", reads_hold, ON_ALL | ON_SOME | IN_F32},
    {"buffers", reads_hold, ON_ALL | ON_SOME | IN_F32 | MOVED, .of = OF_SCHEME},
    {"statics", .whole = statics_stay},
    {"streams", streams_matter, ON_ALL | ON_PLACES | IN_EVALUATION},
    {"costs", costs_hold, ON_ALL | IN_TRAINING},
    {"batches", batches_hold, ON_ALL | IN_TRAINING},
    {"draws", draws_hold, ON_ALL | IN_TRAINING},
    {"answers", answers_hold, ON_ALL | ON_PLACES | IN_TRAINING},
    {"answers", .whole = answers_learned},
    {"metrics", .whole = task_metrics},
    {"leaks", .whole = task_leaks, .of = OF_TASK},
    {"leaks", no_leak_holds, ON_ALL | ONCE | ON_SHORT | ON_SOME | IN_TRAINING | IN_F32,
     .of = OF_MODEL},
    {"environment", .whole = environment_after_load},
    {"environment", environment_after_step, ON_ALL | ONCE | ON_SHORT | IN_TRAINING | IN_F32,
     .of = OF_MODEL},
    {"reference", .whole = reference_whole, .of = OF_FORMULA},
    {NULL},
};

const char *property_unfit(const struct property *p, const struct checked *s)
{
    const bool task = s->plugin->desc->kind == PEAT_TASK;
    const peat_scheme *scheme = checked_scheme(s);
    const peat_combine *combine = checked_combine(s);
    const uint32_t needs = scheme ? scheme->needs : combine ? combine->needs : 0;
    const uint32_t traits = scheme ? scheme->traits : combine ? combine->traits : 0;
    const struct {
        bool is;
        const char *why;
    } of[] = {
        [OF_ANY] = {true, NULL},
        [OF_TASK] = {task, "it is not a task"},
        [OF_MODEL] = {!task, "it is a task"},
        [OF_SCHEME] = {scheme, "it is not a scheme"},
        [OF_HEADS] = {scheme && scheme_acts_on(scheme, ACTS_ON_HEADS), "it acts on no heads"},
        [OF_SOFTMAX] = {scheme && scheme->softmax, "it does not replace the softmax"},
        [OF_FUSED] = {scheme && !scheme_needs_composed(scheme), "it needs the composed path"},
        [OF_LENGTHLESS] = {!(needs & PEAT_NEED_LENGTH), "it depends on the length"},
        [OF_STILL] = {!scheme || !scheme->positions, "it changes the positions of whole rows"},
        [OF_FORMULA] = {s->reference, "no --reference FILE"},
    };
    if (!check_is_for(check_find(p->check), s->plugin->desc->kind))
        return "it is for other kinds of plugins";
    if ((traits & p->traits) != p->traits)
        return "not claimed";
    return of[p->of].is ? NULL : of[p->of].why;
}
