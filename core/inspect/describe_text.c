/* SPDX-License-Identifier: MIT */
/* describe_text.c: the description of a table for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonfile.h"
#include "inspect/describe.h"

static const struct place nowhere = {NULL, 0, 0};

/* One head of a table, or all of one without heads. */
struct sheet {
    const float *value;
    int64_t rows, columns;
    bool angles; /* value holds the cosines and sines of the table */
};

static bool is_bias(const struct scheme_table *t)
{
    return strcmp(t->what, "bias") == 0 && t->rows == t->columns;
}

/* Angles turn pairs of dimensions: what they stand for are cosines and sines. */
static peat_status make_sheet(const struct scheme_table *t, int64_t head, struct sheet *s,
                              struct arena *a, struct error *err)
{
    int64_t n = t->rows * t->columns;
    *s = (struct sheet){t->value + head * n, t->rows, t->columns, strcmp(t->what, "angle") == 0};
    if (!s->angles)
        return PEAT_OK;
    float *turned = ARENA_ARRAY(a, 2 * n, float);
    if (!turned)
        return error_set(err, PEAT_NOMEM, "out of memory for a description");
    for (int64_t i = 0; i < n; i++) {
        int64_t row = i / t->columns, column = i % t->columns;
        double angle = (double)s->value[i];
        turned[row * 2 * t->columns + column] = (float)cos(angle);
        turned[row * 2 * t->columns + t->columns + column] = (float)sin(angle);
    }
    s->value = turned;
    s->columns = 2 * t->columns;
    return PEAT_OK;
}

/* ---- page ---- */

static void add_title(struct strbuf *out, const char *name)
{
    strbuf_addf(out, "  %-10s", name);
}

/* "-" for NaN. */
static void add_percent(struct strbuf *out, double share)
{
    if (isnan(share))
        strbuf_add(out, "-");
    else
        strbuf_addf(out, "%.1f %%", 100.0 * share);
}

/* Two lines: k above, values below. */
static void add_series(struct strbuf *out, const char *title, int n, const int64_t *k,
                       const double *value)
{
    add_title(out, title);
    strbuf_add(out, "  k ");
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
    add_title(out, "linear");
    if (isnan(s->residual[0])) {
        strbuf_add(out, "unknown: too few positions\n");
        return;
    }
    strbuf_add(out, "x(p + k) = M_k x(p) leaves ");
    for (int k = 0; k < DESCRIBE_SHIFTS; k++)
        if (!isnan(s->residual[k]))
            strbuf_addf(out, "%s%.1e (k = %" PRId64 ")", k ? ", " : "", s->residual[k],
                        describe_shift[k]);
    strbuf_addf(out, "\n%12swith the best 2 x 2 block for each pair of dimensions %s\n", "",
                s->halves ? "(i, d/2 + i)" : "(2i, 2i + 1)");
}

static void add_stream(struct strbuf *out, const struct stream_description *s)
{
    add_title(out, "moving");
    strbuf_addf(out, "%" PRId64 " of %" PRId64 " dimensions move by more than %g", s->moving[0],
                s->columns, describe_limit[0]);
    for (int k = 1; k < DESCRIBE_LIMITS; k++)
        strbuf_addf(out, ", %" PRId64 " by %g", s->moving[k], describe_limit[k]);
    strbuf_add(out, "\n");
    add_title(out, "constant");
    add_percent(out, s->constant);
    strbuf_add(out, " of the energy is in one constant vector, the mean over positions\n");
    add_title(out, "rank");
    if (s->rank < 0)
        strbuf_addf(out, "not computed beyond %d\n", DESCRIBE_RANK_MAX);
    else
        strbuf_addf(out, "%" PRId64 " components hold 99 %% of the variance about it\n", s->rank);
    if (s->n_distance)
        add_series(out, "cosine", s->n_distance, s->distance, s->cosine);
    add_linearity(out, s);
}

