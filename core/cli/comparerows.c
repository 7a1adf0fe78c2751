/* SPDX-License-Identifier: MIT */
/* comparerows.c: the table and the JSON of two rows, at one length after another. */
#include "cli/comparerows.h"

#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/repeat.h"
#include "cli/cli.h"
#include "report/comparison_tables.h"
#include "report/kinds.h"
#include "report/numbers.h"
#include "report/table.h"

static const char *value_text_of(const struct row_pair *p, const struct result_cell *c, int length)
{
    if (c && result_counts(c))
        return number_interval_text(p->arena, c->value[length], (double)NAN, false);
    return c ? cell_state_name(c->state) : "-";
}

static const char *difference_text(const struct row_pair *p, const struct result_cell *a,
                                   const struct result_cell *b, int length)
{
    struct pairs pairs = {0};
    if (!a || !b || !result_counts(a) || !result_counts(b))
        return "-";
    if (!pair_holds(a, b, &pairs))
        return pairs.other_task      ? "other task"
               : pairs.other_batches ? "other batches"
                                     : "other weights";
    return number_interval_text(p->arena, a->value[length] - b->value[length], (double)NAN, true);
}

/* One line a seed. */
static void fill_table(const struct row_pair *p, int length, struct table *t)
{
    struct table_column column[] = {{"seed", false},
                                    {results_row_label(p->r, p->a, p->arena), true},
                                    {results_row_label(p->r, p->b, p->arena), true},
                                    {"difference", true}};
    enum { COLUMNS = sizeof(column) / sizeof(*column) };
    t->column = ARENA_ARRAY(p->arena, COLUMNS, struct table_column);
    t->cell = ARENA_ARRAY(p->arena, (int64_t)COLUMNS * p->r->n_seed, struct table_cell);
    for (int k = 0; k < COLUMNS; k++)
        t->column[k] = column[k];
    t->n_column = COLUMNS;
    t->n_label = 1;
    struct table_cell *cell = t->cell;
    for (int i = 0; i < p->r->n_seed; i++) {
        int64_t seed = p->r->seed[i];
        const struct result_cell *a = row_cell(p->a, seed), *b = row_cell(p->b, seed);
        if (!a && !b)
            continue;
        const char *text[COLUMNS] = {arena_printf(p->arena, "%" PRId64, seed),
                                     value_text_of(p, a, length), value_text_of(p, b, length),
                                     difference_text(p, a, b, length)};
        for (int k = 0; k < COLUMNS; k++)
            *cell++ = (struct table_cell){text[k], "", false};
        t->n_row++;
    }
}

static void add_test(const struct row_pair *p, const double *d, int n, struct strbuf *out)
{
    enum paired_test test = p->r->test;
    strbuf_addf(out, "%s p ", paired_test_name(test));
    number_p(out, paired_p(test, d, n));
    if (test != TEST_T) {
        strbuf_addf(out, "; the smallest that %d seed%s can give is ", n, plural(n));
        number_p(out, paired_p_smallest(test, 2, n));
        strbuf_add(out, paired_can_show(test, n, 1) ? "" : ": too few seeds for p < .05");
    }
    strbuf_add(out, "\n");
}

static void add_verdict(const struct row_pair *p, const double *d, const struct pairs *pairs,
                        struct strbuf *out)
{
    int n = pairs->n;
    if (n == 0) {
        strbuf_add(out,
                   pairs_refused(pairs) ? "nothing is paired\n" : "no seed is finished in both\n");
        return;
    }
    strbuf_add(out, "mean difference ");
    number_interval(out, stats_mean(d, n), stats_ci_half(d, n), true);
    if (n < 2)
        strbuf_add(out, " (one seed: no interval)\n");
    else
        strbuf_addf(out, " (95 %% CI, Student t, n = %d)\n", n);
    if (isfinite(effect_dz(d, n)))
        strbuf_addf(out, "effect size d_z %.2f", effect_dz(d, n));
    if (isfinite(effect_gz(d, n)))
        strbuf_addf(out, ", with Hedges' correction g_z %.2f", effect_gz(d, n));
    strbuf_add(out, isfinite(effect_dz(d, n)) ? "\n" : "");
    add_test(p, d, n, out);
}

