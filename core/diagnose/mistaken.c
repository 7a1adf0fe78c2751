/* SPDX-License-Identifier: MIT */
/* mistaken.c: tokens and positions that can be mistaken for others at the model's input. */

#include "diagnose/collisions.h"
#include "rounded.h"
#include "tables.h"

static void add_noise(struct json list, const struct decoded *d)
{
    struct json v = json_add_map(list);
    put_rounded(v, "noise", d->noise);
    put_rounded(v, "token", d->token);
    put_rounded(v, "position", d->position);
    put_rounded(v, "both", d->both);
}

static void put_token(const struct subject *s, struct json v, const char *number, const char *text,
                      int64_t id)
{
    json_put_int(v, number, id);
    json_put_text(v, text, s->task ? task_token_text(s->task, (int32_t)id, v.a) : NULL);
}

static void add_pair(const struct subject *s, struct json list, const struct collision *c,
                     double scale, const int64_t *id)
{
    struct json v = json_add_map(list);
    put_token(s, v, "token_a", "text_a", id ? id[c->a] : c->a);
    json_put_int(v, "position_a", c->i);
    put_token(s, v, "token_b", "text_b", id ? id[c->b] : c->b);
    json_put_int(v, "position_b", c->j);
    put_rounded(v, "distance", scale > 0.0 ? c->distance / scale : (double)NAN);
}

static void put_collisions(const struct subject *s, struct json v, const struct collisions *c,
                           const int64_t *id)
{
    put_summary(v,
                "a nearest-neighbour decoder gets %.1f %% of the tokens and %.1f %% of the "
                "positions right; %lld of %lld pairs fall on another pair",
                100 * c->decoded[0].token, 100 * c->decoded[0].position, (long long)c->exact,
                (long long)c->queries);
    json_put_int(v, "queries", c->queries);
    json_put_bool(v, "exhaustive", c->exhaustive);
    json_put_int(v, "exact", c->exact);
    struct json decoded = json_put_list(v, "decoded");
    for (int i = 0; i < c->n_decoded; i++)
        add_noise(decoded, &c->decoded[i]);
    put_rounded(v, "near_token", c->near_token);
    put_rounded(v, "near_position", c->near_position);
    put_rounded(v, "near_mean", c->near_mean);
    put_rounded(v, "near_least", c->near_least);
    struct json pairs = json_put_list(v, "pairs");
    for (int i = 0; i < c->n_pairs; i++)
        add_pair(s, pairs, &c->pair[i], c->scale, id);
}

/* Each pair of token and position once: the first `most` such rows of the inputs. */
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

void diagnose_collisions(struct subject *s, struct json v)
{
    enum { MOST_ROWS = 2048 };
    struct collisions c;
    const struct collision_settings settings = {.team = s->team,
                                                .stream = rng_substream(s->stream, 104),
                                                .budget = INT64_C(1) << 30,
                                                .n_noise = 2,
                                                .noise = {0.1, 0.5}};
    const struct tables *t = tables_find(s);
    if (t && t->position.rows == 0)
        t = tables_or_skip(s, v);
    if (!t)
        return;
    struct arena_mark mark = arena_mark(&s->work);
    bool rows = t->missing || t->moving_token || t->moving_position;
    if (rows) {
        int64_t *token, *position;
        struct matrix x = distinct_rows(s, t, MOST_ROWS, &token, &position);
        collisions_of_rows(&c, &x, token, position, &settings, &s->work, &s->err);
    } else {
        collisions_of_sums(&c, &t->token, &t->position, &settings, &s->work, &s->err);
    }
    if (subject_is_well(s)) {
        put_collisions(s, v, &c, rows ? NULL : t->token_id);
        json_put_text(v, "of", rows ? "rows of the windows" : "all sums");
    }
    arena_rewind(&s->work, mark);
}
