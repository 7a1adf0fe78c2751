/* SPDX-License-Identifier: MIT */
/*
 * collisions.c: nearest-neighbour decoding of sums.
 *
 * |x - e_b - p_j|^2 = |x|^2 + (|e_b|^2 - 2 x e_b) + (|p_j|^2 - 2 x p_j) + 2 e_b p_j: the products
 * are a few GEMMs, and a comparison is one addition and one minimum.
 */
#include "diagnose/collisions.h"

#include "diagnose/support.h"
#include "maths/statistics.h"

enum { BATCH = 1024, BLOCK = 256 }; /* queries in a batch, rows of answers in a block */

enum wrong { WRONG_TOKEN, WRONG_POSITION, WRONG_BOTH, WRONGS };

/* A candidate: its squared distance less |x|^2, and its index. */
struct best {
    double score;
    int64_t b, j;
};

static bool total_variance(const struct matrix *m, const char *what, double *sum, struct arena *a,
                           struct error *err)
{
    struct arena_mark mark = arena_mark(a);
    double *variance = ARENA_ARRAY(a, m->columns, double);
    column_variances(m, variance);
    *sum = stats_sum(variance, m->columns);
    arena_rewind(a, mark);
    return isfinite(*sum) || error_fail(err, PEAT_FAILED, "the table of %s is not finite", what);
}

/* ---- noise ---- */

/* Fills noise [d] and returns its length. The same noise for any order of queries. */
static double draw_noise(double *noise, int64_t d, double deviation, uint64_t stream, int level,
                         int64_t query)
{
    double square = 0.0;
    uint64_t own = rng_substream(rng_substream(stream, 1 + (uint64_t)level), (uint64_t)query);
    for (int64_t k = 0; k < d; k++) {
        noise[k] = deviation == 0.0 ? 0.0 : deviation * rng_normal(own, (uint64_t)k);
        square += noise[k] * noise[k];
    }
    return sqrt(square);
}

struct query {
    int64_t index, a, i;
    double own;               /* distance to the query's own sum: the length of the noise */
    struct best best[WRONGS]; /* the nearest wrong answers                                */
    double distance[WRONGS];  /* distances to them; INFINITY: no such answer              */
};

/* ---- sums ---- */

/* For rows that are sums already, `token` has the rows and `position` is one row of zeros. */
struct sums {
    const struct team *team;
    const struct matrix *token, *position;
    /* token and position of each row; NULL: not for rows */
    const int64_t *row_token, *row_position;
    double *token_mean, *position_mean; /* [d]; all arrays below are centred by it           */
    double *place, *place_square;       /* p_j [T, d], |p_j|^2 [T]                           */
    double *block, *block_square;       /* e_b [BLOCK, d], |e_b|^2 [BLOCK]                   */
    double *cross, *cross_least;        /* 2 e_b p_j [BLOCK, T], its minimum over j [BLOCK]  */
    double *noise, *x;                  /* [BATCH, d]                                        */
    double *x_block;                    /* x e_b [BATCH, BLOCK]                              */
    double *x_place;     /* |p_j|^2 - 2 x p_j [BATCH, T]; infinite at the query's own position */
    double *x_own;       /* the original numbers where infinity was put [BATCH] */
    double *x_least;     /* minimum over j [BATCH]                            */
    struct query *query; /* [BATCH]                                           */
    struct collisions *c;
    int level;       /* index in c->decoded */
    double near_sum; /* sum of the distances of near_count queries, without noise */
    int64_t near_count;
};

static void sums_alloc(struct sums *s, struct arena *a)
{
    int64_t d = s->token->columns, T = s->position->rows;
    s->token_mean = ARENA_ARRAY(a, d, double);
    s->position_mean = ARENA_ARRAY(a, d, double);
    s->place = ARENA_ARRAY(a, T * d, double);
    s->place_square = ARENA_ARRAY(a, T, double);
    s->block = ARENA_ARRAY(a, BLOCK * d, double);
    s->block_square = ARENA_ARRAY(a, BLOCK, double);
    s->cross = ARENA_ARRAY(a, BLOCK * T, double);
    s->cross_least = ARENA_ARRAY(a, BLOCK, double);
    s->noise = ARENA_ARRAY(a, BATCH * d, double);
    s->x = ARENA_ARRAY(a, BATCH * d, double);
    s->x_block = ARENA_ARRAY(a, BATCH * BLOCK, double);
    s->x_place = ARENA_ARRAY(a, BATCH * T, double);
    s->x_own = ARENA_ARRAY(a, BATCH, double);
    s->x_least = ARENA_ARRAY(a, BATCH, double);
    s->query = ARENA_ARRAY(a, BATCH, struct query);
}

/* Subtracts the mean from rows begin .. end, and computes their squares. */
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

static void improve(struct best *best, double score, int64_t b, int64_t j)
{
    if (score < best->score)
        *best = (struct best){score, b, j};
}

