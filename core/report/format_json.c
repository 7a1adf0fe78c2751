/* SPDX-License-Identifier: MIT */
/* format_json.c: results for programs; an undefined number is null. */

#include "grid/verify.h"
#include "report/comparison_tables.h"
#include "report/kinds.h"
#include "table_builder.h"

static void put_labels(struct json row, const struct results *r, const struct result_row *from)
{
    struct json axes = json_put_map(row, "axes");
    for (int i = 0; i < r->n_axis; i++)
        json_put_text(axes, r->axis[i], from->axis[i]);
}

static void put_values(struct json row, const struct result_row *from, int length)
{
    struct json values = json_put_map(row, "values");
    for (int i = 0; i < from->n_cell; i++) {
        const struct result_cell *c = from->cell[i];
        json_put_number(values, arena_printf(row.a, "%" PRId64, c->seed),
                        length >= 0 && result_counts(c) ? result_value(c, length) : (double)NAN);
    }
}

/* The losses of each seed in stretches of the test text, as in result.json; without losses there is
 * no key. */
static void put_stretches(struct json m, const struct result_row *row, int64_t length)
{
    struct json all = json_map(m.a);
    for (int i = 0; i < row->n_cell; i++) {
        const struct result_cell *c = row->cell[i];
        const struct value *s = result_counts(c) ? cell_stretches(c, length) : NULL;
        if (s)
            json_put(all, arena_printf(m.a, "%" PRId64, c->seed), s);
    }
    if (all.v->n)
        json_put(m, "test_stretches", all.v);
}

static void put_quantities(struct json m, const struct result_row *row)
{
    static const char *const text[] = {"attention_path", "injection", "matched"};
    for (int i = 0; i < QUANTITIES; i++) {
        bool sparse = quantities[i].flags & QUANTITY_SPARSE;
        if (quantities[i].column && !(sparse && row->q[i] == 0.0))
            json_put_number(m, quantities[i].key, row->q[i]);
    }
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
        json_put_text(m, text[i], row_text(row, text[i]));
}

/* length -1: nothing was measured yet. */
static void json_add_row(struct json rows, const struct results *r, const struct result_row *row,
                         int length)
{
    const double nan = (double)NAN;
    const struct summary nothing = summary_of(NULL, 0);
    const struct summary *s = length >= 0 ? &row->at[length] : &nothing;
    struct json m = json_add_map(rows);
    json_put_text(m, "row", results_row_label(r, row, m.a));
    put_labels(m, r, row);
    json_put_int(m, "task", row->task);
    json_put_int(m, "group", row->group);
    json_put_number(m, "length", length >= 0 ? (double)r->length[length] : nan);
    json_put_int(m, "n", s->n);
    json_put_number(m, "mean", s->mean);
    json_put_number(m, "sd", s->sd);
    json_put_number(m, "ci_low", s->ci_low);
    json_put_number(m, "ci_high", s->ci_high);
    json_put_int(m, "failed", row->failed);
    json_put_int(m, "diverged", row->diverged);
    json_put_int(m, "missing", row->missing);
    json_put_int(m, "stale", row->stale);
    json_put_int(m, "damaged", row->damaged);
    json_put_int(m, "drifted", row->drifted);
    json_put_text(m, "baseline",
                  row->baseline < 0 ? NULL : results_row_label(r, &r->row[row->baseline], m.a));
    json_put_pairs(m, &s->pairs);
    json_put_difference(m, &s->diff);
    json_put_bool(m, "can_be_significant",
                  length >= 0 && paired_can_show(r->test, s->pairs.n, r->comparisons[length]));
    json_put_bool(m, "untrained", s->untrained);
    json_put_bool(m, "best", length >= 0 && row->best[length]);
    json_put_bool(m, "leads", length >= 0 && results_best(r, row->group, length) == row);
    put_quantities(m, row);
    for (int i = 0; row->choice && i < row->choice->n; i++)
        json_put(m, row->choice->key[i], row->choice->item[i]);
    if (row->n_cell && row->cell[0]->may_stop) {
        json_put_int(m, "steps_least", row->steps_least);
        json_put_int(m, "steps_most", row->steps_most);
        json_put_int(m, "stopped", row->stopped);
    }
    put_values(m, row, length);
    if (length >= 0)
        put_stretches(m, row, r->length[length]);
}

static void add_rows(struct json rows, const struct results *r, const int *order)
{
    for (int i = 0; i < r->n_row; i++)
        for (int l = r->n_length ? 0 : -1; l < r->n_length; l++)
            json_add_row(rows, r, &r->row[order ? order[i] : i], l);
}

static const char *reason_of(const struct result_cell *c, struct arena *a)
{
    const struct value *diverged = value_get(c->result, "diverged");
    if (c->damage)
        return c->damage;
    if (c->state == CELL_DIVERGED)
        return arena_printf(a, "at step %" PRId64 ": %s", json_get_int(diverged, "step", 0),
                            json_text_or(diverged, "what", ""));
    return cell_has_failed(c->state) ? json_get_text(c->end, "reason") : NULL;
}

static void put_cell(struct json m, const struct results *r, const struct result_cell *c)
{
    json_put_text(m, "cell", c->id);
    json_put_text(m, "label", c->label);
    json_put_text(m, "row", c->row < 0 ? NULL : results_row_label(r, &r->row[c->row], m.a));
    json_put_int(m, "seed", c->seed);
    json_put_text(m, "directory", r->dir[c->directory].path);
    json_put_text(m, "state", cell_state_name(c->state));
    json_put_text(m, "reason", reason_of(c, m.a));
    json_put_bool(m, "reported", result_is_reported(c));
    json_put_bool(m, "counts", result_is_reported(c) && result_has_value(r, c));
}

