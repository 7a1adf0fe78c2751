/* SPDX-License-Identifier: MIT */
/* block.h: one block, and the norms and dropout that the model shares. */
#pragma once

#include "model/model_config.h"
#include "nn/attention.h"
#include "nn/mixer.h"

struct block {
    struct norm_weights norm1, norm2;
    struct attention_weights attention; /* qkv_w is NULL where a mixer replaces attention */
    struct mixer_weights mixer;
    struct norm_weights norm_cross; /* norm of a block that attends to another sequence */
    struct attention_weights cross; /* qkv_w is NULL where the block attends to no other sequence */
    struct weight *up_w, *up_b, *down_w, *down_b; /* without biases up_b and down_b are NULL */
};

/* Declares a matrix of N(0, std). */
struct weight *matrix_declare(struct weights *w, const char *name, int64_t rows, int64_t columns,
                              double std);
/* Declares "<name>.weight" [out, in] from N(0, gain / sqrt(in)) and "<name>.bias" [out]; bias NULL:
 * none. */
void affine_declare(struct weights *w, const char *name, int64_t out, int64_t in, double gain,
                    peat_init shift, struct weight **weight, struct weight **bias);
/* How the model's norms are made. */
struct norm_options block_norm_options(const struct model_config *c);
/* The width of the feed-forward layer, the default included. */
int64_t block_width(const struct model_config *c);

/* The configuration of a stack of blocks to declare. */
struct block_stack {
    const char *prefix; /* prefix of the names of weights: "", "encoder." */
    int64_t D, n_layer;
    bool crosses; /* each block attends to another sequence */
};
/* Declares block `layer`'s weights, "<prefix>block.<layer>.*". */
void block_declare(struct block *b, struct weights *w, const struct model_config *c,
                   const struct block_stack *stack, int64_t layer);
/* The source that a block attends to beside its own sequence. */
struct crossing {
    struct pass *pass; /* across two sequences */
    peat_node *memory; /* [B,Tk,D], the input of keys and values */
};
/* x [B,T,D] -> same; crossing may be NULL. The only caller of the residual and carry hooks. */
peat_node *block_forward(struct pass *pass, const struct block *b, const struct model_config *c,
                         const struct crossing *crossing, int64_t layer, peat_node *x);

/* Dropout in training, keyed by seed, place and step; identity in evaluation. */
peat_node *pass_dropout(struct pass *pass, peat_node *x, double p, const char *place,
                        int64_t layer);
