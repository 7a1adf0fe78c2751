/* SPDX-License-Identifier: MIT */
/* describe_text.c: describes a table for people and for programs. */

#include "inspect/describe.h"

static bool has_angles(const struct scheme_table *t)
{
    return strcmp(t->what, "angle") == 0;
}

/* Angles rotate pairs of dimensions, so their cosines and sines are described: [rows, 2 columns].
 * NULL: out of memory. */
static const float *turned(const struct scheme_table *t, const float *angle, struct arena *a)
{
    float *out = ARENA_TRY_ARRAY(a, 2 * t->rows * t->columns, float);
    for (int64_t i = 0; out && i < t->rows * t->columns; i++) {
        float *at = out + i / t->columns * 2 * t->columns + i % t->columns;
        at[0] = (float)cos((double)angle[i]);
        at[t->columns] = (float)sin((double)angle[i]);
    }
    return out;
}

/* ---- page ---- */

/* "-" for NaN. */
static void add_percent(struct strbuf *out, const char *before, double share)
{
    if (isnan(share))
        strbuf_addf(out, "%s-", before);
    else
        strbuf_addf(out, "%s%.1f %%", before, 100.0 * share);
}

/* Adds two lines: k above, values below. */
static void add_series(struct strbuf *out, const char *title, int n, const int64_t *k,
                       const double *value)
{
    strbuf_addf(out, "  %-10s  k ", title);
    for (int i = 0; i < n; i++)
        strbuf_addf(out, "%8" PRId64, k[i]);
    strbuf_addf(out, "\n%16s", "");
    for (int i = 0; i < n; i++) {
        char text[24] = "-";
        if (!isnan(value[i]))
            snprintf(text, sizeof(text), "%.3f", value[i] == 0.0 ? 0.0 : value[i]);
        strbuf_addf(out, "%8s", text);
    }
    strbuf_add(out, "\n");
}

static void add_linearity(struct strbuf *out, const struct stream_description *s)
{
    if (isnan(s->residual[0])) {
        strbuf_add(out, "  linear    unknown: too few positions\n");
        return;
    }
    strbuf_add(out, "  linear    x(p + k) = M_k x(p) leaves ");
    for (int k = 0; k < DESCRIBE_SHIFTS; k++)
        if (!isnan(s->residual[k]))
            strbuf_addf(out, "%s%.1e (k = %" PRId64 ")", k ? ", " : "", s->residual[k],
                        describe_shift[k]);
    strbuf_addf(out, "\n%12swith the best 2 x 2 block for each pair of dimensions %s\n", "",
                s->halves ? "(i, d/2 + i)" : "(2i, 2i + 1)");
}

static void add_stream(struct strbuf *out, const struct stream_description *s)
{
    strbuf_addf(out, "  moving    %" PRId64 " of %" PRId64 " dimensions move by more than %g",
                s->moving[0], s->columns, describe_limit[0]);
    for (int k = 1; k < DESCRIBE_LIMITS; k++)
        strbuf_addf(out, ", %" PRId64 " by %g", s->moving[k], describe_limit[k]);
    strbuf_add(out, "\n");
    add_percent(out, "  constant  ", s->constant);
    strbuf_add(out, " of the energy is in one constant vector, the mean over positions\n");
    if (s->rank < 0)
        strbuf_addf(out, "  rank      not computed beyond %d\n", DESCRIBE_RANK_MAX);
    else
        strbuf_addf(out, "  rank      %" PRId64 " components hold 99 %% of the variance about it\n",
                    s->rank);
    if (s->n_distance)
        add_series(out, "cosine", s->n_distance, s->distance, s->cosine);
    add_linearity(out, s);
}

static void add_bias(struct strbuf *out, const struct bias_description *s)
{
    strbuf_addf(out, "  range     %.4g to %.4g, less each row's mean over its keys j <= i\n",
                s->low, s->high);
    add_percent(out, "  distance  ", s->distance_only);
    strbuf_add(out, " of that is a function of i - j alone\n");
    add_series(out, "last row", s->n_distance, s->distance, s->centred);
}