static void put_cells(struct json m, const struct results *r)
{
    struct json states = json_put_map(m, "states"), cells = json_put_list(m, "cells");
    int n[CELL_STATES] = {0};
    for (int i = 0; i < r->n_cell; i++)
        n[r->cell[i].state]++;
    for (int s = 0; s < CELL_STATES; s++)
        if (n[s])
            json_put_int(states, cell_state_name((enum cell_state)s), n[s]);
    for (int i = 0; i < r->n_cell; i++)
        put_cell(json_add_map(cells), r, &r->cell[i]);
}

/* Contrasts and claims that do not fit the rows are left out. */
static void put_comparisons(struct json m, const struct results *r, int64_t length)
{
    struct effects x;
    struct claim_history h;
    struct json contrasts = json_put_list(m, "contrasts");
    for (int i = 0; i < effects_count(r); i++)
        if (effects_of_report(&x, r, i, length, m.a, NULL) == PEAT_OK)
            effects_json(&x, json_add_map(contrasts));
    if (claims_history(&h, r, m.a, NULL) == PEAT_OK && h.now.version)
        claims_json(&h, json_put_map(m, "claims"));
    else
        json_put(m, "claims", NULL);
}

static void put_kinds(struct json m, const struct results *r)
{
    struct kinds k;
    kinds_find(&k, r, r->n_row, r->row, m.a);
    struct json list = json_put_list(m, "kinds");
    for (int i = 0; i < k.n; i++) {
        struct json kind = json_add_map(list);
        json_put_text(kind, "kind", k.kind[i].text);
        json_put_text(kind, "hosts", k.kind[i].hosts);
        json_put_int(kind, "cells", k.kind[i].n);
    }
    json_put_int(m, "seeds_crossing_kinds", k.crossed);
}

peat_status format_json(const struct results *r, const struct table_options *o, struct arena *a,
                        struct strbuf *out, struct error *err)
{
    struct json m = json_map(a);
    struct table t;
    const int *order;
    if (table_order(r, o, a, &order, err) != PEAT_OK || table_build(&t, r, o, a, err) != PEAT_OK)
        return err->status;
    json_put_text(m, "experiment", r->experiment);
    struct json descriptions = json_put_list(m, "descriptions"), seeds = json_put_list(m, "seeds");
    for (int d = 0; d < r->n_dir; d++)
        json_add_text(descriptions, json_text_or(r->dir[d].plan, "description", ""));
    for (int i = 0; i < r->n_seed; i++)
        json_add_int(seeds, r->seed[i]);
    json_put_text(m, "metric", *r->metric ? r->metric : NULL);
    json_put_text(m, "split", r->split);
    json_put_text(m, "goal", r->goal_max ? "max" : "min");
    json_put_text(m, "length_unit", *r->length_unit ? r->length_unit : NULL);
    json_put_text(m, "baseline", r->baseline_text);
    json_put_text(m, "test", paired_test_words[r->test]);
    json_put_text(m, "test_name", paired_test_name(r->test));
    json_put_int(m, "pairs_needed_alone", paired_pairs_needed(r->test, 2, 1, STATS_LEVEL));
    struct json axes = json_put_list(m, "axes"), within = json_put_list(m, "within"),
                lengths = json_put_list(m, "lengths"),
                comparisons = json_put_list(m, "comparisons"),
                needed = json_put_list(m, "pairs_needed");
    for (int i = 0; i < r->n_axis; i++) {
        json_add_text(axes, r->axis[i]);
        if (r->within[i])
            json_add_text(within, r->axis[i]);
    }
    for (int l = 0; l < r->n_length; l++) {
        json_add_int(lengths, r->length[l]);
        json_add_int(comparisons, r->comparisons[l]);
        json_add_int(needed, paired_pairs_needed(r->test, 2, r->comparisons[l], STATS_LEVEL));
    }
    add_rows(json_put_list(m, "rows"), r, order);
    struct json hashes = json_put_list(m, "hashes"); /* null: a cell is damaged */
    for (int d = 0; d < r->n_dir; d++)
        json_add_text(hashes, fingerprint_of(&r->dir[d], a));
    put_kinds(m, r);
    struct json rivals = json_put_list(m, "different_bits");
    for (int i = 0; i < r->n_rival; i++) {
        struct json one = json_add_map(rivals);
        json_put_text(one, "counts", r->rival[i].counts->dir);
        json_put_text(one, "other", r->rival[i].other->dir);
    }
    struct json dropped = json_put_list(m, "dropped");
    for (int i = 0; i < r->n_dropped; i++)
        json_add_text(dropped, r->dropped[i]);
    if (r->best_over)
        json_put(m, "best_over", r->best_over);
    put_cells(m, r);
    table_json(&t, json_put_map(m, "table"));
    put_comparisons(m, r, o->length);
    registration_put(m, &r->registration);
    json_print(m.v, JSON_INDENTED, out);
    return PEAT_OK;
}

void format_jsonl(const struct results *r, const int *order, struct arena *a, struct strbuf *out)
{
    struct json rows = json_list(a);
    add_rows(rows, r, order);
    for (int i = 0; i < rows.v->n; i++) {
        json_print(rows.v->item[i], JSON_LINE, out);
        strbuf_add(out, "\n");
    }
}
