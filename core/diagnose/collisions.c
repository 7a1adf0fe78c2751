/* SPDX-License-Identifier: MIT */
/*
 * collisions.c: nearest-neighbour decoding of sums.
 *
 * |x - e_b - p_j|^2 = |x|^2 + (|e_b|^2 - 2 x e_b) + (|p_j|^2 - 2 x p_j) + 2 e_b p_j: the products
 * are a few GEMMs, and a comparison is one addition and one minimum.
 */
#include "diagnose/collisions.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "diagnose/support.h"
#include "maths/statistics.h"

enum { BATCH = 1024, BLOCK = 256 }; /* queries at a time, rows of answers at a time */

/* The part of an answer that is wrong. */
enum wrong { WRONG_TOKEN, WRONG_POSITION, WRONG_BOTH, WRONGS };

/* A candidate: its squared distance less |x|^2, and where it stands. */
struct best {
    double score;
    int64_t b, j;
};

struct query {
    int64_t index, a, i;
    double own;              /* distance to its own sum: the noise */
    double distance[WRONGS]; /* to the nearest wrong answer; INFINITY: there is none */
    int64_t b, j;            /* the nearest answer with both wrong */
};

/* ---- what queries add up to ---- */

struct tally {
    struct collisions *c;
    int level;
    double near_sum;
    int64_t near_count;
};

static void tally_decoded(struct tally *t, const struct query *q)
{
    struct decoded *d = &t->c->decoded[t->level];
    const double *wrong = q->distance, tolerance = t->c->tolerance;
    double token = fmin(wrong[WRONG_TOKEN], wrong[WRONG_BOTH]);
    double position = fmin(wrong[WRONG_POSITION], wrong[WRONG_BOTH]);
    d->token += fmin(q->own, wrong[WRONG_POSITION]) + tolerance < token;
    d->position += fmin(q->own, wrong[WRONG_TOKEN]) + tolerance < position;
    d->both += q->own + tolerance < fmin(token, position);
}

/* Both ends find the same pair. */
static struct collision pair_of(const struct query *q)
{
    bool first = q->a < q->b;
    return (struct collision){first ? q->a : q->b, first ? q->i : q->j, first ? q->b : q->a,
                              first ? q->j : q->i, q->distance[WRONG_BOTH]};
}

static bool same_pair(const struct collision *x, const struct collision *y)
{
    return x->a == y->a && x->i == y->i && x->b == y->b && x->j == y->j;
}

static void keep_pair(struct collisions *c, struct collision pair)
{
    int at = c->n_pairs;
    for (int k = 0; k < c->n_pairs; k++)
        if (same_pair(&c->pair[k], &pair))
            return;
    while (at > 0 && c->pair[at - 1].distance > pair.distance)
        at--;
    if (at == COLLISION_PAIRS)
        return;
    int moved = c->n_pairs - at - (c->n_pairs == COLLISION_PAIRS);
    memmove(c->pair + at + 1, c->pair + at, (size_t)moved * sizeof(pair));
    c->pair[at] = pair;
    c->n_pairs += c->n_pairs < COLLISION_PAIRS;
}

static void tally_near(struct tally *t, const struct query *q)
{
    struct collisions *c = t->c;
    c->near_token = fmin(c->near_token, q->distance[WRONG_TOKEN]);
    c->near_position = fmin(c->near_position, q->distance[WRONG_POSITION]);
    c->near_least = fmin(c->near_least, q->distance[WRONG_BOTH]);
    if (!isfinite(q->distance[WRONG_BOTH]))
        return;
    t->near_sum += q->distance[WRONG_BOTH];
    t->near_count++;
    c->exact += q->distance[WRONG_BOTH] <= c->tolerance;
    keep_pair(c, pair_of(q));
}

static void tally_batch(struct tally *t, const struct query *q, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        tally_decoded(t, &q[k]);
        if (t->level == 0)
            tally_near(t, &q[k]);
    }
}

