/* SPDX-License-Identifier: MIT */
/*
 * transformer.h: a Transformer (or the same blocks with another mixer, nn/mixer.h): a decoder
 * (causal), an encoder (bidirectional), or both: the decoder attends to the encoder's output for
 * another sequence.
 *
 *   x = merge(token, positions, segment, streams of the task)
 *   L times: x = residual hooks(x); x += out(attention(norm1(x))); x += mlp(norm2(x))
 *   logits = head(norm(x)), or head(pool(norm(x))) for classes, or both
 *
 * Weights are named as docs/checkpoint.md lists them.
 */
#pragma once

#include "autograd/ops.h"
#include "model/block.h"
#include "nn/pass.h"
#include "nn/stored.h"

/* The encoder of a model of two sequences. It has schemes and a combination of its own, set up from
 * the same plugins; the table of tokens is the model's. */
struct encoder {
    struct positional positional;
    peat_dims dims;
    struct block *block;
    struct norm_weights norm; /* w NULL: norms stand after the parts of blocks */
};

struct model {
    struct model_config config;
    struct positional *positional;
    struct weights weights;
    struct arena *arena;
    peat_dims dims;
    uint64_t seed;
    struct weight *token;   /* [V, width of the token stream]; NULL: patches */
    struct weight *patch_w; /* [width of the token stream, patch_width] */
    struct weight *patch_b; /* [width of the token stream] */
    struct weight *segment; /* [n_segment, width]; NULL: none */
    /* Of the task's own streams: a table [ids, width], or a matrix [width, numbers] and a shift. */
    struct weight *stream_w[PEAT_MAX_STREAMS], *stream_b[PEAT_MAX_STREAMS];
    struct weight *class_token;               /* [1, width of the token stream]; NULL: none */
    struct weight *class_row[POSITIONAL_MAX]; /* [1, width] in the place of a stream; NULL: zeros */
    struct block *block;                      /* [L] */
    struct norm_weights norm; /* the last one; w NULL: norms stand after the parts of blocks */
    struct encoder *encoder;  /* of the source; NULL: there is one sequence */
    struct weight *head;      /* [V or classes, D]; NULL: tied to token */
    struct weight *tie; /* [width of the token stream, D] between head and token; NULL: none */
    struct weight *class_head; /* [classes, D] with head: both; NULL: another head */
    const char *misfrozen;     /* the pattern of config.freeze for which it was not built */
};

/* Declares everything, sets the positional up, gives memory unless shape_only. positional's
 * schemes and combine are filled in by the caller. */
peat_status model_build(struct model *m, const struct model_config *config,
                        struct positional *positional, struct arena *arena, peat_dtype dtype,
                        uint64_t seed, bool shape_only, struct error *err);

/* One batch as data. Arrays are borrowed; NULL where absent. */
struct model_input {
    int64_t B, T;
    const int32_t *token;                         /* [B,T]; NULL: patches */
    const float *patch;                           /* [B,T,patch_width] */
    const int32_t *segment, *document;            /* [B,T] */
    const int32_t *stream_id[PEAT_MAX_STREAMS];   /* [B,T], or ... */
    const float *stream_number[PEAT_MAX_STREAMS]; /* ... [B,T,numbers], as the configuration says */
    const uint8_t *pad, *special;                 /* [B,T] */
    const int64_t *sequence;                      /* [B]   */
    int64_t n_axes;                               /* of pos */
    const double *pos;                            /* [n_axes,B,T] positions that the data has */
    int64_t S;                                    /* length of sources */
    const int32_t *source;                        /* [B,S]; for a model of two sequences */
    const uint8_t *source_pad, *source_special;   /* [B,S] */
    int64_t T_total, S_total;                     /* 0: T, S */
    peat_phase phase;
    int64_t step;
    bool last_only; /* logits of the last position alone: [B, V]; not for classes */
};

/* Whether the class is predicted from a token that the model adds. */
bool model_has_class_token(const struct model_config *c);

/* Which keys each query of this input may see; borrows the input's arrays. */
struct attention_mask model_mask(const struct model *m, const struct model_input *in);
/* Logits [B*T, V], or [B, V], or [B, classes]; NULL with g->err set on error. `pass` keeps what the
 * forward knew (probes, the class logits of a model with head: both), and names an observer before;
 * may be NULL. */
peat_node *model_forward(struct model *m, struct graph *g, const struct model_input *in,
                         struct pass *pass);

/* The mean loss of logits over the truth that is not -1; with classes [B, n], not NULL, their mean
 * loss over `label` is added. */
peat_node *model_loss(struct graph *g, peat_node *logits, const int32_t *truth, peat_node *classes,
                      const int32_t *label);

/* Why this model cannot make the newest rows alone; *id: the plugin that cannot, or NULL. NULL: it
 * can. */
const char *model_not_storable(const struct model *m, const char **id);
/* Rows of a sequence of in->T that are still to be made. Tensors are kept in the arena; the input's
 * arrays are borrowed: tokens may be filled in until their row is made. Sources are read here. */
peat_status model_store(struct model *m, const struct model_input *in, const struct team *team,
                        struct arena *arena, struct stored *s, struct error *err);
/* Makes the rows from those made up to `end`; logits [B,V] of the last, as model_forward's of the
 * first `end` rows but for rounding. NULL with g->err set. */
peat_node *model_newest(struct model *m, struct graph *g, struct stored *s, int64_t end);

/* The input of the first block, [B,T,D] with a class token's place if there is one; NULL on error.
 * Streams pass the observer. */
peat_node *model_input_alone(struct model *m, struct graph *g, const struct model_input *in,
                             struct pass *pass);
/* Of a model without memory (shape_only): values for the weights that its input reads. */
peat_status model_fill_input(struct model *m, struct error *err);

/* From a plan: forward FLOPs and activation bytes of one batch of B sequences of T. A pass that
 * this model cannot make, and one whose backward leaves out a trainable weight, are PEAT_REFUSED.
 * special: batches mark special tokens; sources always do. */
struct model_cost {
    int64_t trainable;        /* numbers trained                                   */
    int64_t frozen;           /* numbers that config.freeze keeps from it          */
    int64_t forward_flops;    /* for the whole batch                               */
    int64_t activation_bytes; /* of all values that forward computes                */
    int64_t held_bytes;       /* of these, not given back before backward (stretch.h) */
    bool composed;            /* some head group takes the composed attention path */
};
peat_status model_plan(struct model *m, int64_t B, int64_t T, bool special, struct model_cost *cost,
                       struct error *err);
