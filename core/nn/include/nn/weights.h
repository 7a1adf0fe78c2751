/* SPDX-License-Identifier: MIT */
/*
 * weights.h: the trainable tensors of a model, by name, in one block.
 *
 * Tensors are declared first and get memory together: values and gradients are each one contiguous
 * block, so that counting, zeroing, clipping, saving and updating are one loop. Each tensor is
 * initialised from its own random stream, keyed by seed and name: adding one shifts no other.
 *
 * A frozen tensor is not trained. Tensors that the user froze are at the end of the block of
 * values; the blocks of gradients and of the optimiser do not have them.
 */
#pragma once

#include <peat/host.h>

#include "autograd/graph.h"

struct weight {
    const char *name;
    struct tensor value, grad; /* into the blocks; grad.data NULL when frozen or in a plan */
    int64_t offset;            /* in elements, from the start of the block                  */
    peat_init init;
    bool frozen;
    bool apart;   /* frozen by weights_freeze                                               */
    bool decay;   /* has weight decay                                                       */
    bool bounded; /* is kept in [lo, hi] after each update                                  */
    double lo, hi;
    peat_node *node; /* its node in the graph of the present forward pass                   */
};

struct weights {
    struct arena *arena; /* the model's arena */
    peat_dtype dtype;
    struct weight **item;
    int n, room;
    bool incomplete;    /* some tensor could not be declared                                   */
    int64_t size;       /* elements of the block of values, padding included */
    int64_t trained;    /* the same for the blocks of gradients and moments; set by weights_build */
    void *value, *grad; /* the blocks; NULL in a plan                                        */
    int64_t step;       /* the last step of training that changed the values; 0: initial values, or
                         * unknown */
};

void weights_init(struct weights *w, struct arena *arena, peat_dtype dtype);
/* Declares a tensor; the name is copied. NULL when memory ran out or the name is taken. Tensors of
 * two axes or more have weight decay unless `use` has PEAT_NO_DECAY. */
struct weight *weights_add(struct weights *w, const char *name, int rank, const int64_t *dim,
                           peat_init init, uint32_t use);
/* Freezes the tensors that match any of the patterns, which are a shell's: `*` is any text, `?` a
 * character. Returns NULL, or the first pattern that matches no tensor. Call after all tensors were
 * added, before they are built. */
const char *weights_freeze(struct weights *w, const peat_strings *pattern);
/* PEAT_INVALID: no tensor has this name, or matches this pattern; with the nearest name. */
peat_status weights_none_called(const struct weights *w, const char *name, struct error *err);
/* Lays all tensors out and, unless shape_only, allocates and initialises values and clears
 * gradients. */
peat_status weights_build(struct weights *w, uint64_t seed, bool shape_only, struct error *err);
/* For weights that were only laid out: memory and initial values, without gradients, for those
 * whose name passes `keep`. */
peat_status weights_fill(struct weights *w, uint64_t seed, bool (*keep)(const char *name),
                         struct error *err);
struct weight *weights_find(const struct weights *w, const char *name);
void weights_zero_grad(struct weights *w);
/* Fails with `status` if a trained weight gets no gradient. Call while the nodes of a pass live. */
peat_status weights_reached(const struct weights *w, peat_status status, struct error *err);
/* The number of trained numbers (without frozen ones and padding). */
int64_t weights_trainable(const struct weights *w);
/* The number of numbers in the tensors that weights_freeze froze. */
int64_t weights_frozen(const struct weights *w);
/* SHA-256 over the values of all tensors whose name passes `keep` (NULL: all), in name order. */
void weights_hash(const struct weights *w, bool (*keep)(const char *name), char hex[65]);
/* SHA-256 over their names and shapes, which training does not change. */
void weights_shape_hash(const struct weights *w, bool (*keep)(const char *name), char hex[65]);
/* Forgets the nodes of the previous graph: call once before each forward pass. */
void weights_begin(struct weights *w);
/* The tensor as a leaf of g; the same node each time within one pass. NULL for NULL. */
peat_node *weight_node(struct graph *g, struct weight *w);
/* Its rows [begin, end), a view; NULL for NULL. */
peat_node *weight_rows(struct graph *g, struct weight *w, int64_t begin, int64_t end);
