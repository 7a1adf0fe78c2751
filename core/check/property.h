/* SPDX-License-Identifier: MIT */
/*
 * property.h: the table of properties of plugins.
 *
 * Most are properties of a small model, tried in a few fixed cases and, with `--thorough`, in cases
 * that are drawn. The others are properties of the plugin as a whole.
 */
#pragma once

#include "checkrig.h"

enum { ARCH_DECODER = 1 << PEAT_DECODER, ARCH_ENCODER = 1 << PEAT_ENCODER, ARCH_BOTH = 3 };
enum { ARCH_SEQ2SEQ = 1 << PEAT_SEQ2SEQ };

/* A case that is being tried. */
struct trial {
    const struct checked *subject;
    const struct variant *variant;
    const struct check_case *c;
    const peat_scheme *hooks;  /* in the place of the scheme's; NULL: its own */
    struct recorder *recorder; /* that notes every call of a hook; NULL: none */
    struct rig *rig;           /* the model of the case, which is open; NULL: of a task */
    struct check_outcome *o;
};

/* A property of the model of a case, and one of the plugin as a whole. */
typedef void property_fn(const struct trial *t);
typedef void plugin_fn(const struct checked *s, struct check_outcome *o);

struct property {
    const char *check;  /* a row of check.c                                */
    property_fn *holds; /* in the model of a case; NULL: `whole` is tried  */
    unsigned archs;     /* of these models, ARCH_DECODER and so on         */
    const char *fixed;  /* its cases, "moved; rows=1"; NULL: the usual one */
    plugin_fn *whole;
    const char *name;  /* in the text of a case; NULL: that of the check              */
    unsigned has, may; /* enum case_flag: of every case, and that a drawn one may have */
    int64_t longest;   /* sequences of the model, and of drawn cases; 0: RIG_T_MAX    */
    int64_t most_rows; /* of drawn cases; 0: 4                                        */
    int64_t narrowest; /* D; 0: 3, since norms make all rows of narrower models equal */
    bool once;         /* no other cases are drawn                                    */
    /* The plugin must claim all of these traits: "to be storable", for messages. */
    uint32_t traits;
    const char *claim;
    const char *(*unfit)(const struct checked *s); /* why it is not for this plugin; NULL: it is */
};

/* In the order in which they are tried, ended by a NULL check. */
const struct property *property_table(void);
const char *property_name(const struct property *p);
const struct property *property_find(const char *name);
/* Why a property is not for a plugin; NULL: it is. */
const char *property_unfit(const struct property *p, const struct checked *s);

/* Opens the model of t->c, tries the property and closes it; t->rig->given_up can be read then.
 * Skipped: the plugin does not want such a model. */
void trial_run(struct trial *t);
/* False: the model is refused, and the trial skipped, or it cannot be made; r is closed. */
bool trial_open(const struct trial *t, struct rig *r, const struct rig_plan *plan);
/* The plugin itself reported the error of the pass, or has no rows for fractional positions. */
bool trial_refused(const struct trial *t);
/* Skips a failed trial that was refused so. */
void trial_skip_refused(const struct trial *t);
struct rig_plan trial_plan(const struct trial *t);
/* How far the property moves all positions. */
double trial_shift(const struct trial *t);
/* Rows of the case with phase, padding and documents by its flags, and sources where the model
 * reads them. */
struct rig_input trial_input(const struct trial *t);
/* The same with n more places in each source, all padding. */
struct rig_input trial_longer_sources(const struct trial *t, int64_t n);
/* True when the case or its property has the flag. */
bool trial_has(const struct trial *t, enum case_flag flag);
/* A message that begins with the claim, if the property is one. */
void trial_fail(const struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fails where n places of logits, from place `first` on, differ by more than rounding; `what` ends
 * the message. NULL: a pass failed, which was reported before. */
void trial_same(const struct trial *t, const double *a, const double *b, int64_t n, int64_t first,
                const char *what);
/* The logits from a place on; NULL stays NULL. */
const double *logits_at(const double *logits, int64_t place);

const char *arch_name(peat_arch arch);

/* The functions of the table, in check_*.c and reference.c. */
property_fn future_holds, future_token_holds, prefix_holds, storable_holds, row_alone_holds,
    other_rows_hold, fewer_rows_hold, unpadded_holds, under_padding_holds, document_alone_holds,
    other_document_holds, source_padding_holds, source_tokens_hold, masked_holds, gradients_hold,
    shift_holds, norms_hold, permutation_holds, acts_across, nothing_trained, finite_holds,
    paths_hold, purity_holds, threads_hold, buffers_hold, no_leak_holds, environment_after_step,
    gradients_reach, layers_agree, precision_holds, lengths_agree, draws_hold, answers_hold,
    reads_hold, batches_hold;
plugin_fn uses_apart, finite_length, content_dependent, needs_causal, environment_after_load,
    reference_whole, trace_whole, parameters_whole, widths_whole, statics_stay, abi_whole,
    task_metrics, task_leaks;

/* drawn.c: settings of half of the parameters, the same for the same index. */
struct value *drawn_settings(const struct checked *s, int64_t index);
/* As check_cases says. */
plugin_fn run_drawn_cases;
/* Makes batches of a task as a trainer does. */
peat_status task_runs(const struct checked *s, struct error *err);
