/* SPDX-License-Identifier: MIT */
/*
 * checkrig.h: a small model around the plugin under check.
 *
 * A scheme runs between companions: one moves all positions, one gives a bias to a scheme that asks
 * for one, and one on either side remembers queries and keys. A combine gets trained positional
 * streams. All weights are moved a little off their initial values: zeros would hide mistakes.
 */
#pragma once

#include "cases.h"
#include "check/check.h"
#include "model/transformer.h"

/* checkparts.c: the companions, written as plugins are. */
struct moves {
    double stride, by;
};

/* positions: *(struct moves *)config: times the stride, plus `by`. */
extern const peat_scheme part_shift;
/* qkv: q and k behind themselves, twice as wide. */
extern const peat_scheme part_twice;
/* bias_rel: -|difference| / 2. */
extern const peat_scheme part_bias;
/* qkv: remembers q and k in *(struct passed *)config, and changes nothing. */
extern const peat_scheme part_record;
/* encode: a trained table of T_max rows; insists on the width *(int64_t *)config unless 0. */
extern const peat_scheme part_stream;
/* Adds the streams; narrower ones are filled up with zeros, wider ones cut. */
extern const peat_combine part_sum;

/* The zone behind each block of memory that a guarded model uses. */
enum { GUARD_BYTES = 4096 };

/* V: every id of ASCII is used, digits more often. T_train is RIG_T. */
enum { RIG_V = 128, RIG_T_MAX = 64, RIG_T = 6 };

/* The plugin's parameters with one switch or label changed. */
struct variant {
    const char *text; /* "beyond: clamp"; "" for the parameters as given */
    const void *config;
};

struct variants {
    int n;
    struct variant *item;
};

/* How a failure in a model with ARENA_SHOWS_READS ends. */
#define RIG_READS_NAN                                                                              \
    "when memory that was neither given nor written holds NaN: the plugin reads it"

struct rig_plan {
    peat_arch arch; /* of two sequences: the scheme acts in the pass across, unless `apart` */
    peat_dtype dtype;
    int64_t T_max;             /* 0: RIG_T_MAX */
    int n_stream;              /* of a combine, tokens included; 0: its fewest */
    int64_t width;             /* that the positional streams insist on; 0: any */
    int64_t D;                 /* 0: 16 */
    int64_t heads;             /* 0: 2  */
    int64_t seed;              /* of tokens */
    int64_t layers;            /* 0: 2  */
    int64_t trained_step;      /* the last step of training, in evaluation */
    double stride;             /* from one position to the next; 0: 1 */
    unsigned flags;            /* CASE_RMS and those behind it */
    int64_t undeclared_T;      /* of positional.h */
    const void *second;        /* config of another use of the scheme, on the first head; the first
                                  use is on the others then. NULL: none */
    bool turned;               /* the second use stands before the first */
    const peat_scheme *hooks;  /* in the place of the scheme's; NULL: its own */
    const peat_combine *merge; /* in the place of the combine's; NULL: its own */
    const peat_host *host;     /* that hooks are given; NULL: the engine's     */
    bool moved;                /* all positions move by rig.moves.by, which may be 0 */
    bool shape_only;
    bool apart;
    enum arena_mark_byte guarded; /* every block of memory has a zone behind it; 0: none */
};

/* Queries and keys of each layer as they passed. */
struct passed {
    peat_node *q[CASE_LAYERS], *k[CASE_LAYERS];
};

struct rig {
    struct arena arena, step;
    const struct checked *subject;
    struct check_outcome *o; /* a pass that fails makes it fail */
    struct rig_plan plan;
    struct moves moves;
    struct passed before, after;
    const void *config; /* of the plugin */
    struct positional positional;
    struct model model;
    struct team team;
    struct error err;
    bool given_up; /* the plugin itself reported err in a pass */
};

/* A batch of tokens of the plan's seed, with its arrays to be written to. */
struct rig_input {
    struct model_input in;
    int32_t *token, *document;
    uint8_t *pad;
    int64_t *sequence;
};

/* PEAT_REFUSED, and other failures of a plugin's set-up, with their text in r->err. */
peat_status rig_open(struct rig *r, const struct checked *s, const struct variant *v,
                     const struct rig_plan *plan, struct check_outcome *o);
void rig_close(struct rig *r);
/* The value of a parameter where it can be an id of the vocabulary; -1: it cannot. */
int64_t rig_named(const struct rig *r, const peat_param *row);
/* An id: one of four is a whole number among the plugin's parameters, which may wait for it, and
 * one a digit. `what` names the stream that it is drawn from. */
int32_t rig_token(const struct rig *r, const char *what, int64_t i);
/* In evaluation. Kept in the rig's arena. */
struct rig_input rig_input(struct rig *r, int64_t B, int64_t T);
/* Passes fail r->o when they fail. Logits as doubles [B*T, V] in the rig's arena, or NULL. The
 * graph is dead. */
double *rig_logits(struct rig *r, const struct model_input *in);
/* A pass with an observer. */
void rig_watched(struct rig *r, const struct model_input *in, const struct observer *o);
/* Logits [B, V] of row end - 1 alone, made with the rows stored before it; NULL as above. */
double *rig_newest(struct rig *r, struct stored *stored, int64_t end);
/* The sum of w_i x_i with fixed w_i in [-1, 1), so that every number counts, and differently. */
peat_node *rig_sum(struct graph *g, peat_node *x, uint64_t stream, peat_node **weights);
/* A scalar loss on which every logit acts, whose graph stays in the step arena; NULL as above. */
peat_node *rig_loss(struct rig *r, struct graph *g, const struct model_input *in);
/* The loss, or NaN, which with `backward` fails r->o; gradients are left in the weights. */
double rig_step(struct rig *r, const struct model_input *in, bool backward);

/* NULL with err filled when the parameters as given are refused. */
const struct variants *variants_make(const struct checked *s, struct error *err);
/* One config: stand-ins for required parameters, the subject's parameters, and `over` on top. */
peat_status checked_config(const struct checked *s, const struct value *over, const void **config,
                           struct error *err);
/* The parameters as given; false: they are refused, and the check is skipped. */
bool checked_variant(const struct checked *s, struct variant *v, struct check_outcome *o);

const peat_scheme *checked_scheme(const struct checked *s);   /* NULL: not a scheme */
const peat_combine *checked_combine(const struct checked *s); /* NULL: not a combine */
/* The number of significant digits that show how two numbers differ, and two more. */
int rig_digits(double a, double b);
