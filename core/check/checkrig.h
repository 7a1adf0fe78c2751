/* SPDX-License-Identifier: MIT */
/*
 * checkrig.h: the cells with which a plugin is checked, and the model of one.
 *
 * A cell is an experiment file with one point and one seed, which `peat run` would train. All
 * weights are moved a little off their initial values: zeros would hide mistakes.
 */
#pragma once

#include "cell/assemble.h"
#include "check/check.h"
#include "train/trainer.h"

/* The zone behind each block of memory that a guarded model uses. */
enum { GUARD_BYTES = 4096 };

/* The end of a message about a failure in a model with ARENA_SHOWS_READS. */
#define RIG_READS_NAN                                                                              \
    "when memory that was neither given nor written holds NaN: the plugin reads it"

struct check_cell {
    const char *file;
    struct cell_config config;
};

struct check_cells {
    int n, room;
    struct check_cell *item;
};

/* The cells of s->cells, a file or a folder; drawn and written there where it is empty. The first
 * reason for which all are refused fails o, and there are none. */
const struct check_cells *cells_of(const struct checked *s, struct check_outcome *o);
/* Reads a file of one cell, with settings KEY=VALUE in place of the file's. */
peat_status cell_read(const struct checked *s, const char *file, int n_word, char *const *word,
                      struct check_cell *cell, struct error *err);
/* The text of its file. */
const char *cell_text(const struct checked *s, const struct check_cell *cell);
/* drawn.c: writes cell `index` of a seed, which the plugin accepts. False: it refuses the cells
 * that were drawn, with err, and there is no file. Where the plugin ends the process, the file has
 * the cell. */
bool cell_drawn(const struct checked *s, uint64_t seed, int64_t index, const char *file,
                struct error *err);

/* Settings of the plugin, of which about half are drawn. */
struct value *settings_drawn(const struct checked *s, int64_t index);

/* What differs from the model of the cell. */
struct rig_plan {
    peat_dtype dtype;
    bool shape_only;
    bool start;           /* weights stay as they start */
    bool apart;           /* the plugin acts within each sequence only */
    bool per_layer;       /* its terms are made in each layer */
    bool moved;           /* all positions are multiplied by rig.shim.stride, and rig.shim.by added,
                           * twice to the second axis */
    const void *config;   /* the plugin's; NULL: the cell's */
    int64_t undeclared_T; /* see struct positional */
    int64_t trained_step; /* the last step of training, in evaluation */
    const peat_scheme *hooks;     /* hooks that replace the scheme's; NULL: its own */
    const peat_combine *merge;    /* replaces the combine's interface; NULL: its own */
    const peat_host *host;        /* host that hooks are given; NULL: the engine's */
    enum arena_mark_byte guarded; /* content of the guard zones of all memory; 0: no zones */
};

/* A block of memory that the plugin took. */
struct kept {
    void *at, *was; /* was: a copy */
    size_t bytes;
};

/* Hooks around the subject's, which move positions and keep queries and keys of each layer. */
struct shim {
    peat_host host; /* first: a hook finds it by c->host */
    const peat_scheme *own;
    peat_scheme hooks;
    double stride, by, row; /* row: added to positions of the second row, and so on */
    bool wider; /* q and k are twice as wide, as another scheme before it may make them */
    int n;      /* calls of qkv in the pass */
    struct {
        peat_node *q, *k;
    } before[64], after[64];
    int n_kept, n_scratch;
    struct kept kept[64], scratch[64]; /* of the set-up; of the hooks in the last pass */
};

struct rig {
    struct arena arena, step;
    const struct checked *subject;
    struct check_outcome *o; /* a pass that fails makes it fail */
    struct rig_plan plan;
    struct shim shim;
    struct cell_config config;
    struct assembly s;
    struct team team;
    const struct weight *outside; /* a weight that starts outside its bounds; NULL: none does */
    int64_t seed, V; /* seed of the tokens; logits of a place, of a row with head: class */
    int64_t flops;   /* of the last pass */
    peat_status status;
    struct error err;
    bool given_up; /* the plugin itself reported err in a pass */
};

/* A batch of the cell's task with random tokens, in the rig's arena, and the input that it is. */
struct rig_input {
    peat_batch b;
    struct model_input in;
};

/* Opens a model, in the subject's arena. Its status is that of the set-up, whose failure, such as
 * PEAT_REFUSED, leaves its text in err. Call rig_close in any case. */
struct rig *rig_open(const struct checked *s, const struct check_cell *cell,
                     const struct rig_plan *plan, struct check_outcome *o);
/* True where the plugin refused the model. */
bool rig_refused(const struct rig *r);
void rig_close(struct rig *r);
/* False where the model has a class token without a position. */
bool model_is_movable(const struct model_config *m);
/* True where each place has logits, not each row. */
bool rig_has_places(const struct rig *r);
/* True where the plugin, or its encoder's copy, has the part. */
bool rig_owns(const struct rig *r, const struct part *part);
/* True where the tensor is one that the plugin registered. */
bool rig_registered(const struct rig *r, const struct weight *w);
/* The parameters of the plugin in the model, which rig_plan.config replaces; of its last use. */
void *rig_config(const struct rig *r);
/* The value of a parameter where it can be an id of the vocabulary; -1: it cannot. */
int64_t rig_named(const struct rig *r, const peat_param *row);
/* The i-th id of the stream `what`. One in four is the value of a parameter of the plugin, if one
 * can be an id (rig_named), and one in four a digit. */
int32_t rig_token(const struct rig *r, const char *what, int64_t i);
/* The first training batch, or the first batch of the longest evaluation, as the phase says.
 * Without rows where the task makes none. */
struct rig_input rig_input(struct rig *r, peat_phase phase);
/* Places [from, to) of row `b` alone, or of all rows where b is -1 (from 0). */
struct rig_input rig_part(struct rig *r, const struct rig_input *x, int64_t b, int64_t from,
                          int64_t to);
/* The input after arrays of x->b were changed. */
void rig_renew(struct rig_input *x);
/* Passes fail r->o when they fail. Logits as doubles [B*T or B, V] in the rig's arena, or NULL. The
 * graph is dead. */
double *rig_logits(struct rig *r, const struct model_input *in);
/* The bytes of logits of this input. */
size_t rig_logits_bytes(const struct rig *r, const struct model_input *in);
/* The same, seen by an observer. */
double *rig_observed(struct rig *r, const struct model_input *in, const struct observer *o);
/* Logits [B, V] of row end - 1 alone, made with the rows stored before it; NULL as above. */
double *rig_newest(struct rig *r, struct stored *stored, int64_t end);
/* The sum of w_i x_i, [1, 1], with *weights the w_i, [n, 1], uniform in [-1, 1) from the stream. */
peat_node *rig_sum(struct graph *g, peat_node *x, uint64_t stream, peat_node **weights);
/* A scalar loss on which every logit acts, whose graph stays in the step arena; NULL as above. */
peat_node *rig_loss(struct rig *r, struct graph *g, const struct model_input *in);
/* The loss, or NaN, which with `backward` fails r->o; gradients are left in the weights. */
double rig_step(struct rig *r, const struct model_input *in, bool backward);

/* checksettings.c */
/* The plugin's parameters as a map: stand-ins for required ones, the given ones, and `over`. */
struct value *checked_settings(const struct checked *s, const struct value *over);
/* The same as a config. */
bool checked_config(const struct checked *s, const struct value *over, const void **config,
                    struct error *err);

const peat_scheme *checked_scheme(const struct checked *s);   /* NULL: not a scheme */
const peat_combine *checked_combine(const struct checked *s); /* NULL: not a combine */
