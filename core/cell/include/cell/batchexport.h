/* SPDX-License-Identifier: MIT */
/* batchexport.h: a cell's batches as tensors, and its model's logits and gradients for the first
 * batch, for other programs (docs/checkpoint.md, "Batches"). */
#pragma once

#include "cell/assemble.h"
#include "model/safetensors.h"

/* Tensors and their names live in the arena. The caller sets it and `err`, which is never NULL; all
 * other fields start as 0. Functions return whether they succeeded. */
struct tensor_list {
    struct arena *arena;
    struct error *err;
    struct named_tensor *tensor;
    int n, room;
};

/* A tensor without data had no memory. */
bool tensors_add(struct tensor_list *list, const char *name, struct tensor t);
bool tensors_no_memory(struct tensor_list *list);

/* An array of a batch, [B], [B,T], [B,T,n] or [planes,B,T] items: of int32, flags of uint8, float,
 * double, int64. */
struct batch_array {
    const char *name;
    enum { ID, FLAG, NUMBER, REAL, COUNT } item;
    const void *data;
    int rank;
    int64_t dim[3];
};
enum { BATCH_ARRAYS = 13 + PEAT_MAX_STREAMS };
/* Lists the arrays that the batch has; returns their number. Names live in the arena. */
int batch_arrays(const struct task *t, const peat_batch *b, struct arena *a,
                 struct batch_array out[BATCH_ARRAYS]);

/* Adds the arrays that the batch has, as `prefix`<name>: ids, targets and flags as I32, numbers as
 * F32, sequences and positions as F64. The list's arena owns the names and the converted arrays;
 * the batch owns the others. */
bool batch_add(struct tensor_list *list, const struct task *t, const peat_batch *b,
               const char *prefix);
/* How training treats each tensor: {name: {"frozen", "decay", "bounds"}}. */
struct value *weights_training(const struct weights *w, struct arena *a);
/* Adds the batches of training steps first ... last, "<step>.<array>". The assembly may be
 * shape_only. */
bool batches_add(struct tensor_list *list, const struct assembly *s, const struct cell_config *c,
                 int64_t first, int64_t last);
/* Adds the batch of step 1 as "batch.train.<array>" with the loss, logits and gradients
 * ("batch.grad.<weight>") of a training pass. Also adds two rows of an evaluation batch of the
 * longest length, "batch.valid.<array>", with their logits. The assembly is in F64 and has its
 * weights. */
bool first_batch_add(struct tensor_list *list, struct assembly *s, const struct cell_config *c);
/* Trains the first n steps of such an assembly, whose weights are the initial ones, and adds
 * "steps.loss" and "steps.grad_norm" [n]. The assembly then has the weights after step n. */
bool steps_add(struct tensor_list *list, struct assembly *s, const struct cell_config *c,
               int64_t n);
