/* SPDX-License-Identifier: MIT */
/* activations.h: streams, queries, logits and other nodes of a cell's forward passes, as tensors
 * (docs/formats.md, "Activations"). */
#pragma once

#include "cell/batchexport.h"

struct activations {
    int64_t rows; /* windows of the first evaluation length; 0: ACTIVATION_PASSES passes of them */
    const char *only; /* patterns of names, separated by commas; NULL: all */
    /* Tensors F64 [rows, ...] by the names of the result, sorted: a pass takes them in place of
     * what it computed. Arrays of the batch, "batch.<array>", replace the windows. */
    const struct named_tensor *given;
    int n_given;
    int64_t step;    /* as this step of training computes, with its draws; -1: as evaluation */
    int64_t threads; /* the result has the same bits at any number */
};

enum { ACTIVATION_PASSES = 4 };

/* Adds the tensors that `only` names, each [rows, ...] in F64, and writes into meta how to read
 * them. The assembly is in F64 and has its weights. Passes take at most 1024 tokens and 64 rows,
 * unless one row is longer; windows are cut to their first 512 places. Memory: the result and one
 * pass. */
bool activations_add(struct tensor_list *list, struct assembly *s, const struct activations *q,
                     struct json meta);
/* --tokens: reads token ids [rows, T] of a file of NumPy as the tensor "batch.token" [rows, T]. */
bool activations_tokens(const char *path, struct arena *a, struct named_tensor *t,
                        struct error *err);