static double in_units(double distance, double scale)
{
    return isfinite(distance) && scale > 0.0 ? distance / scale : (double)NAN;
}

static void tally_end(struct tally *t)
{
    struct collisions *c = t->c;
    for (int k = 0; k < c->n_decoded; k++) {
        c->decoded[k].token /= (double)c->queries;
        c->decoded[k].position /= (double)c->queries;
        c->decoded[k].both /= (double)c->queries;
    }
    c->near_token = in_units(c->near_token, c->scale);
    c->near_position = in_units(c->near_position, c->scale);
    c->near_least = in_units(c->near_least, c->scale);
    c->near_mean = in_units(t->near_sum / (double)t->near_count, c->scale);
}

/* variance: the sums', over all dimensions. */
static struct collisions collisions_begin(double variance, int64_t d,
                                          const struct collision_settings *s)
{
    BUG_UNLESS(s->n_noise >= 0 && s->n_noise <= COLLISION_NOISES);
    struct collisions c = {.spread = sqrt(variance / (double)d),
                           .scale = sqrt(2.0 * variance),
                           .tolerance = 1e-6 * sqrt(2.0 * variance),
                           .n_decoded = 1 + s->n_noise,
                           .near_token = INFINITY,
                           .near_position = INFINITY,
                           .near_least = INFINITY};
    for (int k = 0; k < s->n_noise; k++)
        c.decoded[1 + k].noise = s->noise[k];
    return c;
}

static peat_status total_variance(const struct matrix *m, const char *what, double *sum,
                                  struct arena *a, struct error *err)
{
    struct arena_mark mark = arena_mark(a);
    double *variance = ARENA_ARRAY(a, m->columns, double);
    column_variances(m, variance);
    *sum = stats_sum(variance, m->columns);
    arena_rewind(a, mark);
    if (!isfinite(*sum))
        return error_set(err, PEAT_FAILED, "the table of %s is not finite", what);
    return PEAT_OK;
}

/* ---- noise ---- */

/* Fills noise [d] and returns its length. The same for any order of queries. */
static double draw_noise(double *noise, int64_t d, double deviation, uint64_t stream, int level,
                         int64_t query)
{
    double square = 0.0;
    if (deviation == 0.0)
        memset(noise, 0, (size_t)d * sizeof(*noise));
    uint64_t own = rng_substream(rng_substream(stream, 1 + (uint64_t)level), (uint64_t)query);
    for (int64_t k = 0; k < d && deviation != 0.0; k++) {
        noise[k] = deviation * rng_normal(own, (uint64_t)k);
        square += noise[k] * noise[k];
    }
    return sqrt(square);
}

/* ---- sums ---- */

struct sums {
    const struct team *team;
    const struct matrix *token, *position;
    double *token_mean, *position_mean; /* [d]; all below is about these                     */
    double *place, *place_square;       /* p_j [T, d], |p_j|^2 [T]                           */
    double *block, *block_square;       /* e_b [BLOCK, d], |e_b|^2 [BLOCK]                   */
    double *cross, *cross_least;        /* 2 e_b p_j [BLOCK, T], its least over j [BLOCK]    */
    double *noise, *x;                  /* [BATCH, d]                                        */
    double *x_block;                    /* x e_b [BATCH, BLOCK]                              */
    double *x_place;                    /* |p_j|^2 - 2 x p_j [BATCH, T]; at the own: infinite */
    double *x_own;                      /* what stood there [BATCH]                          */
    double *x_least;                    /* least over j [BATCH]                              */
    struct best (*best)[WRONGS];        /* [BATCH]                                           */
    struct query *query;                /* [BATCH]                                           */
};

