/* SPDX-License-Identifier: MIT */
/* mistaken.c: tokens and positions that can be mistaken for others at the model's input. */
#include <math.h>

#include "base/rng.h"
#include "diagnose/collisions.h"
#include "diagnose/diagnostics.h"
#include "diagnose/figures.h"
#include "tables.h"

static struct value *noise_value(struct arena *a, const struct decoded *d)
{
    struct value *v = figures_map(a);
    figure_set(a, v, "noise", d->noise);
    figure_set(a, v, "token", d->token);
    figure_set(a, v, "position", d->position);
    figure_set(a, v, "both", d->both);
    return v;
}

static struct value *pair_value(struct arena *a, const struct collision *c,
                                const struct collisions *all, const int64_t *id)
{
    struct value *v = figures_map(a);
    member_set_integer(a, v, "token_a", id ? id[c->a] : c->a);
    member_set_integer(a, v, "position_a", c->i);
    member_set_integer(a, v, "token_b", id ? id[c->b] : c->b);
    member_set_integer(a, v, "position_b", c->j);
    figure_set(a, v, "distance", all->scale > 0.0 ? c->distance / all->scale : (double)NAN);
    return v;
}

static struct value *collisions_value(struct arena *a, const struct collisions *c,
                                      const int64_t *id)
{
    struct value *v = figures_map(a), *decoded = figures_list(a), *pairs = figures_list(a);
    summary_set(a, v,
                "a nearest-neighbour decoder gets %.1f %% of the tokens and %.1f %% of the "
                "positions right; %lld of %lld pairs fall on another pair",
                100 * c->decoded[0].token, 100 * c->decoded[0].position, (long long)c->exact,
                (long long)c->queries);
    member_set_integer(a, v, "queries", c->queries);
    member_set(a, v, "exhaustive", value_bool(a, (struct place){0}, c->exhaustive));
    member_set_integer(a, v, "exact", c->exact);
    for (int i = 0; i < c->n_decoded; i++)
        value_append(a, decoded, noise_value(a, &c->decoded[i]));
    for (int i = 0; i < c->n_pairs; i++)
        value_append(a, pairs, pair_value(a, &c->pair[i], c, id));
    member_set(a, v, "decoded", decoded);
    figure_set(a, v, "near_token", c->near_token);
    figure_set(a, v, "near_position", c->near_position);
    figure_set(a, v, "near_mean", c->near_mean);
    figure_set(a, v, "near_least", c->near_least);
    member_set(a, v, "pairs", pairs);
    return v;
}

/* Each pair of token and position once: the first `most` rows of the inputs. */
static struct matrix distinct_rows(struct subject *s, const struct tables *t, int64_t most,
                                   int64_t **token, int64_t **position)
{
    int64_t V = s->model->config.vocab, T = s->batch[0].T, D = t->input.columns, n = 0;
    bool *seen = ARENA_ARRAY(&s->work, V * T, bool);
    float *row = ARENA_ARRAY(&s->work, most * D, float);
    *token = ARENA_ARRAY(&s->work, most, int64_t);
    *position = ARENA_ARRAY(&s->work, most, int64_t);
    for (int64_t i = 0; i < t->input.rows && n < most; i++) {
        bool *mark = &seen[t->input_token[i] * T + t->input_position[i]];
        if (*mark)
            continue;
        *mark = true;
        for (int64_t j = 0; j < D; j++)
            row[n * D + j] = t->input.x[i * D + j];
        (*token)[n] = t->input_token[i];
        (*position)[n++] = t->input_position[i];
    }
    return (struct matrix){row, n, D};
}

peat_status diagnose_collisions(struct subject *s, struct value **v, struct error *err)
{
    enum { MOST_ROWS = 2048 };
    struct tables t;
    struct collisions c;
    const struct collision_settings settings = {.team = s->team,
                                                .stream = rng_substream(s->stream, 104),
                                                .budget = INT64_C(1) << 30,
                                                .n_noise = 2,
                                                .noise = {0.1, 0.5}};
    peat_status status = tables_find(s, &t, err);
    if (status != PEAT_OK)
        return status;
    if (t.missing && t.position.rows == 0) {
        *v = figures_skipped(&s->arena, t.missing);
        return PEAT_OK;
    }
    struct arena_mark mark = arena_mark(&s->work);
    bool rows = t.missing || t.moving_token || t.moving_position;
    if (rows) {
        int64_t *token, *position;
        struct matrix x = distinct_rows(s, &t, MOST_ROWS, &token, &position);
        status = collisions_of_rows(&c, &x, token, position, &settings, &s->work, err);
    } else {
        status = collisions_of_sums(&c, &t.token, &t.position, &settings, &s->work, err);
    }
    if (status == PEAT_OK) {
        *v = collisions_value(&s->arena, &c, rows ? NULL : t.token_id);
        member_set_text(&s->arena, *v, "of", rows ? "rows of the windows" : "all sums");
    }
    arena_rewind(&s->work, mark);
    return status;
}
