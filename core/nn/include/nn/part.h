/* SPDX-License-Identifier: MIT */
/*
 * part.h: a plugin's part in one model: its config, its state, its tensors, and where it acts.
 *
 * The builder of a model fills id, prefix, config and where; the set-up (nn/setup.h) fills
 * the rest.
 */
#pragma once

#include "nn/weights.h"

/* Where a scheme's stream enters the model. */
enum site { SITE_INPUT, SITE_RESIDUAL, SITE_ATTN_Q, SITE_ATTN_K, SITE_ATTN_QK, SITE_ATTN_QKV };

/* The attention of a model of two sequences in which a scheme acts: only within each sequence, also
 * in cross-attention, or only there. */
enum across { ACROSS_NOT, ACROSS_TOO, ACROSS_ONLY };

/* The layers, heads and head dimensions on which a scheme acts. Only the host reads this. */
struct where {
    int64_t n_layer; /* 0: all                            */
    const int64_t *layer;
    int64_t head_begin, head_end; /* end 0: all            */
    int64_t dim_begin, dim_end;   /* end 0: all; qkv only   */
    enum across across;
    enum site at;
    peat_scope share; /* for PEAT_PER_USER: PEAT_ONCE or PEAT_PER_LAYER */
};

/* One tensor that setup registered: one weight, or one for each layer where the scheme acts. */
struct scheme_weight {
    const char *name;
    peat_scope scope;
    struct weight **layer; /* [1] or [L]; NULL where the scheme does not act */
};

/* Rows of a row function at positions 0 .. n-1, computed once. */
struct row_table {
    peat_row_fn row;
    int64_t d, n;
    double *value; /* [n, d] */
    struct row_table *next;
};

struct plugin; /* plugin/registry.h */

/* A plugin's part in the model; shared by schemes and the combine. */
struct part {
    const char *id;     /* "rotary"                                                       */
    const char *prefix; /* prefix of its weights' names: "position.0.rotary", "combine.sum" */
    const struct plugin *plugin; /* as it was loaded; NULL: the part was made by hand */
    const void *config;
    struct data_files *files; /* has those that the parameters name; NULL: any file may be read */
    void *self;
    int n_weight;
    struct scheme_weight weight[32];
    bool per_head;  /* some tensor has PEAT_HEADS in its shape                      */
    bool per_layer; /* some tensor has one copy per layer                           */
    struct row_table *rows;
    struct value *resolved; /* map of the values that peat_resolved recorded; NULL: nothing
                             * recorded */
};

/* host.c: the engine's table for plugins. It lives as long as the process. */
const peat_host *host_table(void);

/* A copy with the same plugin and config for another part of the model; `before` is put in front of
 * its weights' names. */
static inline struct part part_again(const struct part *p, const char *before, struct arena *a)
{
    return (struct part){.id = p->id,
                         .prefix = arena_printf(a, "%s%s", before, p->prefix),
                         .plugin = p->plugin,
                         .config = p->config,
                         .files = p->files};
}

static inline bool where_acts(const struct where *where, int64_t layer)
{
    bool acts = layer < 0 || where->n_layer == 0;
    for (int64_t i = 0; i < where->n_layer && !acts; i++)
        acts = where->layer[i] == layer;
    return acts;
}
