/* SPDX-License-Identifier: MIT */
/* format_json.c: results for programs; null stands for what is not defined. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/table.h"

static const struct place nowhere = {NULL, 0, 0};

/* A map under construction. */
struct map {
    struct arena *a;
    struct value *v;
};

static struct map map_new(struct arena *a)
{
    return (struct map){a, value_map(a, nowhere)};
}

static void put(struct map *m, const char *key, struct value *v)
{
    value_set(m->a, m->v, key, nowhere, v);
}

static void put_text(struct map *m, const char *key, const char *text)
{
    put(m, key, text ? value_text(m->a, nowhere, text) : value_null(m->a, nowhere));
}

static void put_int(struct map *m, const char *key, int64_t x)
{
    put(m, key, value_int(m->a, nowhere, x));
}

static void put_number(struct map *m, const char *key, double x)
{
    bool whole = fabs(x) < 9e15 && x == floor(x);
    put(m, key,
        !isfinite(x) ? value_null(m->a, nowhere)
        : whole      ? value_int(m->a, nowhere, (int64_t)x)
                     : value_real(m->a, nowhere, x));
}

static struct value *axes_value(const struct results *r, const struct result_row *row,
                                struct arena *a)
{
    struct map m = map_new(a);
    for (int i = 0; i < r->n_axis; i++)
        put_text(&m, r->axis[i], row->axis[i]);
    return m.v;
}

/* By seed, as they go into the mean. */
static struct value *values_value(const struct result_row *row, int length, struct arena *a)
{
    struct map m = map_new(a);
    for (int i = 0; i < row->n_cell; i++) {
        const struct result_cell *c = row->cell[i];
        char seed[24];
        snprintf(seed, sizeof(seed), "%" PRId64, c->seed);
        put_number(&m, seed, length >= 0 && result_counts(c) ? c->value[length] : (double)NAN);
    }
    return m.v;
}

static void put_summary(struct map *m, const struct summary *s)
{
    put_int(m, "n", s->n);
    put_number(m, "mean", s->mean);
    put_number(m, "sd", s->sd);
    put_number(m, "ci_low", s->ci_low);
    put_number(m, "ci_high", s->ci_high);
}

static void put_difference(struct map *m, const struct summary *s)
{
    put_int(m, "n_pairs", s->n_pairs);
    put_number(m, "diff", s->diff);
    put_number(m, "diff_ci_low", s->diff_ci_low);
    put_number(m, "diff_ci_high", s->diff_ci_high);
    put_number(m, "p", s->p);
    put_number(m, "p_holm", s->p_holm);
}

/* length -1: nothing was measured yet. */
static struct value *row_value(const struct results *r, int index, int length, struct arena *a)
{
    static const struct summary nothing = {.mean = (double)NAN,
                                           .sd = (double)NAN,
                                           .ci_low = (double)NAN,
                                           .ci_high = (double)NAN,
                                           .diff = (double)NAN,
                                           .diff_ci_low = (double)NAN,
                                           .diff_ci_high = (double)NAN,
                                           .p = (double)NAN,
                                           .p_holm = (double)NAN};
    const struct result_row *row = &r->row[index];
    const struct summary *s = length >= 0 ? &row->at[length] : &nothing;
    struct map m = map_new(a);
    put(&m, "axes", axes_value(r, row, a));
    put_number(&m, "length", length >= 0 ? (double)r->length[length] : (double)NAN);
    put_summary(&m, s);
    put_int(&m, "failed", row->failed);
    put_int(&m, "diverged", row->diverged);
    put_int(&m, "missing", row->missing);
    put_int(&m, "stale", row->stale);
    put_text(&m, "baseline",
             row->baseline < 0 ? NULL : results_row_label(r, &r->row[row->baseline], a));
    put_difference(&m, s);
    put(&m, "untrained", value_bool(a, nowhere, s->untrained));
    put(&m, "best", value_bool(a, nowhere, length >= 0 && row->best[length]));
    put_number(&m, "params", row->params);
    put_number(&m, "params_positional", row->params_positional);
    put_number(&m, "flops_per_token", row->flops_per_token);
    put_number(&m, "tokens_per_s", row->tokens_per_s);
    put_number(&m, "step_ms_median", row->step_ms_median);
    put_number(&m, "peak_rss_kib", row->peak_rss_kib);
    put_number(&m, "wall_s", row->wall_s);
    put_number(&m, "cpu_s", row->cpu_s);
    put_text(&m, "attention_path", row->attention_path);
    put_text(&m, "injection", row->injection);
    put_text(&m, "matched", row->matched);
    put(&m, "values", values_value(row, length, a));
    return m.v;
}

static struct value *rows_value(const struct results *r, struct arena *a)
{
    struct value *rows = value_list(a, nowhere);
    for (int i = 0; i < r->n_row; i++)
        for (int l = r->n_length ? 0 : -1; l < r->n_length; l++)
            value_append(a, rows, row_value(r, i, l, a));
    return rows;
}

void format_json(const struct results *r, struct arena *a, struct strbuf *out)
{
    struct map m = map_new(a);
    struct value *axes = value_list(a, nowhere), *lengths = value_list(a, nowhere),
                 *dropped = value_list(a, nowhere);
    for (int i = 0; i < r->n_axis; i++)
        value_append(a, axes, value_text(a, nowhere, r->axis[i]));
    for (int l = 0; l < r->n_length; l++)
        value_append(a, lengths, value_int(a, nowhere, r->length[l]));
    for (int i = 0; i < r->n_dropped; i++)
        value_append(a, dropped, value_text(a, nowhere, r->dropped[i]));
    put_text(&m, "experiment", r->experiment);
    put_text(&m, "metric", *r->metric ? r->metric : NULL);
    put_text(&m, "split", r->split);
    put_text(&m, "goal", r->goal_max ? "max" : "min");
    put_text(&m, "length_unit", *r->length_unit ? r->length_unit : NULL);
    put_text(&m, "baseline", r->baseline_text);
    put(&m, "axes", axes);
    put(&m, "lengths", lengths);
    put(&m, "rows", rows_value(r, a));
    put(&m, "dropped", dropped);
    value_to_json(m.v, false, 2, out);
    strbuf_add(out, "\n");
}

void format_jsonl(const struct results *r, struct arena *a, struct strbuf *out)
{
    const struct value *rows = rows_value(r, a);
    for (int i = 0; i < rows->n; i++) {
        value_to_json(rows->item[i], false, 0, out);
        strbuf_add(out, "\n");
    }
}
