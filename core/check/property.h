/* SPDX-License-Identifier: MIT */
/*
 * property.h: the table of properties of plugins.
 *
 * Most are properties of the model of a cell, tried on each cell that fits. The others are
 * properties of the plugin as a whole.
 */
#pragma once

#include "checkrig.h"

/* Cells on which a property can be tried. */
enum property_on {
    ON_DECODER = 1 << PEAT_DECODER,
    ON_ENCODER = 1 << PEAT_ENCODER,
    ON_SEQ2SEQ = 1 << PEAT_SEQ2SEQ,
    ON_ALL = ON_DECODER | ON_ENCODER | ON_SEQ2SEQ,
    ON_TOKENS = 1 << 3,   /* with tokens, not patches */
    ON_PLACES = 1 << 4,   /* with logits at each place and without a class token, which sees all */
    ON_SHORT = 1 << 5,    /* not on long ones, where it would take long */
    ON_ALONE = 1 << 7,    /* where nothing else makes positions */
    IN_TRAINING = 1 << 8, /* in one phase alone; otherwise in both */
    IN_EVALUATION = 1 << 9,
    IN_F32 = 1 << 10,    /* models of F32; otherwise of F64 */
    IN_EITHER = 1 << 11, /* of F32 or F64 */
    GUARDED = 1 << 12,   /* each block of memory has a guard zone, which must not change */
    ON_SOME = 1 << 13,   /* one in three, because it takes long */
    ONCE = 1 << 16,      /* only the first in a process: it compares the process with before */
    MOVED = 1 << 15,     /* with positions that can be moved */
    /* Where no scheme changes the positions of whole rows, and no two schemes meet: one may add to
     * all places of a row what only the other shows. */
    STILL = 1 << 14
};

/* A property that is tried in the model of a cell. */
struct trial {
    const struct checked *subject;
    const struct property *property;
    const struct check_cell *cell;
    peat_phase phase;
    struct recorder *recorder; /* records every call of a hook; NULL: not recorded */
    struct rig *rig;           /* the open model; NULL for tasks */
    struct rig_input *x;       /* a batch of the phase for it */
    struct check_outcome *o;
};

/* Plugins to which a property applies, of the kinds of its check. */
enum property_of {
    OF_ANY,
    OF_TASK,
    OF_MODEL, /* no task */
    OF_SCHEME,
    OF_HEADS,      /* with a hook that acts on heads */
    OF_SOFTMAX,    /* with its own softmax */
    OF_FUSED,      /* which fused attention can run */
    OF_LENGTHLESS, /* without PEAT_NEED_LENGTH */
    OF_STILL, /* without the hook positions, which sees whole rows: hidden places may move others */
    OF_FORMULA /* with --reference */
};

typedef void property_fn(const struct trial *t);
typedef void plugin_fn(const struct checked *s, struct check_outcome *o);

struct property {
    const char *check;  /* name of its check, a row of check.c */
    property_fn *holds; /* tests it in the model of a cell; NULL: `whole` does */
    unsigned on;        /* enum property_on */
    plugin_fn *whole;
    /* The property is only for plugins with all of these traits, and PEAT_STORABLE for cells whose
     * plugins all have it; claim names them in messages: "to be storable". */
    uint32_t traits;
    const char *claim;
    enum property_of of;
};

/* In the order in which they are tried, ended by a NULL check. */
extern const struct property properties[];
/* Why the property does not apply to the plugin; NULL: it applies. */
const char *property_unfit(const struct property *p, const struct checked *s);

bool trial_is_short(const struct trial *t);
/* Whether the property can be tried on the cell in the phase. */
bool trial_fits(const struct trial *t);
/* Opens the model, tests the property and closes the model. The verdict is CHECK_SKIPPED where the
 * plugin refuses the model or a pass. */
void trial_run(struct trial *t);
/* A model of the cell, the trial's or another. NULL: the plugin refused it at its set-up, which
 * skips the trial, or another error, which fails it. */
struct rig *trial_open(const struct trial *t, const struct rig_plan *plan);
struct rig_plan trial_plan(const struct trial *t);
/* A number below n, which depends on the cell, the property, the phase and the word. */
int64_t trial_draw(const struct trial *t, const char *what, int64_t n);
/* A batch of the phase for a model of the cell. */
struct rig_input trial_input(const struct trial *t, struct rig *r);
/* Places of each row become padding, another number in each: rows have positions of their own. */
void trial_pad(const struct trial *t, struct rig_input *x);
/* Fails the trial; the message begins with the property's claim, if it has one. */
void trial_fail(const struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fails where n rows of logits differ by more than rounding, the first of which is number `first`
 * of a batch of rows of T places; `what` ends the message. NULL: a pass failed, which was reported
 * before. */
void trial_same(const struct trial *t, const double *a, const double *b, int64_t n, int64_t first,
                int64_t T, const char *what);
/* trial_same for all logits of t->x. */
void trial_same_batch(const struct trial *t, const double *a, const double *b, const char *what);
/* The logits of t->x as it is now. */
double *trial_logits(const struct trial *t);
/* They must still be `before`. */
void trial_stays(const struct trial *t, const double *before, const char *what);
/* The logits from row `row` of them on; NULL stays NULL. */
const double *logits_at(const struct trial *t, const double *logits, int64_t row);

/* The functions of the table, in check_*.c and reference.c. */
property_fn future_holds, far_future_holds, future_token_holds, prefix_holds, storable_holds,
    row_alone_holds, other_rows_hold, fewer_rows_hold, unpadded_holds, under_padding_holds,
    document_alone_holds, other_document_holds, source_padding_holds, source_tokens_hold,
    masked_holds, gradients_hold, shift_holds, norms_hold, permutation_holds, acts_across,
    nothing_trained, finite_holds, far_holds, wider_holds, paths_hold, purity_holds, threads_hold,
    buffers_hold, no_leak_holds, environment_after_step, layers_agree, precision_holds,
    lengths_agree, draws_hold, answers_hold, reads_hold, batches_hold, starts_inside, setup_stays,
    streams_matter, costs_hold;
plugin_fn finite_length, content_dependent, needs_causal, environment_after_load, reference_whole,
    trace_whole, parameters_whole, widths_whole, statics_stay, abi_whole, task_metrics, task_leaks,
    gradients_reach, answers_learned;

/* Makes batches of a task as a trainer does. */
bool task_runs(const struct checked *s, struct error *err);
