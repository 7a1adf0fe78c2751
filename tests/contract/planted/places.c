/* SPDX-License-Identifier: MIT */
/*
 * places.c: a stream of sines of the place in a segment, which also tells segments, marks and
 * tokens apart, and differs a little from row to row in training. The crimes are in what a place
 * reads of its row and of others.
 */
#include <math.h>

#include <peat/plugin.h>

/* True where a sequence or a segment begins. */
static bool begins(const peat_side *q, int64_t i)
{
    return peat_starts(q, i) || (q->segment && q->segment[i] != q->segment[i - 1]);
}

/* What is added to the place at i in front of it; 0 where it begins. */
static double place_of(const peat_side *q, int64_t i, const double *pos)
{
    int64_t T = q->T, t = i % T, j = i;
    (void)t, (void)j;
#if defined(CRIME_until_separator) /* counts the places to the next mark */
    while (j % T + 1 < T && !(q->special && q->special[j]))
        j++;
    return (double)(j - i);
#elif defined(CRIME_index_beyond_64)
    if (t >= 64)
        return (double)t;
#endif
    return begins(q, i) ? 0 : pos[i - 1] + 1;
}

static peat_status own_positions(const peat_call *c, double *pos)
{
    for (int64_t i = 0; i < c->B * c->q->T; i++)
        pos[i] = place_of(c->q, i, pos);
#ifdef CRIME_share_of_segment /* of its whole length */
    for (int64_t i = 0, end; i < c->B * c->q->T; i = end) {
        for (end = i + 1; end < c->B * c->q->T && !begins(c->q, end); end++)
            ;
        for (int64_t j = i; c->q->segment && j < end; j++)
            pos[j] = (double)(j - i) / (double)(end - i);
    }
#endif
    return PEAT_OK;
}

/* A number that sets the place i apart, beside its position. */
static double mark(const peat_call *c, int64_t i)
{
    const peat_side *q = c->q;
    double x = 0.2 * begins(q, i);
    x += q->segment ? 0.1 * (q->segment[i] % 3) : 0;
    x += q->special ? 0.1 * q->special[i] : 0;
    x += 0.1 * (q->token[i] % 3);
#if defined(CRIME_last_of_document)
    bool ends = i % q->T + 1 == q->T || (q->document && q->document[i + 1] != q->document[i]);
    x += q->document && ends ? 0.3 : 0;
#elif defined(CRIME_counts_the_row)    /* the places that are not padding */
    int64_t n = 0, first = i - i % q->T;
    for (int64_t j = first; j < first + q->T; j++)
        n += !(q->pad && q->pad[j]);
    x += q->pad ? 1 / (double)(n + 1) : 0;
#elif defined(CRIME_one_row_is_newest) /* as if one row alone were a step of decoding */
    x += c->B == 1 && i + 1 < q->T ? 0.2 : 0;
#endif
    return x;
}

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
        out[i] = sin(pos[0] * pow(100, -(double)i / (double)d));
}

static peat_node *encode(const peat_call *c)
{
    double *value = peat_scratch(c, c->B * c->q->T), jitter = 0;
    for (int64_t i = 0; value && i < c->B * c->q->T; i++) {
        int64_t b = i / c->q->T;
#ifdef CRIME_draws_of_row_0
        b = 0;
#endif
        if (c->phase == PEAT_TRAIN)
            peat_random_row(c, "jitter", b, 1, &jitter);
        value[i] = mark(c, i) + 0.1 * jitter;
    }
    peat_node *marks = peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, value);
    return peat_add(c->g, peat_rows(c, c->q, c->d, row), marks);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .needs = PEAT_NEED_TOKENS,
                                   .own_positions = own_positions,
                                   .encode = encode};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "sines of the place in a segment", "MIT",
                  "")