/* The part that is wrong when row b is answered for row a; WRONGS: none is. */
static enum wrong compare_labels(const struct sums *s, int64_t a, int64_t b)
{
    bool token = s->row_token[a] != s->row_token[b];
    bool position = s->row_position[a] != s->row_position[b];
    return token && position ? WRONG_BOTH
           : token           ? WRONG_TOKEN
           : position        ? WRONG_POSITION
                             : WRONGS;
}

/* Compares with token b, the r-th of the block, and all positions. Skips a row whose lower bound is
 * not below the best score so far. */
static void compare_row(struct sums *s, int64_t q, int64_t b, int64_t r)
{
    int64_t T = s->position->rows, own = s->query[q].i;
    const double *cross = s->cross + r * T, *place = s->x_place + q * T;
    double token_part = s->block_square[r] - 2.0 * s->x_block[q * BLOCK + r];
    if (s->row_token) {
        enum wrong w = compare_labels(s, s->query[q].a, b);
        if (w < WRONGS)
            improve(&s->query[q].best[w], token_part, b, 0);
        return;
    }
    if (b == s->query[q].a) {
        for (int64_t j = 0; j < T; j++)
            improve(&s->query[q].best[WRONG_POSITION], token_part + place[j] + cross[j], b, j);
        return;
    }
    improve(&s->query[q].best[WRONG_TOKEN], token_part + s->x_own[q] + cross[own], b, own);
    struct best *both = &s->query[q].best[WRONG_BOTH];
    if (token_part + s->cross_least[r] + s->x_least[q] >= both->score)
        return;
    for (int64_t j = 0; j < T; j++)
        improve(both, token_part + place[j] + cross[j], b, j);
}

struct block_job {
    struct sums *s;
    int64_t begin, rows;
};

/* Each query writes only its own answers. */
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