static void sums_alloc(struct sums *s, struct arena *a)
{
    int64_t d = s->token->columns, T = s->position->rows;
    double **const part[] = {
        &s->token_mean,   &s->position_mean, &s->place,       &s->place_square, &s->block,
        &s->block_square, &s->cross,         &s->cross_least, &s->noise,        &s->x,
        &s->x_block,      &s->x_place,       &s->x_own,       &s->x_least};
    const int64_t size[] = {d,         d,     T * d,     T,         BLOCK * d,     BLOCK,
                            BLOCK * T, BLOCK, BATCH * d, BATCH * d, BATCH * BLOCK, BATCH * T,
                            BATCH,     BATCH};
    for (size_t k = 0; k < sizeof(part) / sizeof(part[0]); k++)
        *part[k] = ARENA_ARRAY(a, size[k], double);
    s->best = arena_array(a, BATCH, sizeof(*s->best));
    s->query = ARENA_ARRAY(a, BATCH, struct query);
}

static void mean_of(const struct matrix *m, double *mean)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = 0; k < m->columns; k++)
            mean[k] += (double)m->x[i * m->columns + k] / (double)m->rows;
}

/* Rows begin .. end less the mean, and their squares. */
static void centre_rows(const struct matrix *m, const double *mean, int64_t begin, int64_t end,
                        double *out, double *square)
{
    int64_t d = m->columns;
    matrix_centre(m, mean, begin, end, out);
    for (int64_t i = 0; i < end - begin; i++) {
        square[i] = 0.0;
        for (int64_t k = 0; k < d; k++)
            square[i] += out[i * d + k] * out[i * d + k];
    }
}

static double least_of(const double *x, int64_t n)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        least = fmin(least, x[i]);
    return least;
}

/* Least of x + y. Eight at a time: one running minimum would be a chain. */
static double least_sum(const double *restrict x, const double *restrict y, int64_t n)
{
    enum { EIGHT = 8 };
    double least[EIGHT], last = INFINITY;
    int64_t i = 0;
    for (int l = 0; l < EIGHT; l++)
        least[l] = INFINITY;
    for (; i + EIGHT <= n; i += EIGHT)
        for (int l = 0; l < EIGHT; l++) {
            double sum = x[i + l] + y[i + l];
            least[l] = sum < least[l] ? sum : least[l];
        }
    for (; i < n; i++)
        last = x[i] + y[i] < last ? x[i] + y[i] : last;
    for (int l = 0; l < EIGHT; l++)
        last = least[l] < last ? least[l] : last;
    return last;
}

/* Where x + y takes the value that least_sum() found. */
static int64_t find_sum(const double *x, const double *y, double sum)
{
    int64_t i = 0;
    while (x[i] + y[i] != sum)
        i++;
    return i;
}

static void improve(struct best *best, double score, int64_t b, int64_t j)
{
    if (score < best->score)
        *best = (struct best){score, b, j};
}

/* All positions beside the query's own token. */
static void compare_own_token(struct sums *s, int64_t q, double token_part, const double *cross)
{
    int64_t T = s->position->rows;
    const double *place = s->x_place + q * T;
    for (int64_t j = 0; j < T; j++)
        improve(&s->best[q][WRONG_POSITION], token_part + place[j] + cross[j], s->query[q].a, j);
}

/* Token b, r-th of the block, with all positions. A row whose lower bound is no better than what
 * was found is skipped. */
static void compare_row(struct sums *s, int64_t q, int64_t b, int64_t r)
{
    int64_t T = s->position->rows, own = s->query[q].i;
    const double *cross = s->cross + r * T, *place = s->x_place + q * T;
    double token_part = s->block_square[r] - 2.0 * s->x_block[q * BLOCK + r];
    if (b == s->query[q].a) {
        compare_own_token(s, q, token_part, cross);
        return;
    }
    improve(&s->best[q][WRONG_TOKEN], token_part + s->x_own[q] + cross[own], b, own);
    struct best *both = &s->best[q][WRONG_BOTH];
    if (token_part + s->cross_least[r] + s->x_least[q] >= both->score)
        return;
    double least = least_sum(place, cross, T);
    if (token_part + least < both->score)
        *both = (struct best){token_part + least, b, find_sum(place, cross, least)};
}

struct block_job {
    struct sums *s;
    int64_t begin, rows;
};