static void add_bias(struct strbuf *out, const struct bias_description *s)
{
    add_title(out, "range");
    strbuf_addf(out, "%.4g to %.4g, less each row's mean over its keys j <= i\n", s->low, s->high);
    add_title(out, "distance");
    add_percent(out, s->distance_only);
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
    strbuf_add(out, strcmp(t->what, "angle") == 0 ? ", as cosines and sines\n" : "\n");
}

/* ---- one head ---- */

struct description {
    bool bias;
    struct stream_description stream;
    struct bias_description by_distance;
};

static peat_status describe(const struct scheme_table *t, int64_t head, struct description *d,
                            struct arena *a, struct error *err)
{
    struct sheet s;
    d->bias = is_bias(t);
    if (d->bias)
        return describe_bias(&d->by_distance, t->value + head * t->rows * t->columns, t->rows, a,
                             err);
    peat_status status = make_sheet(t, head, &s, a, err);
    if (status == PEAT_OK)
        status = describe_stream(&d->stream, s.value, s.rows, s.columns, a, err);
    return status;
}

peat_status describe_page(const struct scheme_table *t, const char *scheme, struct strbuf *out,
                          struct arena *a, struct error *err)
{
    peat_status status = PEAT_OK;
    for (int64_t h = 0; h < (t->heads ? t->heads : 1) && status == PEAT_OK; h++) {
        struct arena_mark mark = arena_mark(a);
        struct description d;
        status = describe(t, h, &d, a, err);
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

static struct value *pairs_value(struct arena *a, int n, const int64_t *k, const double *value)
{
    struct value *map = value_map(a, nowhere);
    for (int i = 0; i < n; i++) {
        char key[24];
        snprintf(key, sizeof(key), "%" PRId64, k[i]);
        member_set_real(a, map, key, value[i]);
    }
    return map;
}

static struct value *stream_value(struct arena *a, const struct stream_description *s)
{
    struct value *map = value_map(a, nowhere), *moving = value_map(a, nowhere);
    for (int k = 0; k < DESCRIBE_LIMITS; k++) {
        char key[24];
        snprintf(key, sizeof(key), "%g", describe_limit[k]);
        member_set_integer(a, moving, key, s->moving[k]);
    }
    member_set_integer(a, map, "dimensions", s->columns);
    member_set(a, map, "moving", moving);
    member_set_real(a, map, "constant", s->constant);
    if (s->rank < 0)
        member_set(a, map, "rank", value_null(a, nowhere));
    else
        member_set_integer(a, map, "rank", s->rank);
    member_set(a, map, "cosine", pairs_value(a, s->n_distance, s->distance, s->cosine));
    member_set(a, map, "residual", pairs_value(a, DESCRIBE_SHIFTS, describe_shift, s->residual));
    member_set_text(a, map, "pairs", s->halves ? "halves" : "interleaved");
    return map;
}

static struct value *bias_value(struct arena *a, const struct bias_description *s)
{
    struct value *map = value_map(a, nowhere);
    member_set_real(a, map, "low", s->low);
    member_set_real(a, map, "high", s->high);
    member_set_real(a, map, "distance_only", s->distance_only);
    member_set(a, map, "last_row", pairs_value(a, s->n_distance, s->distance, s->centred));
    return map;
}

peat_status describe_value(const struct scheme_table *t, const char *scheme, struct value **v,
                           struct arena *a, struct error *err)
{
    struct value *map = value_map(a, nowhere), *heads = value_list(a, nowhere);
    member_set_text(a, map, "scheme", scheme);
    member_set_text(a, map, "what", t->what);
    member_set_integer(a, map, "rows", t->rows);
    member_set_integer(a, map, "columns", t->columns);
    member_set(a, map, "heads", heads);
    for (int64_t h = 0; h < (t->heads ? t->heads : 1); h++) {
        struct description d;
        peat_status status = describe(t, h, &d, a, err);
        if (status != PEAT_OK)
            return status;
        value_append(a, heads, d.bias ? bias_value(a, &d.by_distance) : stream_value(a, &d.stream));
    }
    *v = map;
    return PEAT_OK;
}
