/* SPDX-License-Identifier: MIT */
/* tensor_list.h: the trainable tensors of a scheme or combination, in words, without a model. */
#pragma once

#include "plugin/registry.h"
#include "process/trail.h"

/* One tensor. Sizes that follow from the model are letters: D, H, C, V, T_train, T_max. */
struct tensor_row {
    const char *name;
    const char *shape;  /* "[T_max, D]"                              */
    const char *starts; /* "normal, 1/sqrt(D)"                       */
    const char *each;   /* "the model", "each layer", "`share`"      */
    const char *note;   /* "no decay", "frozen", "kept in [0, 1]"; "" */
};

/* Lists the tensors of a plugin with this configuration in a decoder; a combination has one stream
 * of positions. The trail may be NULL. */
bool tensor_list(const struct plugin *p, const void *config, struct trail *trail, struct arena *a,
                 struct tensor_row **row, int *n, struct error *err);