/* Each query writes its own answers. */
static void compare_query(void *ctx, int64_t q)
{
    const struct block_job *job = ctx;
    for (int64_t r = 0; r < job->rows; r++)
        compare_row(job->s, q, job->begin + r, r);
}

static void compare_block(struct sums *s, int64_t n, int64_t begin, int64_t end)
{
    int64_t d = s->token->columns, T = s->position->rows, rows = end - begin;
    centre_rows(s->token, s->token_mean, begin, end, s->block, s->block_square);
    row_products(s->team, s->block, rows, s->place, T, d, 2.0, s->cross, T);
    for (int64_t r = 0; r < rows; r++)
        s->cross_least[r] = least_of(s->cross + r * T, T);
    row_products(s->team, s->x, n, s->block, rows, d, 1.0, s->x_block, BLOCK);
    parallel_for(s->team, n, compare_query, &(struct block_job){s, begin, rows});
}

/* The query's x, centred, and its products with the positions. */
static void ask(struct sums *s, int64_t q, double deviation, uint64_t stream, int level)
{
    int64_t d = s->token->columns;
    struct query *query = &s->query[q];
    const float *e = s->token->x + query->a * d;
    const double *p = s->place + query->i * d;
    double *noise = s->noise + q * d, *x = s->x + q * d;
    query->own = draw_noise(noise, d, deviation, stream, level, query->index);
    for (int64_t k = 0; k < d; k++)
        x[k] = (double)e[k] - s->token_mean[k] + p[k] + noise[k];
    for (int w = 0; w < WRONGS; w++)
        s->best[q][w] = (struct best){INFINITY, -1, -1};
}

static void ask_positions(struct sums *s, int64_t n)
{
    int64_t d = s->token->columns, T = s->position->rows;
    row_products(s->team, s->x, n, s->place, T, d, -2.0, s->x_place, T);
    for (int64_t q = 0; q < n; q++) {
        double *place = s->x_place + q * T;
        for (int64_t j = 0; j < T; j++)
            place[j] += s->place_square[j];
        s->x_own[q] = place[s->query[q].i];
        place[s->query[q].i] = INFINITY;
        s->x_least[q] = least_of(place, T);
    }
}

/* By subtraction: common parts cancel exactly. */
static double measure_sum(const struct sums *s, int64_t q, const struct best *best)
{
    if (best->b < 0)
        return INFINITY;
    int64_t d = s->token->columns;
    const float *e_a = s->token->x + s->query[q].a * d, *e_b = s->token->x + best->b * d;
    const float *p_i = s->position->x + s->query[q].i * d, *p_j = s->position->x + best->j * d;
    const double *noise = s->noise + q * d;
    double square = 0.0;
    for (int64_t k = 0; k < d; k++) {
        double off = ((double)e_a[k] - (double)e_b[k]) + ((double)p_i[k] - (double)p_j[k]);
        square += (off + noise[k]) * (off + noise[k]);
    }
    return sqrt(square);
}

static void answer(struct sums *s, int64_t n)
{
    for (int64_t q = 0; q < n; q++) {
        for (int w = 0; w < WRONGS; w++)
            s->query[q].distance[w] = measure_sum(s, q, &s->best[q][w]);
        s->query[q].b = s->best[q][WRONG_BOTH].b;
        s->query[q].j = s->best[q][WRONG_BOTH].j;
    }
}

/* One of each of `queries` equal parts of all pairs: no pair twice, tokens spread evenly. */
static int64_t sample(int64_t k, int64_t queries, int64_t pairs, uint64_t stream)
{
    if (queries == pairs)
        return k;
    double at = ((double)k + rng_uniform(stream, (uint64_t)k)) / (double)queries * (double)pairs;
    return at < (double)pairs ? (int64_t)at : pairs - 1;
}

