/* SPDX-License-Identifier: MIT */
/*
 * tables.h: the vectors that tokens and positions bring to the model's input.
 *
 * Where the merge is linear: row v of `token` is what token v becomes when all other streams are
 * zero, row t of `position` what position t of a window becomes. Both are [.., D], in the space of
 * the model's input; concatenation leaves zeros where the other stream stands.
 */
#pragma once

#include "diagnose/parts.h"
#include "maths/spectrum.h"

struct tables {
    const char *missing;              /* why there are no tables; NULL: there are        */
    const char *input_missing;        /* why tokens and positions do not meet at the input */
    double token_size, position_size; /* root mean square of their parts over all windows */
    struct matrix token, position;    /* token: those that the windows hold, by id       */
    const int64_t *token_id;          /* [token.rows]                                    */
    struct matrix input;              /* merged inputs of all windows, padding left out  */
    const int64_t *input_token, *input_position; /* [input.rows]                      */
    bool moving_token; /* a token's part differs from place to place: the first is in the table */
    bool moving_position; /* a position's part differs from window to window          */
};

/* In s->arena; s->now if there is one. Tables are missing, but for `input`, when the merge is not
 * linear or one of the two streams is not there. NULL when the subject has failed. */
const struct tables *tables_find(struct subject *s);
/* The same, but NULL also where tables are missing, which v then says. */
const struct tables *tables_or_skip(struct subject *s, struct json v);
