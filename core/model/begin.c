/* SPDX-License-Identifier: MIT */
/* begin.c: begins a pass: its rows, and their positions. */
#include "passes.h"

void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in)
{
    bool collect = pass->collect;
    const struct observer *observer = pass->observer;
    peat_side rows = in->rows;
    rows.size = sizeof(rows);
    rows.T_total = rows.T_total > 0 ? rows.T_total : rows.T;
    rows.n_axes = 1;
    rows.pos = NULL;
    *pass = (struct pass){
        .g = g,
        .positional = p,
        .model_arena = m->arena,
        .dims = *dims,
        .phase = in->phase,
        .B = in->B,
        .step = in->phase == PEAT_TRAIN ? in->step : 0,
        .trained_step = in->phase == PEAT_TRAIN ? in->step : m->weights.step,
        .seed = m->seed,
        .merge = input_merge,
        .collect = collect,
        .observer = observer,
        .drops = "dropout",
        .prefix = "",
        .span.rows = rows,
    };
}

static bool leading_pad(const struct model_input *in)
{
    for (int64_t b = 0; in->rows.pad && b < in->B; b++)
        if (in->rows.pad[b * in->rows.T])
            return true;
    return false;
}

/* Counts places from the start of each document, without padding in front: row b's T places, into
 * pos. */
static void count_places(const struct model_input *in, int64_t b, double from, double *pos)
{
    int64_t start = 0;
    for (int64_t t = 0; t < in->rows.T; t++) {
        int64_t i = b * in->rows.T + t;
        bool fresh = in->rows.document && t > 0 && in->rows.document[i] != in->rows.document[i - 1];
        bool padded = in->rows.pad && t > 0 && in->rows.pad[i - 1] && !in->rows.pad[i];
        if (fresh || padded)
            start = t;
        pos[t] = from + (double)(t - start);
    }
}

/* Whether a hook changes the positions in the data's grid, or the positions on one axis. */
static bool any_hook(const struct positional *p, const struct model_input *in, bool in_grid)
{
    for (int i = 0; i < p->n_scheme; i++) {
        const peat_scheme *h = p->scheme[i].hooks;
        if (h->positions && (in->rows.pos && h->max_axes > 1) == in_grid)
            return true;
    }
    return false;
}

/* Sets places on one axis: for each row, or the same for all rows. */
static double *line_fill(struct pass *pass, const struct model_input *in, int64_t lead)
{
    bool rows = any_hook(pass->positional, in, false) || in->rows.document || leading_pad(in);
    int64_t n = rows ? in->B : 1, T = in->rows.T + lead;
    double *pos = ARENA_TRY_ARRAY(pass->g->arena, n * T, double);
    for (int64_t b = 0; pos && b < n; b++) {
        pos[b * T] = 0.0;
        if (rows)
            count_places(in, b, (double)lead, pos + b * T + lead);
        for (int64_t t = 1; !rows && t < T; t++)
            pos[t] = (double)t;
    }
    pass->span.rows.pos = pos;
    pass->span.rows.pos_B = n;
    return pos;
}

/* Whether all rows of in->rows.pos are equal. */
static bool rows_alike(const struct model_input *in)
{
    for (int64_t a = 0; a < in->rows.n_axes; a++)
        for (int64_t b = 1; b < in->B; b++)
            if (memcmp(in->rows.pos + (a * in->B + b) * in->rows.T,
                       in->rows.pos + a * in->B * in->rows.T,
                       (size_t)in->rows.T * sizeof(*in->rows.pos)) != 0)
                return false;
    return true;
}

/* Sets the positions that the data have. */
static double *grid_fill(struct pass *pass, const struct model_input *in, int64_t lead)
{
    bool rows = any_hook(pass->positional, in, true) || !rows_alike(in);
    int64_t n = rows ? in->B : 1, T = in->rows.T + lead, at = 0;
    double *pos = ARENA_TRY_ARRAY(pass->g->arena, in->rows.n_axes * n * T, double);
    for (int64_t a = 0; pos && a < in->rows.n_axes; a++)
        for (int64_t b = 0; b < n; b++)
            for (int64_t t = -lead; t < in->rows.T; t++)
                pos[at++] =
                    t < 0 ? 0.0 : in->rows.pos[(a * in->B + b) * in->rows.T + t] + (double)lead;
    pass->grid = (struct grid){(int32_t)in->rows.n_axes, n, pos};
    return pos;
}

bool positions_fill(struct pass *pass, const struct model_input *in, bool class_first)
{
    double *line = line_fill(pass, in, class_first), *grid = NULL;
    if (in->rows.pos)
        grid = grid_fill(pass, in, class_first);
    if (!line || (in->rows.pos && !grid))
        return graph_no_memory(pass->g, "positions", 0) != NULL;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = &pass->positional->scheme[i];
        if (!s->hooks->positions)
            continue;
        struct call c;
        call_init(&c, pass, i, -1);
        hook_begin(&c, HOOK_POSITIONS);
        double *pos = c.base.q->n_axes > 1 ? grid : line;
        bool ok = call_has_tokens(&c);
        if (!hook_status(pass, ok ? s->hooks->positions(&c.base, pos) : PEAT_FAILED))
            return false;
    }
    return true;
}
