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

#include "model/block.h"
#include "nn/stored.h"

/* The encoder of a model of two sequences. It has schemes and a combination of its own, set up from
 * the same plugins; the table of tokens is the model's. */
struct encoder {
    struct positional positional;
    peat_dims dims;
    struct block *block;
    struct norm_weights norm; /* w is NULL where norms are after the parts of blocks */
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
    struct weight *segment; /* [n_segment, width]; NULL: no segments */
    /* For the task's own streams: a table [ids, width], or a matrix [width, numbers] and a
     * shift. */
    struct weight *stream_w[PEAT_MAX_STREAMS], *stream_b[PEAT_MAX_STREAMS];
    struct weight *class_token;               /* [1, width of the token stream]; NULL: no class
                                               * token */
    struct weight *class_row[POSITIONAL_MAX]; /* the class token's row of a stream [1, width];
                                               * NULL: zeros */
    struct block *block;                      /* [L] */
    struct norm_weights norm; /* the last norm; w is NULL where norms are after the parts of
                               * blocks */
    struct encoder *encoder;  /* the encoder of the source; NULL: a model of one sequence */
    struct weight *head;      /* [V or classes, D]; NULL: tied to token */
    struct weight *tie; /* [width of the token stream, D] between head and token; NULL: no matrix */
    struct weight *class_head; /* [classes, D] with head: both; otherwise NULL */
    const char *misfrozen;     /* the pattern in config.freeze that made the build fail */
};

/* Declares all weights, sets the positional up, allocates memory unless shape_only. The caller has
 * filled in positional's schemes and combine. */
peat_status model_build(struct model *m, const struct model_config *config,
                        struct positional *positional, struct arena *arena, peat_dtype dtype,
                        uint64_t seed, bool shape_only, struct error *err);

/* One batch as data. Arrays are borrowed; NULL where absent. */
struct model_input {
    int64_t B;
    peat_side rows;     /* token NULL: patches; pos [n_axes,B,T]: the data's, NULL: counted */
    peat_side source;   /* for a model of two sequences; T_total 0, here and above: T */
    const float *patch; /* [B,T,patch_width] */
    const int32_t *stream_id[PEAT_MAX_STREAMS];   /* [B,T], or ... */
    const float *stream_number[PEAT_MAX_STREAMS]; /* ... [B,T,numbers], as the configuration says */
    peat_phase phase;
    int64_t step;
    bool last_only; /* compute the logits of the last position only: [B, V]; not for classes */
};

/* True where the class is predicted from a token that the model adds. */
bool model_has_class_token(const struct model_config *c);

/* Logits [B*T, V]; with last_only [B, V]; with head: class [B, classes]. NULL with g->err set on
 * error. `pass`, which may be NULL, gives an observer and keeps the state of the pass (probes, the
 * class logits of a model with head: both). */
peat_node *model_forward(struct model *m, struct graph *g, const struct model_input *in,
                         struct pass *pass);

/* The mean loss of logits over the entries of truth that are not -1. If classes [B, n] is not NULL,
 * its mean loss over `label` is added. */
peat_node *model_loss(struct graph *g, peat_node *logits, const int32_t *truth, peat_node *classes,
                      const int32_t *label);

/* Why this model cannot compute only the newest rows; *id: the plugin that cannot, or NULL. NULL:
 * the model can. */
const char *model_not_storable(const struct model *m, const char **id);
/* Prepares the rows of a sequence of in->T, which model_newest computes. Tensors are kept in the
 * arena; the input's arrays are borrowed: tokens may be filled in until their row is computed.
 * Encodes the source here, if the model has one. */
peat_status model_store(struct model *m, const struct model_input *in, const struct team *team,
                        struct arena *arena, struct stored *s, struct error *err);
/* Computes the rows from the first missing one up to `end`. Logits [B,V] of the last row, which
 * equal model_forward's of the first `end` rows up to rounding. NULL with g->err set on error. */
peat_node *model_newest(struct model *m, struct graph *g, struct stored *s, int64_t end);

/* The input of the first block, [B,T,D], with a class token's place if the model has one; NULL on
 * error. The observer sees the streams. */
peat_node *model_input_alone(struct model *m, struct graph *g, const struct model_input *in,
                             struct pass *pass);
/* For a model without memory (shape_only): allocates and fills the weights that its input reads. */
peat_status model_fill_input(struct model *m, struct error *err);

/* Costs from a plan: forward FLOPs and activation bytes of one batch of B sequences of T.
 * PEAT_REFUSED: the model cannot make the pass, or its backward reaches not every trainable weight.
 * special: batches mark special tokens; sources always do. */
struct model_cost {
    int64_t trainable;        /* numbers trained                                   */
    int64_t frozen;           /* numbers that config.freeze excludes from training */
    int64_t forward_flops;    /* for the whole batch                               */
    int64_t activation_bytes; /* bytes of all values that forward computes          */
    int64_t held_bytes;       /* bytes of these values that are still held when backward begins
                               * (recompute.h) */
    bool composed;            /* some head group uses the composed attention path */
};
peat_status model_plan(struct model *m, int64_t B, int64_t T, bool special, struct model_cost *cost,
                       struct error *err);
