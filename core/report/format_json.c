/* SPDX-License-Identifier: MIT */
/* format_json.c: results for programs; null stands for what is not defined. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/jsonmap.h"
#include "report/table.h"

static struct value *axes_value(const struct results *r, const struct result_row *row,
                                struct arena *a)
{
    struct jsonmap m = jsonmap_new(a);
    for (int i = 0; i < r->n_axis; i++)
        jsonmap_text(&m, r->axis[i], row->axis[i]);
    return m.v;
}

/* By seed, as they go into the mean. */
static struct value *values_value(const struct result_row *row, int length, struct arena *a)
{
    struct jsonmap m = jsonmap_new(a);
    for (int i = 0; i < row->n_cell; i++) {
        const struct result_cell *c = row->cell[i];
        char seed[24];
        snprintf(seed, sizeof(seed), "%" PRId64, c->seed);
        jsonmap_number(&m, seed, length >= 0 && result_counts(c) ? c->value[length] : (double)NAN);
    }
    return m.v;
}

static void put_summary(struct jsonmap *m, const struct summary *s)
{
    jsonmap_int(m, "n", s->n);
    jsonmap_number(m, "mean", s->mean);
    jsonmap_number(m, "sd", s->sd);
    jsonmap_number(m, "ci_low", s->ci_low);
    jsonmap_number(m, "ci_high", s->ci_high);
}

static void put_difference(struct jsonmap *m, const struct summary *s)
{
    jsonmap_int(m, "n_pairs", s->pairs.n);
    jsonmap_int(m, "pairs_by_data", s->pairs.by_data);
    jsonmap_int(m, "pairs_refused", pairs_refused(&s->pairs));
    jsonmap_number(m, "diff", s->diff);
    jsonmap_number(m, "diff_sd", s->diff_sd);
    jsonmap_number(m, "diff_ci_low", s->diff_ci_low);
    jsonmap_number(m, "diff_ci_high", s->diff_ci_high);
    jsonmap_number(m, "effect_dz", s->dz);
    jsonmap_number(m, "effect_gz", s->gz);
    jsonmap_number(m, "p", s->p);
    jsonmap_number(m, "p_holm", s->p_holm);
}

/* length -1: nothing was measured yet. */
static struct value *row_value(const struct results *r, int index, int length, struct arena *a)
{
    static const struct summary nothing = {.mean = (double)NAN,
                                           .sd = (double)NAN,
                                           .ci_low = (double)NAN,
                                           .ci_high = (double)NAN,
                                           .diff = (double)NAN,
                                           .diff_sd = (double)NAN,
                                           .diff_ci_low = (double)NAN,
                                           .diff_ci_high = (double)NAN,
                                           .dz = (double)NAN,
                                           .gz = (double)NAN,
                                           .p = (double)NAN,
                                           .p_holm = (double)NAN};
    const struct result_row *row = &r->row[index];
    const struct summary *s = length >= 0 ? &row->at[length] : &nothing;
    struct jsonmap m = jsonmap_new(a);
    jsonmap_put(&m, "axes", axes_value(r, row, a));
    jsonmap_number(&m, "length", length >= 0 ? (double)r->length[length] : (double)NAN);
    put_summary(&m, s);
    jsonmap_int(&m, "failed", row->failed);
    jsonmap_int(&m, "diverged", row->diverged);
    jsonmap_int(&m, "missing", row->missing);
    jsonmap_int(&m, "stale", row->stale);
    jsonmap_text(&m, "baseline",
                 row->baseline < 0 ? NULL : results_row_label(r, &r->row[row->baseline], a));
    put_difference(&m, s);
    jsonmap_put(&m, "untrained", value_bool(a, jsonmap_nowhere, s->untrained));
    jsonmap_put(&m, "best", value_bool(a, jsonmap_nowhere, length >= 0 && row->best[length]));
    jsonmap_number(&m, "params", row->params);
    jsonmap_number(&m, "params_positional", row->params_positional);
    jsonmap_number(&m, "flops_per_token", row->flops_per_token);
    jsonmap_number(&m, "tokens_per_s", row->tokens_per_s);
    jsonmap_number(&m, "step_ms_median", row->step_ms_median);
    jsonmap_number(&m, "peak_rss_kib", row->peak_rss_kib);
    jsonmap_number(&m, "wall_s", row->wall_s);
    jsonmap_number(&m, "cpu_s", row->cpu_s);
    jsonmap_text(&m, "attention_path", row->attention_path);
    jsonmap_text(&m, "injection", row->injection);
    jsonmap_text(&m, "matched", row->matched);
    jsonmap_put(&m, "values", values_value(row, length, a));
    return m.v;
}

static struct value *rows_value(const struct results *r, const int *order, struct arena *a)
{
    struct value *rows = value_list(a, jsonmap_nowhere);
    for (int i = 0; i < r->n_row; i++)
        for (int l = r->n_length ? 0 : -1; l < r->n_length; l++)
            value_append(a, rows, row_value(r, order ? order[i] : i, l, a));
    return rows;
}

void format_json(const struct results *r, const int *order, struct arena *a, struct strbuf *out)
{
    struct jsonmap m = jsonmap_new(a);
    struct value *axes = value_list(a, jsonmap_nowhere), *lengths = value_list(a, jsonmap_nowhere),
                 *dropped = value_list(a, jsonmap_nowhere),
                 *comparisons = value_list(a, jsonmap_nowhere);
    for (int i = 0; i < r->n_axis; i++)
        value_append(a, axes, value_text(a, jsonmap_nowhere, r->axis[i]));
    for (int l = 0; l < r->n_length; l++) {
        value_append(a, lengths, value_int(a, jsonmap_nowhere, r->length[l]));
        value_append(a, comparisons, value_int(a, jsonmap_nowhere, r->comparisons[l]));
    }
    for (int i = 0; i < r->n_dropped; i++)
        value_append(a, dropped, value_text(a, jsonmap_nowhere, r->dropped[i]));
    jsonmap_text(&m, "experiment", r->experiment);
    jsonmap_text(&m, "metric", *r->metric ? r->metric : NULL);
    jsonmap_text(&m, "split", r->split);
    jsonmap_text(&m, "goal", r->goal_max ? "max" : "min");
    jsonmap_text(&m, "length_unit", *r->length_unit ? r->length_unit : NULL);
    jsonmap_text(&m, "baseline", r->baseline_text);
    jsonmap_text(&m, "test", paired_test_word(r->test));
    jsonmap_put(&m, "axes", axes);
    jsonmap_put(&m, "lengths", lengths);
    jsonmap_put(&m, "comparisons", comparisons);
    jsonmap_put(&m, "rows", rows_value(r, order, a));
    jsonmap_put(&m, "dropped", dropped);
    value_to_json(m.v, false, 2, out);
    strbuf_add(out, "\n");
}

void format_jsonl(const struct results *r, const int *order, struct arena *a, struct strbuf *out)
{
    const struct value *rows = rows_value(r, order, a);
    for (int i = 0; i < rows->n; i++) {
        value_to_json(rows->item[i], false, 0, out);
        strbuf_add(out, "\n");
    }
}
