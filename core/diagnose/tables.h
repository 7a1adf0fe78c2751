/* SPDX-License-Identifier: MIT */
/*
 * tables.h: the vectors that tokens and positions bring to the model's input.
 *
 * Where the merge is linear, row v of `token` is the merged input for token v with all other
 * streams zero, and row t of `position` that for position t of a window. Both are [.., D], in the
 * space of the model's input; with concatenation they are zero in the other stream's dimensions.
 */
#pragma once

#include "diagnose/parts.h"
#include "maths/spectrum.h"

struct tables {
    const char *missing; /* why there are no tables; NULL: there are tables */
    /* why tokens and positions do not meet at the input; NULL: they do */
    const char *input_missing;
    double token_size, position_size;      /* root mean squares of their parts over all windows */
    struct matrix token, position;         /* tokens in the windows, by id                    */
    int64_t *token_id;                     /* [token.rows]                                    */
    struct matrix input;                   /* merged inputs of all windows, without padding   */
    int64_t *input_token, *input_position; /* [input.rows]                            */
    bool moving_token;    /* a token's part differs between places: the table has the first */
    bool moving_position; /* a position's part differs between windows                */
};

/* Collects the tables in s->arena; returns s->now if it exists. Tables except `input` are missing
 * when the merge is not linear or the model lacks one of the two streams. NULL when the subject has
 * failed. */
const struct tables *tables_find(struct subject *s);
/* The same, but NULL also where tables are missing; v then has the reason. */
const struct tables *tables_or_skip(struct subject *s, struct json v);
