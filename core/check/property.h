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
    const peat_scheme *hooks;  /* hooks that replace the scheme's; NULL: its own */
    struct recorder *recorder; /* records every call of a hook; NULL: not recorded */
    struct rig *rig;           /* the open model of the case; NULL for tasks */
    struct check_outcome *o;
};

/* A property of the model of a case, and one of the plugin as a whole. */
typedef void property_fn(const struct trial *t);
typedef void plugin_fn(const struct checked *s, struct check_outcome *o);

struct property {
    const char *check;  /* name of its check, a row of check.c */
    property_fn *holds; /* tests it in the model of a case; NULL: `whole` does */
    unsigned archs;     /* architectures of the models: bits ARCH_DECODER and so on */
    const char *fixed;  /* its cases, "moved; rows=1"; NULL: the usual one */
    plugin_fn *whole;
    const char *name;  /* its name in the text of a case; NULL: the check's */
    unsigned has, may; /* enum case_flag: flags of every case; others of drawn cases */
    int64_t longest;   /* sequences of the model, and of drawn cases; 0: RIG_T_MAX    */
    int64_t most_rows; /* most rows of drawn cases; 0: 4 */
    int64_t narrowest; /* D; 0: 3, since norms make all rows of narrower models equal */
    bool once;         /* no cases are drawn, only the fixed ones are tried */
    /* The property is only for plugins with all of these traits; claim names them in messages: "to
     * be storable". */
    uint32_t traits;
    const char *claim;
    const char *(*unfit)(const struct checked *s); /* why it does not apply; NULL: it applies */
};

/* In the order in which they are tried, ended by a NULL check. */
extern const struct property properties[];
const char *property_name(const struct property *p);
const struct property *property_find(const char *name);
/* Why the property does not apply to the plugin; NULL: it applies. */
const char *property_unfit(const struct property *p, const struct checked *s);

/* Opens the model of t->c, tests the property and closes the model; t->rig can still be read. The
 * verdict is CHECK_SKIPPED where the plugin refuses the model. */
void trial_run(struct trial *t);
/* False: the plugin refused the model at its set-up, which skips the trial, or another error, which
 * fails it; r is closed. */
bool trial_accepts(const struct trial *t, struct rig *r);
/* True where the plugin itself reported the error of the pass, or a pass with CASE_FRACTIONAL
 * failed. */
bool trial_refused(const struct trial *t);
/* Turns a failed trial into a skipped one where trial_refused is true. */
void trial_skip_refused(const struct trial *t);
struct rig_plan trial_plan(const struct trial *t);
/* The number that the property adds to all positions: the case's shift, 3/4 of it with
 * CASE_FRACTIONAL. */
double trial_shift(const struct trial *t);
/* Rows of the case with phase, padding and documents by its flags, and sources where the model
 * reads them. */
struct rig_input trial_input(const struct trial *t);
/* As trial_input, with n more places of padding in each source. */
struct rig_input trial_longer_sources(const struct trial *t, int64_t n);
/* True when the case or its property has the flag. */
bool trial_has(const struct trial *t, enum case_flag flag);
/* Fails the trial; the message begins with the property's claim, if it has one. */
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
bool task_runs(const struct checked *s, struct error *err);
