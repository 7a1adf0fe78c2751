/* SPDX-License-Identifier: MIT */
/* sizes.c: the sizes of tokens and positions where they meet, and the cosine between them. */

#include "heads.h"
#include "rounded.h"
#include "tables.h"

/* Over all pairs of a token's and a position's vector; rows of length 0 have no direction. */
struct cosines {
    double mean, size; /* means of cos and of |cos|; NaN: no pair */
};

/* Scales rows to length 1 and leaves out those of length 0; returns the number of rows. */
static int64_t unit_rows(const struct matrix *m, double *out)
{
    int64_t d = m->columns, n = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        const float *x = m->x + i * d;
        double square = 0.0;
        for (int64_t j = 0; j < d; j++)
            square += (double)x[j] * (double)x[j];
        if (!(square > 0.0))
            continue;
        for (int64_t j = 0; j < d; j++)
            out[n * d + j] = (double)x[j] / sqrt(square);
        n++;
    }
    return n;
}

static struct cosines find_cosines(const struct tables *t, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    int64_t d = t->token.columns;
    double *token = ARENA_ARRAY(a, t->token.rows * d, double);
    double *position = ARENA_ARRAY(a, t->position.rows * d, double);
    int64_t tokens = unit_rows(&t->token, token), positions = unit_rows(&t->position, position);
    double pairs = (double)tokens * (double)positions, sum = 0.0, size = 0.0;
    for (int64_t v = 0; v < tokens; v++)
        for (int64_t p = 0; p < positions; p++) {
            double cosine = 0.0;
            for (int64_t j = 0; j < d; j++)
                cosine += token[v * d + j] * position[p * d + j];
            sum += cosine;
            size += fabs(cosine);
        }
    arena_rewind(a, mark);
    return (struct cosines){ratio(sum, pairs), ratio(size, pairs)};
}

/* The mean |cos| of independent directions, uniform in d dimensions:
 * gamma(d / 2) / (sqrt(pi) gamma((d + 1) / 2)). */
static double size_by_chance(int64_t d)
{
    int sign;
    double half = 0.5 * (double)d;
    return exp(lgamma_r(half, &sign) - lgamma_r(half + 0.5, &sign)) / sqrt(acos(-1.0));
}

static struct cosines put_sizes(const struct tables *t, struct arena *a, struct json v)
{
    struct cosines none = {(double)NAN, (double)NAN}, c = t->missing ? none : find_cosines(t, a);
    put_rounded(v, "token", t->token_size);
    put_rounded(v, "position", t->position_size);
    put_rounded(v, "ratio", ratio(t->token_size, t->position_size));
    put_rounded(v, "cosine", c.mean);
    put_rounded(v, "cosine_size", c.size);
    return c;
}

static void summarise(const struct tables *now, const struct tables *start, struct cosines c,
                      double chance, struct json v)
{
    double first = start ? ratio(start->token_size, start->position_size) : (double)NAN;
    double last = ratio(now->token_size, now->position_size);
    const char *before =
        isnan(first) ? "" : arena_printf(v.a, " (%.3g times before training)", first);
    if (isnan(c.mean))
        put_summary(v, "tokens are %.3g times as large as positions where they meet%s", last,
                    before);
    else
        put_summary(v,
                    "tokens are %.3g times as large as positions where they meet%s; the cosine "
                    "between the two is %+.3f in the mean, its size %.3f (%.3f by chance)",
                    last, before, c.mean, c.size, chance);
}

void diagnose_sizes(struct subject *s, struct json v)
{
    const struct tables *t = tables_find(s);
    if (!t)
        return;
    if (t->input_missing) {
        json_put_text(v, "skipped", t->input_missing);
        return;
    }
    double chance = size_by_chance(t->token.columns);
    struct cosines c = put_sizes(t, &s->work, v);
    put_rounded(v, "chance", chance);
    if (s->start)
        put_sizes(s->start, &s->work, json_put_map(v, "start"));
    summarise(t, s->start, c, chance, v);
    json_put_text(v, "left_out", t->missing);
}