/* Computes the query's x, centred. */
static void ask(struct sums *s, int64_t q, double deviation, uint64_t stream)
{
    int64_t d = s->token->columns;
    struct query *query = &s->query[q];
    const float *e = s->token->x + query->a * d;
    const double *p = s->place + query->i * d;
    double *noise = s->noise + q * d, *x = s->x + q * d;
    query->own = draw_noise(noise, d, deviation, stream, s->level, query->index);
    for (int64_t k = 0; k < d; k++)
        x[k] = (double)e[k] - s->token_mean[k] + p[k] + noise[k];
    for (int w = 0; w < WRONGS; w++)
        query->best[w] = (struct best){INFINITY, -1, -1};
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

/* The distance by subtraction, so that common parts cancel exactly. */
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

/* ---- sums over queries ---- */

static void tally_decoded(struct sums *s, const struct query *q)
{
    struct decoded *d = &s->c->decoded[s->level];
    const double *wrong = q->distance, tolerance = s->c->tolerance;
    double token = fmin(wrong[WRONG_TOKEN], wrong[WRONG_BOTH]);
    double position = fmin(wrong[WRONG_POSITION], wrong[WRONG_BOTH]);
    d->token += fmin(q->own, wrong[WRONG_POSITION]) + tolerance < token;
    d->position += fmin(q->own, wrong[WRONG_TOKEN]) + tolerance < position;
    d->both += q->own + tolerance < fmin(token, position);
}

/* Puts the smaller token first, so that both queries of a pair find the same pair. */
static struct collision pair_of(const struct sums *s, const struct query *q)
{
    const struct best *near = &q->best[WRONG_BOTH];
    struct collision c = {q->a, q->i, near->b, near->j, q->distance[WRONG_BOTH]};
    if (s->row_token)
        c = (struct collision){s->row_token[q->a], s->row_position[q->a], s->row_token[near->b],
                               s->row_position[near->b], c.distance};
    return c.a < c.b ? c : (struct collision){c.b, c.j, c.a, c.i, c.distance};
}

static void keep_pair(struct collisions *c, struct collision pair)
{
    int at = c->n_pairs;
    for (int k = 0; k < c->n_pairs; k++)
        if (memcmp(&c->pair[k], &pair, offsetof(struct collision, distance)) == 0)
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

static void tally_near(struct sums *s, const struct query *q)
{
    struct collisions *c = s->c;
    c->near_token = fmin(c->near_token, q->distance[WRONG_TOKEN]);
    c->near_position = fmin(c->near_position, q->distance[WRONG_POSITION]);
    c->near_least = fmin(c->near_least, q->distance[WRONG_BOTH]);
    if (!isfinite(q->distance[WRONG_BOTH]))
        return;
    s->near_sum += q->distance[WRONG_BOTH];
    s->near_count++;
    c->exact += q->distance[WRONG_BOTH] <= c->tolerance;
    keep_pair(c, pair_of(s, q));
}

static void answer(struct sums *s, int64_t n)
{
    for (int64_t q = 0; q < n; q++) {
        struct query *query = &s->query[q];
        for (int w = 0; w < WRONGS; w++)
            query->distance[w] = measure_sum(s, q, &query->best[w]);
        tally_decoded(s, query);
        if (s->level == 0)
            tally_near(s, query);
    }
}

static double in_units(double distance, double scale)
{
    return isfinite(distance) && scale > 0.0 ? distance / scale : (double)NAN;
}

static void tally_end(struct sums *s)
{
    struct collisions *c = s->c;
    for (int k = 0; k < c->n_decoded; k++) {
        c->decoded[k].token /= (double)c->queries;
        c->decoded[k].position /= (double)c->queries;
        c->decoded[k].both /= (double)c->queries;
    }
    c->near_token = in_units(c->near_token, c->scale);
    c->near_position = in_units(c->near_position, c->scale);
    c->near_least = in_units(c->near_least, c->scale);
    c->near_mean = in_units(s->near_sum / (double)s->near_count, c->scale);
}

/* Picks one pair of each of `queries` equal parts of all pairs, so that no pair occurs twice and
 * tokens are spread evenly. */
static int64_t sample(int64_t k, int64_t queries, int64_t pairs, uint64_t stream)
{
    if (queries == pairs)
        return k;
    double at = ((double)k + rng_uniform(stream, (uint64_t)k)) / (double)queries * (double)pairs;
    return at < (double)pairs ? (int64_t)at : pairs - 1;
}

static void run_batch(struct sums *s, int64_t begin, int64_t n,
                      const struct collision_settings *settings)
{
    const struct collisions *c = s->c;
    int64_t V = s->token->rows, T = s->position->rows;
    double deviation = c->decoded[s->level].noise * c->spread;
    uint64_t choice = rng_substream(settings->stream, 0);
    for (int64_t q = 0; q < n; q++) {
        int64_t index = sample(begin + q, c->queries, V * T, choice);
        s->query[q] = (struct query){.index = index, .a = index / T, .i = index % T};
        ask(s, q, deviation, settings->stream);
    }
    ask_positions(s, n);
    for (int64_t b = 0; b < V; b += BLOCK)
        compare_block(s, n, b, b + BLOCK < V ? b + BLOCK : V);
    answer(s, n);
}

static int64_t count_queries(int64_t pairs, int levels, int64_t budget)
{
    enum { QUERIES_MIN = 64 };
    int64_t queries = (budget > 0 ? budget : INT64_C(1) << 32) / levels / pairs;
    queries = queries < QUERIES_MIN ? QUERIES_MIN : queries;
    return queries < pairs ? queries : pairs;
}

/* variance: of the sums, over all dimensions */
static void run(struct sums *s, struct collisions *c, double variance,
                const struct collision_settings *settings, struct arena *a)
{
    BUG_UNLESS(settings->n_noise >= 0 && settings->n_noise <= COLLISION_NOISES);
    struct arena_mark mark = arena_mark(a);
    int64_t pairs = s->token->rows * s->position->rows;
    sums_alloc(s, a);
    matrix_mean(s->token, s->token_mean);
    matrix_mean(s->position, s->position_mean);
    centre_rows(s->position, s->position_mean, 0, s->position->rows, s->place, s->place_square);
    *c = (struct collisions){.spread = sqrt(variance / (double)s->token->columns),
                             .scale = sqrt(2.0 * variance),
                             .tolerance = 1e-6 * sqrt(2.0 * variance),
                             .n_decoded = 1 + settings->n_noise,
                             .near_token = INFINITY,
                             .near_position = INFINITY,
                             .near_least = INFINITY};
    for (int k = 0; k < settings->n_noise; k++)
        c->decoded[1 + k].noise = settings->noise[k];
    c->queries = count_queries(pairs, c->n_decoded, settings->budget);
    c->exhaustive = c->queries == pairs;
    s->c = c;
    for (s->level = 0; s->level < c->n_decoded; s->level++)
        for (int64_t k = 0; k < c->queries; k += BATCH)
            run_batch(s, k, c->queries - k < BATCH ? c->queries - k : BATCH, settings);
    tally_end(s);
    arena_rewind(a, mark);
}

peat_status collisions_of_sums(struct collisions *c, const struct matrix *token,
                               const struct matrix *position,
                               const struct collision_settings *settings, struct arena *a,
                               struct error *err)
{
    BUG_UNLESS(token->columns == position->columns && token->rows > 0 && position->rows > 0);
    struct sums s = {.team = settings->team, .token = token, .position = position};
    double e_variance, p_variance;
    if (!total_variance(token, "tokens", &e_variance, a, err) ||
        !total_variance(position, "positions", &p_variance, a, err))
        return PEAT_FAILED;
    run(&s, c, e_variance + p_variance, settings, a);
    return PEAT_OK;
}

peat_status collisions_of_rows(struct collisions *c, const struct matrix *x, const int64_t *token,
                               const int64_t *position, const struct collision_settings *settings,
                               struct arena *a, struct error *err)
{
    struct matrix zero = {ARENA_ARRAY(a, x->columns, float), 1, x->columns};
    struct sums s = {settings->team, x, &zero, token, position};
    struct collision_settings all = *settings;
    double variance;
    all.budget = INT64_MAX;
    if (!total_variance(x, "sums", &variance, a, err))
        return PEAT_FAILED;
    run(&s, c, variance, &all, a);
    return PEAT_OK;
}