static const char *title_of(const struct row_pair *p, int length)
{
    const struct results *r = p->r;
    return arena_printf(p->arena, "%s: %s at %" PRId64 " %s (%s is better), %s against %s",
                        r->experiment, r->metric, r->length[length], r->length_unit,
                        r->goal_max ? "higher" : "lower", results_row_label(r, p->a, p->arena),
                        results_row_label(r, p->b, p->arena));
}

static void note_kinds(const struct row_pair *p, struct table *t)
{
    struct kinds k;
    struct result_row *two = ARENA_ARRAY(p->arena, 2, struct result_row);
    two[0] = *p->a;
    two[1] = *p->b;
    kinds_find(&k, p->r, 2, two, p->arena);
    kinds_note(t, &k);
}

/* Number of pairs. */
static int print_length(const struct row_pair *p, int length)
{
    enum { WIDTH = 100 };
    struct table t = {.arena = p->arena, .title = title_of(p, length)};
    struct strbuf out;
    double *d = ARENA_ARRAY(p->arena, p->a->n_cell, double);
    strbuf_init(&out);
    fill_table(p, length, &t);
    struct pairs pairs = row_differences(p->a, p->b, length, d);
    table_note_refused(&t, &pairs);
    if (pairs.by_data)
        table_note(&t, "%d of %d pairs share the data order alone: weights of other shapes",
                   pairs.by_data, pairs.n + pairs_refused(&pairs));
    note_kinds(p, &t);
    format_text(&t, WIDTH, false, &out);
    add_verdict(p, d, &pairs, &out);
    cli_print("%s", out.text);
    strbuf_release(&out);
    return pairs.n;
}

/* ---- JSON ---- */

/* Number of pairs. */
static int add_length(const struct row_pair *p, int length, struct json lengths)
{
    struct summary s;
    struct json m = json_add_map(lengths);
    rows_compare(p->a, p->b, length, p->r->test, ARENA_ARRAY(p->arena, p->a->n_cell, double), &s);
    json_put_int(m, "length", p->r->length[length]);
    json_put_pairs(m, &s.pairs);
    struct json by_seed = json_put_map(m, "differences");
    for (int i = 0; i < p->a->n_cell; i++) {
        const struct result_cell *a = p->a->cell[i], *b = row_cell(p->b, a->seed);
        json_put_number(by_seed, arena_printf(p->arena, "%" PRId64, a->seed),
                        pair_difference(a, b, length, &(struct pairs){0}));
    }
    json_put_difference(m, &s);
    return s.pairs.n;
}

static struct json start_json(const struct row_pair *p)
{
    struct json m = json_map(p->arena);
    json_put_text(m, "experiment", p->r->experiment);
    json_put_text(m, "metric", p->r->metric);
    json_put_text(m, "goal", p->r->goal_max ? "max" : "min");
    json_put_text(m, "a", results_row_label(p->r, p->a, p->arena));
    json_put_text(m, "b", results_row_label(p->r, p->b, p->arena));
    json_put_text(m, "test", paired_test_word(p->r->test));
    return m;
}

/* ---- all lengths ---- */

int rows_print(const struct row_pair *p, int64_t only, bool json)
{
    struct json all = start_json(p), lengths = json_put_list(all, "lengths");
    int shown = 0, pairs = 0;
    for (int l = 0; l < p->r->n_length; l++) {
        if (only >= 0 && p->r->length[l] != only)
            continue;
        if (shown++ && !json)
            cli_print("\n");
        pairs += json ? add_length(p, l, lengths) : print_length(p, l);
    }
    if (!shown && only >= 0 && p->r->n_length) {
        cli_say("nothing was evaluated at length %" PRId64, only);
        return CLI_USAGE;
    }
    if (json)
        cli_print("%s\n", json_to_text(all.v, JSON_INDENTED, p->arena));
    if (!pairs)
        cli_say("there is no seed at which both rows are finished and paired");
    return pairs ? CLI_DONE : CLI_FAILED;
}
