/* SPDX-License-Identifier: MIT */
/* tables.c: collects the tables from the windows. */
#include "tables.h"

struct gather {
    struct subject *s;
    struct tables *t;
    int64_t D;
    int64_t *row_of; /* [V]: the row of a token in `token`, -1: not seen */
    float *token, *position, *input;
    double token_square, position_square; /* sums over the input's rows */
    bool linear, has_position;
};

/* Equal up to F32's rounding of the tables. */
static bool same_row(const double *x, const float *row, int64_t D)
{
    for (int64_t j = 0; j < D; j++)
        if (fabs(x[j] - (double)row[j]) > 1e-5 * (1.0 + fabs(x[j])))
            return false;
    return true;
}

static void put_row(float *row, const double *x, int64_t D)
{
    for (int64_t j = 0; j < D; j++)
        row[j] = (float)x[j];
}

static void add_token(struct gather *g, int32_t id, const double *x)
{
    struct tables *t = g->t;
    if (g->row_of[id] < 0) {
        g->row_of[id] = t->token.rows;
        t->token_id[t->token.rows] = id;
        put_row(g->token + t->token.rows++ * g->D, x, g->D);
    } else if (!same_row(x, g->token + g->row_of[id] * g->D, g->D)) {
        t->moving_token = true;
    }
}

/* Rows come in the order of the windows, so position p is new when rows == p. */
static void add_position(struct gather *g, int64_t p, const double *x)
{
    struct tables *t = g->t;
    if (p == t->position.rows)
        put_row(g->position + t->position.rows++ * g->D, x, g->D);
    else if (p < t->position.rows && !same_row(x, g->position + p * g->D, g->D))
        t->moving_position = true;
}

static double sum_squares(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct gather *g = ctx;
    struct parts input, block;
    if (!parts_find(g->s, b, &input, &block))
        return;
    g->linear = g->linear && parts_are_linear(&input);
    for (int64_t i = 0; i < input.rows; i++) {
        if (b->has_pad && b->pad[i])
            continue;
        struct matrix *m = &g->t->input;
        add_token(g, b->token[i], input.x[PART_TOKEN] + i * g->D);
        g->token_square += sum_squares(input.x[PART_TOKEN] + i * g->D, g->D);
        if (g->has_position) {
            add_position(g, i % b->T, input.x[PART_POSITION] + i * g->D);
            g->position_square += sum_squares(input.x[PART_POSITION] + i * g->D, g->D);
        }
        g->t->input_token[m->rows] = b->token[i];
        g->t->input_position[m->rows] = i % b->T;
        put_row(g->input + m->rows++ * g->D, input.whole + i * g->D, g->D);
    }
}

static void make_room(struct gather *g)
{
    struct arena *a = &g->s->arena;
    int64_t V = g->s->model->config.vocab, n = subject_tokens(g->s), tokens = n < V ? n : V;
    g->row_of = ARENA_ARRAY(a, V, int64_t);
    g->token = ARENA_ARRAY(a, tokens * g->D, float);
    g->position = ARENA_ARRAY(a, g->s->batch[0].T * g->D, float);
    g->input = ARENA_ARRAY(a, n * g->D, float);
    g->t->token_id = ARENA_ARRAY(a, tokens, int64_t);
    g->t->input_token = ARENA_ARRAY(a, n, int64_t);
    g->t->input_position = ARENA_ARRAY(a, n, int64_t);
    memset(g->row_of, -1, (size_t)V * sizeof(*g->row_of));
}

const struct tables *tables_find(struct subject *s)
{
    if (s->now)
        return s->now;
    struct tables *t = ARENA_NEW(&s->arena, struct tables);
    struct gather g = {.s = s,
                       .t = t,
                       .D = s->model->dims.D,
                       .linear = true,
                       .has_position = positional_at_input(s->model->positional)};
    make_room(&g);
    subject_each(s, s->n_batch, add_batch, &g);
    t->token = (struct matrix){g.token, t->token.rows, g.D};
    t->position = (struct matrix){g.position, t->position.rows, g.D};
    t->input = (struct matrix){g.input, t->input.rows, g.D};
    double numbers = (double)(t->input.rows * g.D);
    t->token_size = sqrt(g.token_square / numbers);
    t->position_size = sqrt(g.position_square / numbers);
    if (!g.has_position)
        t->missing = t->input_missing = "no position at the input";
    else if (!g.linear)
        t->missing =
            "not linear, not decomposed: the input is not a sum of what each stream brings";
    else if (t->position.rows == 0)
        t->missing = "the windows begin with padding: positions cannot be listed";
    return subject_is_well(s) ? t : NULL;
}

const struct tables *tables_or_skip(struct subject *s, struct json v)
{
    const struct tables *t = tables_find(s);
    if (!t || !t->missing)
        return t;
    json_put_text(v, "skipped", t->missing);
    return NULL;
}
