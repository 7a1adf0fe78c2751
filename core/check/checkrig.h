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

struct moves {
    double stride, by; /* pos becomes pos * stride + by */
};

/* The zone behind each block of memory that a guarded model uses. */
enum { GUARD_BYTES = 4096 };

/* RIG_V: the vocabulary, ids as those of ASCII; digits are drawn more often. RIG_T: T_train. */
enum { RIG_V = 128, RIG_T_MAX = 64, RIG_T = 6 };

/* The plugin's parameters with one switch or label changed. */
struct variant {
    const char *text; /* "beyond: clamp"; "" for the parameters as given */
    const void *config;
};

struct variants {
    int n, room;
    struct variant *item;
};

/* The end of a message about a failure in a model with ARENA_SHOWS_READS. */
#define RIG_READS_NAN                                                                              \
    "when memory that was neither given nor written holds NaN: the plugin reads it"

struct rig_plan {
    peat_arch arch; /* seq2seq: the scheme also acts across the two sequences, unless `apart` */
    peat_dtype dtype;
    int64_t T_max;        /* 0: RIG_T_MAX */
    int n_stream;         /* streams of a combine, with that of tokens; 0: its min_streams */
    int64_t width;        /* width of each positional stream; 0: any */
    int64_t D;            /* 0: 16 */
    int64_t heads;        /* 0: 2  */
    int64_t seed;         /* seed of the tokens */
    int64_t layers;       /* 0: 2  */
    int64_t trained_step; /* the last step of training, in evaluation */
    double stride;        /* from one position to the next; 0: 1 */
    unsigned flags;       /* enum case_flag, from CASE_LLAMA on */
    int64_t undeclared_T; /* see struct positional */
    const void *second;   /* config of a second use of the scheme, on the first head; the first use
                           * then has the other heads. NULL: no second use */
    bool turned;          /* the second use comes before the first in the list of schemes */
    const peat_scheme *hooks;  /* hooks that replace the scheme's; NULL: its own */
    const peat_combine *merge; /* replaces the combine's interface; NULL: its own */
    const peat_host *host;     /* host that hooks are given; NULL: the engine's */
    bool moved;                /* rig.moves.by, which may be 0, is added to all positions */
    bool shape_only;
    bool apart;
    enum arena_mark_byte guarded; /* content of the guard zones of all memory; 0: no zones */
};

/* Queries and keys of each layer at one place in the list of schemes. */
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
    const void *config; /* config of the plugin */
    struct positional positional;
    struct model model;
    struct team team;
    peat_status status;
    struct error err;
    bool given_up; /* the plugin itself reported err in a pass */
};

/* A batch of tokens drawn by the plan's seed; the pointers are the arrays of `in`, for tests to
 * change. */
struct rig_input {
    struct model_input in;
    int32_t *token, *document;
    uint8_t *pad;
    int64_t *sequence;
};

/* Opens a model, in the subject's arena. Its status is that of the set-up, whose failure, such as
 * PEAT_REFUSED, leaves its text in err. Call rig_close in any case. */
struct rig *rig_open(const struct checked *s, const struct variant *v, const struct rig_plan *plan,
                     struct check_outcome *o);
/* True where the plugin refused the model. */
bool rig_refused(const struct rig *r);
void rig_close(struct rig *r);
/* The value of a parameter where it can be an id of the vocabulary; -1: it cannot. */
int64_t rig_named(const struct rig *r, const peat_param *row);
/* The i-th id of the stream `what`. One in four is the value of a parameter of the plugin, if one
 * can be an id (rig_named), and one in four a digit. */
int32_t rig_token(const struct rig *r, const char *what, int64_t i);
/* An input of B rows of T random tokens, for evaluation, in the rig's arena. */
struct rig_input rig_input(struct rig *r, int64_t B, int64_t T);
/* Passes fail r->o when they fail. Logits as doubles [B*T, V] in the rig's arena, or NULL. The
 * graph is dead. */
double *rig_logits(struct rig *r, const struct model_input *in);
/* A pass with an observer. */
void rig_watched(struct rig *r, const struct model_input *in, const struct observer *o);
/* Logits [B, V] of row end - 1 alone, made with the rows stored before it; NULL as above. */
double *rig_newest(struct rig *r, struct stored *stored, int64_t end);
/* The sum of w_i x_i, [1, 1], with *weights the w_i, [n, 1], uniform in [-1, 1) from the stream. */
peat_node *rig_sum(struct graph *g, peat_node *x, uint64_t stream, peat_node **weights);
/* A scalar loss on which every logit acts, whose graph stays in the step arena; NULL as above. */
peat_node *rig_loss(struct rig *r, struct graph *g, const struct model_input *in);
/* The loss, or NaN, which with `backward` fails r->o; gradients are left in the weights. */
double rig_step(struct rig *r, const struct model_input *in, bool backward);

/* The parameters as given, and every other label and switch that is accepted; NULL: they are
 * refused as given, and the check is skipped. */
const struct variants *variants_make(const struct checked *s, struct check_outcome *o);
/* One config: stand-ins for required parameters, the subject's parameters, and `over` on top. */
bool checked_config(const struct checked *s, const struct value *over, const void **config,
                    struct error *err);
/* The parameters as given; false: they are refused, and the check is skipped. */
bool checked_variant(const struct checked *s, struct variant *v, struct check_outcome *o);

const peat_scheme *checked_scheme(const struct checked *s);   /* NULL: not a scheme */
const peat_combine *checked_combine(const struct checked *s); /* NULL: not a combine */
/* The number of significant digits that show how two numbers differ, and two more. */
int rig_digits(double a, double b);
