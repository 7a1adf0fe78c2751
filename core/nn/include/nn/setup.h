/* SPDX-License-Identifier: MIT */
/* setup.h: the engine's side of a plugin's setup. Its callers are nn/positional.c for schemes and
 * combines, train/task.c for tasks, and code that shows a scheme without a model. */
#pragma once

#include "nn/part.h"

/* State of one setup; the plugin sees base. */
struct setup {
    peat_setup base;
    struct arena *arena;     /* the model's */
    struct weights *weights; /* NULL for tasks */
    struct part *part;
    const struct where *where; /* NULL for combines and tasks */
    peat_token_table tokens;   /* the token table that model_build chose; preset to the defaults
                                * for D */
    int64_t heads;             /* the value of PEAT_HEADS */
    peat_status status;        /* status of the first failure of a service */
    struct error *err;
};

/* The token table of a model of this width. embed_scale 0: sqrt(d_model), which gives tokens unit
 * variance (Vaswani et al. 2017, section 3.4). */
peat_token_table token_table(int64_t d_model, double embed_scale);

/* Prepares a setup for one plugin. */
void setup_init(struct setup *s, const peat_host *host, struct arena *arena,
                struct weights *weights, struct part *part, const peat_dims *dims,
                struct error *err);
/* The status after the plugin's setup returned `status`: the failure of a service wins, and a
 * plugin that failed without a message gets one. */
peat_status setup_end(const struct setup *s, peat_status status);