static void run_batch(struct sums *s, struct tally *t, int64_t begin, int64_t n,
                      const struct collision_settings *settings)
{
    const struct collisions *c = t->c;
    int64_t V = s->token->rows, T = s->position->rows;
    double deviation = c->decoded[t->level].noise * c->spread;
    uint64_t choice = rng_substream(settings->stream, 0);
    for (int64_t q = 0; q < n; q++) {
        int64_t index = sample(begin + q, c->queries, V * T, choice);
        s->query[q] = (struct query){.index = index, .a = index / T, .i = index % T};
        ask(s, q, deviation, settings->stream, t->level);
    }
    ask_positions(s, n);
    for (int64_t b = 0; b < V; b += BLOCK)
        compare_block(s, n, b, b + BLOCK < V ? b + BLOCK : V);
    answer(s, n);
    tally_batch(t, s->query, n);
}

static int64_t count_queries(int64_t pairs, int levels, int64_t budget)
{
    enum { QUERIES_MIN = 64 };
    int64_t queries = (budget > 0 ? budget : INT64_C(1) << 32) / levels / pairs;
    queries = queries < QUERIES_MIN ? QUERIES_MIN : queries;
    return queries < pairs ? queries : pairs;
}

peat_status collisions_of_sums(struct collisions *c, const struct matrix *token,
                               const struct matrix *position,
                               const struct collision_settings *settings, struct arena *a,
                               struct error *err)
{
    BUG_UNLESS(token->columns == position->columns && token->rows > 0 && position->rows > 0);
    struct sums s = {.team = settings->team, .token = token, .position = position};
    double e_variance, p_variance;
    peat_status status = total_variance(token, "tokens", &e_variance, a, err);
    if (status == PEAT_OK)
        status = total_variance(position, "positions", &p_variance, a, err);
    if (status != PEAT_OK)
        return status;
    struct arena_mark mark = arena_mark(a);
    sums_alloc(&s, a);
    mean_of(token, s.token_mean);
    mean_of(position, s.position_mean);
    centre_rows(position, s.position_mean, 0, position->rows, s.place, s.place_square);
    *c = collisions_begin(e_variance + p_variance, token->columns, settings);
    int64_t pairs = token->rows * position->rows;
    c->queries = count_queries(pairs, c->n_decoded, settings->budget);
    c->exhaustive = c->queries == pairs;
    struct tally t = {.c = c};
    for (t.level = 0; t.level < c->n_decoded; t.level++)
        for (int64_t k = 0; k < c->queries; k += BATCH)
            run_batch(&s, &t, k, c->queries - k < BATCH ? c->queries - k : BATCH, settings);
    tally_end(&t);
    arena_rewind(a, mark);
    return PEAT_OK;
}

/* ---- rows ---- */

struct rows {
    const struct team *team;
    const struct matrix *m;
    const int64_t *token, *position;
    double *mean;                 /* [d]                                     */
    double *block, *block_square; /* rows less the mean [BLOCK, d], [BLOCK]  */
    double *noise, *x, *square;   /* of the queries [BLOCK, d]; [BLOCK]      */
    double *product;              /* -2 x y [BLOCK, BLOCK]                   */
    struct best (*best)[WRONGS];  /* [BLOCK]; b is a row                     */
    struct query *query;          /* [BLOCK]; index is a row                 */
};

static void rows_alloc(struct rows *r, struct arena *a)
{
    int64_t d = r->m->columns;
    r->mean = ARENA_ARRAY(a, d, double);
    r->block = ARENA_ARRAY(a, BLOCK * d, double);
    r->block_square = ARENA_ARRAY(a, BLOCK, double);
    r->noise = ARENA_ARRAY(a, BLOCK * d, double);
    r->x = ARENA_ARRAY(a, BLOCK * d, double);
    r->square = ARENA_ARRAY(a, BLOCK, double);
    r->product = ARENA_ARRAY(a, BLOCK * BLOCK, double);
    r->best = arena_array(a, BLOCK, sizeof(*r->best));
    r->query = ARENA_ARRAY(a, BLOCK, struct query);
}

