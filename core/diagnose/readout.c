/* SPDX-License-Identifier: MIT */
/* readout.c: linear probes for position and token, at the input and after every block. */

#include "diagnose/probe.h"
#include "diagnose/trace.h"
#include "rounded.h"

/* Rows of one layer: places of all windows, without padding. */
struct readout {
    struct subject *s;
    int64_t n, D, windows;
    float *x;                           /* [L + 1][n, D] */
    int64_t *token, *position, *window; /* [n]           */
    double *place;                      /* [n]           */
    bool *new_position, *new_window;    /* [n]: a test row */
};

static const double HELD_OUT = 0.2;

static void add_batch(void *ctx, const peat_batch *b)
{
    struct readout *r = ctx;
    struct trace t;
    int64_t L = r->s->model->dims.L, first = r->n;
    bool ran = trace_run(&t, r->s, b, &(struct trace_options){0});
    for (int64_t i = 0; ran && i < b->B * b->T; i++) {
        if (b->has_pad && b->pad[i])
            continue;
        r->token[r->n] = b->token[i];
        r->position[r->n] = i % b->T;
        r->place[r->n] = (double)(i % b->T);
        r->window[r->n++] = r->windows + i / b->T;
    }
    for (int64_t l = 0; ran && l <= L; l++) {
        const double *x = node_copy(t.residual[l], &r->s->work);
        float *out = r->x + (l * subject_tokens(r->s) + first) * r->D;
        for (int64_t i = 0; i < b->B * b->T; i++)
            for (int64_t j = 0; !(b->has_pad && b->pad[i]) && j < r->D; j++)
                *out++ = (float)x[i * r->D + j];
    }
    trace_end(&t);
    r->windows += b->B;
}

static void gather(struct readout *r)
{
    struct arena *a = &r->s->work;
    int64_t n = subject_tokens(r->s), L = r->s->model->dims.L;
    r->D = r->s->model->dims.D;
    r->x = ARENA_ARRAY(a, (L + 1) * n * r->D, float);
    r->token = ARENA_ARRAY(a, n, int64_t);
    r->position = ARENA_ARRAY(a, n, int64_t);
    r->window = ARENA_ARRAY(a, n, int64_t);
    r->place = ARENA_ARRAY(a, n, double);
    r->new_position = ARENA_ARRAY(a, n, bool);
    r->new_window = ARENA_ARRAY(a, n, bool);
    subject_each(r->s, r->s->n_batch, add_batch, r);
}

struct layer_probes {
    struct probe_regression place;
    struct probe_classes position, token;
};

static bool probe_layer(struct readout *r, int64_t layer, struct layer_probes *p)
{
    struct arena *a = &r->s->work;
    struct error *err = &r->s->err;
    const struct matrix m = {r->x + layer * subject_tokens(r->s) * r->D, r->n, r->D};
    const struct team *team = r->s->team;
    return probe_regression(team, &p->place, &m, r->place, r->position, r->new_position,
                            rng_substream(r->s->stream, 101), a, err) == PEAT_OK &&
           probe_classes(team, &p->position, &m, r->position, r->new_window, a, err) == PEAT_OK &&
           probe_classes(team, &p->token, &m, r->token, r->new_window, a, err) == PEAT_OK;
}

static void add_layer(struct json layers, int64_t layer, const struct layer_probes *p)
{
    struct json v = json_add_map(layers);
    json_put_int(v, "layer", layer);
    put_rounded(v, "position_r2", p->place.r2);
    put_rounded(v, "position_error", p->place.error);
    put_rounded(v, "position_accuracy", p->position.accuracy);
    put_rounded(v, "token_accuracy", p->token.accuracy);
}

static void put_whole(struct json v, const struct layer_probes *first,
                      const struct layer_probes *last)
{
    struct json chance = json_put_map(v, "chance");
    put_rounded(chance, "position_accuracy", first->position.chance);
    put_rounded(chance, "token_accuracy", first->token.chance);
    json_put_int(v, "train", first->token.train);
    json_put_int(v, "test", first->token.test);
    put_summary(v,
                "a linear readout finds the position (of windows it was not fitted on) in %.0f %% "
                "of the places at the input and %.0f %% after the last block, the token in %.0f %% "
                "and %.0f %%",
                100 * first->position.accuracy, 100 * last->position.accuracy,
                100 * first->token.accuracy, 100 * last->token.accuracy);
}

static void run_probes(struct readout *r, struct json v)
{
    struct json layers = json_list(&r->s->arena);
    struct layer_probes first = {0}, last = {0};
    for (int64_t l = 0; l <= r->s->model->dims.L; l++) {
        if (!probe_layer(r, l, &last))
            return;
        if (l == 0)
            first = last;
        add_layer(layers, l, &last);
    }
    put_whole(v, &first, &last);
    json_put(v, "layers", layers.v);
}

void diagnose_probes(struct subject *s, struct json v)
{
    struct readout r = {.s = s};
    struct arena_mark mark = arena_mark(&s->work);
    gather(&r);
    if (r.windows < 2 || s->batch[0].T < 2) {
        json_put_text(v, "skipped", "probes need two windows of two tokens");
    } else if (subject_is_well(s)) {
        probe_hold_out(r.position, r.n, HELD_OUT, rng_substream(s->stream, 102), r.new_position,
                       &s->work);
        probe_hold_out(r.window, r.n, HELD_OUT, rng_substream(s->stream, 103), r.new_window,
                       &s->work);
        run_probes(&r, v);
    }
    arena_rewind(&s->work, mark);
}