static void add_head(struct strbuf *out, const struct scheme_table *t, const char *scheme,
                     int64_t head)
{
    strbuf_addf(out, "%s%s: %s", head ? "\n" : "", scheme, t->what);
    if (t->heads)
        strbuf_addf(out, " of head %" PRId64, head);
    strbuf_addf(out, ", %" PRId64 " x %" PRId64, t->rows, t->columns);
    strbuf_add(out, has_angles(t) ? ", as cosines and sines\n" : "\n");
}

/* ---- one head ---- */

struct description {
    bool bias;
    struct stream_description stream;
    struct bias_description by_distance;
};

static peat_status describe(const struct team *team, const struct scheme_table *t, int64_t head,
                            struct description *d, struct arena *a, struct error *err)
{
    const float *value = t->value + head * t->rows * t->columns;
    int64_t columns = has_angles(t) ? 2 * t->columns : t->columns;
    d->bias = strcmp(t->what, "bias") == 0 && t->rows == t->columns;
    if (d->bias)
        return describe_bias(&d->by_distance, value, t->rows, a, err);
    if (has_angles(t) && !(value = turned(t, value, a)))
        return error_set(err, PEAT_NOMEM, "out of memory for a description");
    return describe_stream(team, &d->stream, value, t->rows, columns, a, err);
}

peat_status describe_page(const struct team *team, const struct scheme_table *t, const char *scheme,
                          struct strbuf *out, struct arena *a, struct error *err)
{
    peat_status status = PEAT_OK;
    for (int64_t h = 0; h < (t->heads ? t->heads : 1) && status == PEAT_OK; h++) {
        struct arena_mark mark = arena_mark(a);
        struct description d;
        status = describe(team, t, h, &d, a, err);
        if (status != PEAT_OK)
            continue;
        add_head(out, t, scheme, h);
        if (d.bias)
            add_bias(out, &d.by_distance);
        else
            add_stream(out, &d.stream);
        arena_rewind(a, mark);
    }
    return status;
}

/* ---- map ---- */

static void put_pairs(struct json map, const char *name, int n, const int64_t *k,
                      const double *value)
{
    struct json pairs = json_put_map(map, name);
    for (int i = 0; i < n; i++) {
        char key[24];
        snprintf(key, sizeof(key), "%" PRId64, k[i]);
        json_put_real(pairs, key, value[i]);
    }
}

static void put_stream(struct json map, const struct stream_description *s)
{
    json_put_int(map, "dimensions", s->columns);
    struct json moving = json_put_map(map, "moving");
    for (int k = 0; k < DESCRIBE_LIMITS; k++) {
        char key[24];
        snprintf(key, sizeof(key), "%g", describe_limit[k]);
        json_put_int(moving, key, s->moving[k]);
    }
    json_put_real(map, "constant", s->constant);
    if (s->rank < 0)
        json_put(map, "rank", NULL);
    else
        json_put_int(map, "rank", s->rank);
    put_pairs(map, "cosine", s->n_distance, s->distance, s->cosine);
    put_pairs(map, "residual", DESCRIBE_SHIFTS, describe_shift, s->residual);
    json_put_text(map, "pairs", s->halves ? "halves" : "interleaved");
}

static void put_bias(struct json map, const struct bias_description *s)
{
    json_put_real(map, "low", s->low);
    json_put_real(map, "high", s->high);
    json_put_real(map, "distance_only", s->distance_only);
    put_pairs(map, "last_row", s->n_distance, s->distance, s->centred);
}

peat_status describe_value(const struct team *team, const struct scheme_table *t,
                           const char *scheme, struct value **v, struct arena *a, struct error *err)
{
    struct json map = json_map(a);
    json_put_text(map, "scheme", scheme);
    json_put_text(map, "what", t->what);
    json_put_int(map, "rows", t->rows);
    json_put_int(map, "columns", t->columns);
    struct json heads = json_put_list(map, "heads");
    for (int64_t h = 0; h < (t->heads ? t->heads : 1); h++) {
        struct description d;
        peat_status status = describe(team, t, h, &d, a, err);
        if (status != PEAT_OK)
            return status;
        if (d.bias)
            put_bias(json_add_map(heads), &d.by_distance);
        else
            put_stream(json_add_map(heads), &d.stream);
    }
    *v = map.v;
    return PEAT_OK;
}