/* WRONGS: nothing is wrong. */
static enum wrong compare_labels(const struct rows *r, const struct query *q, int64_t row)
{
    bool token = r->token[row] != q->a, position = r->position[row] != q->i;
    if (token && position)
        return WRONG_BOTH;
    return token ? WRONG_TOKEN : position ? WRONG_POSITION : WRONGS;
}

static double measure_rows(const struct rows *r, int64_t q, int64_t row)
{
    if (row < 0)
        return INFINITY;
    int64_t d = r->m->columns;
    const float *own = r->m->x + r->query[q].index * d, *other = r->m->x + row * d;
    double square = 0.0;
    for (int64_t k = 0; k < d; k++) {
        double off = (double)own[k] - (double)other[k] + r->noise[q * d + k];
        square += off * off;
    }
    return sqrt(square);
}

static void compare_rows(struct rows *r, int64_t n, int64_t begin, int64_t end)
{
    centre_rows(r->m, r->mean, begin, end, r->block, r->block_square);
    row_products(r->team, r->x, n, r->block, end - begin, r->m->columns, -2.0, r->product, BLOCK);
    for (int64_t q = 0; q < n; q++)
        for (int64_t row = begin; row < end; row++) {
            enum wrong w = compare_labels(r, &r->query[q], row);
            if (w < WRONGS)
                improve(&r->best[q][w],
                        r->block_square[row - begin] + r->product[q * BLOCK + row - begin], row, 0);
        }
}

static void ask_rows(struct rows *r, int64_t begin, int64_t end, double deviation, uint64_t stream,
                     int level)
{
    int64_t d = r->m->columns;
    centre_rows(r->m, r->mean, begin, end, r->x, r->square);
    for (int64_t q = 0; q < end - begin; q++) {
        int64_t row = begin + q;
        struct query *query = &r->query[q];
        *query = (struct query){.index = row, .a = r->token[row], .i = r->position[row]};
        query->own = draw_noise(r->noise + q * d, d, deviation, stream, level, row);
        for (int64_t k = 0; k < d; k++)
            r->x[q * d + k] += r->noise[q * d + k];
        for (int w = 0; w < WRONGS; w++)
            r->best[q][w] = (struct best){INFINITY, -1, -1};
    }
}

static void answer_rows(struct rows *r, int64_t n)
{
    for (int64_t q = 0; q < n; q++) {
        for (int w = 0; w < WRONGS; w++)
            r->query[q].distance[w] = measure_rows(r, q, r->best[q][w].b);
        int64_t row = r->best[q][WRONG_BOTH].b;
        r->query[q].b = row < 0 ? -1 : r->token[row];
        r->query[q].j = row < 0 ? -1 : r->position[row];
    }
}

peat_status collisions_of_rows(struct collisions *c, const struct matrix *x, const int64_t *token,
                               const int64_t *position, const struct collision_settings *settings,
                               struct arena *a, struct error *err)
{
    struct rows r = {.team = settings->team, .m = x, .token = token, .position = position};
    double variance;
    peat_status status = total_variance(x, "sums", &variance, a, err);
    if (status != PEAT_OK)
        return status;
    struct arena_mark mark = arena_mark(a);
    rows_alloc(&r, a);
    mean_of(x, r.mean);
    *c = collisions_begin(variance, x->columns, settings);
    c->queries = x->rows;
    c->exhaustive = true;
    struct tally t = {.c = c};
    for (t.level = 0; t.level < c->n_decoded; t.level++)
        for (int64_t q = 0; q < x->rows; q += BLOCK) {
            int64_t end = q + BLOCK < x->rows ? q + BLOCK : x->rows;
            ask_rows(&r, q, end, c->decoded[t.level].noise * c->spread, settings->stream, t.level);
            for (int64_t row = 0; row < x->rows; row += BLOCK)
                compare_rows(&r, end - q, row, row + BLOCK < x->rows ? row + BLOCK : x->rows);
            answer_rows(&r, end - q);
            tally_batch(&t, r.query, end - q);
        }
    tally_end(&t);
    arena_rewind(a, mark);
    return PEAT_OK;
}
