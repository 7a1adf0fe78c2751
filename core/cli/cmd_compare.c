/* SPDX-License-Identifier: MIT */
/* cmd_compare.c: peat compare A B DIR. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/verbs.h"
#include "report/comparison_tables.h"
#include "report/kinds.h"
#include "report/numbers.h"
#include "report/selector.h"
#include "report/table.h"

struct request {
    struct results_options read;
    int64_t length;   /* -1: all */
    const char *over; /* axes, comma-separated; NULL: not said */
    bool json;
};

struct pair {
    const struct results *r;
    const struct result_row *a, *b;
    struct arena *arena;
};

static const char *value_text_of(const struct pair *p, const struct result_cell *c, int length)
{
    if (c && result_counts(c))
        return number_interval_text(p->arena, c->value[length], (double)NAN, false);
    return c ? cell_state_name(c->state) : "-";
}

static const char *difference_text(const struct pair *p, const struct result_cell *a,
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
static void fill_table(const struct pair *p, int length, struct table *t)
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

static void add_test(const struct pair *p, const double *d, int n, struct strbuf *out)
{
    enum paired_test test = p->r->test;
    strbuf_addf(out, "%s p ", paired_test_name(test));
    number_p(out, paired_p(test, d, n));
    if (test != TEST_T) {
        strbuf_addf(out, "; the smallest that %d seed%s can give is ", n, n == 1 ? "" : "s");
        number_p(out, paired_p_smallest(test, 2, n));
        strbuf_add(out, paired_can_show(test, n, 1) ? "" : ": too few seeds for p < .05");
    }
    strbuf_add(out, "\n");
}

static void add_verdict(const struct pair *p, const double *d, const struct pairs *pairs,
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

static const char *title_of(const struct pair *p, int length)
{
    const struct results *r = p->r;
    return arena_printf(p->arena, "%s: %s at %" PRId64 " %s (%s is better), %s against %s",
                        r->experiment, r->metric, r->length[length], r->length_unit,
                        r->goal_max ? "higher" : "lower", results_row_label(r, p->a, p->arena),
                        results_row_label(r, p->b, p->arena));
}

static void note_kinds(const struct pair *p, struct table *t)
{
    struct kinds k;
    struct result_row *two = ARENA_ARRAY(p->arena, 2, struct result_row);
    two[0] = *p->a;
    two[1] = *p->b;
    kinds_find(&k, p->r, 2, two, p->arena);
    kinds_note(t, &k);
}

/* Number of pairs. */
static int print_length(const struct pair *p, int length)
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
static int add_length(const struct pair *p, int length, struct json lengths)
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

static struct json start_json(const struct pair *p)
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

static int print_pair(const struct pair *p, int64_t only, bool json)
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

/* ---- two labels of an axis ---- */

/* The axis of the only label that text names, and how many rows have it; -1: it names no label. */
static int only_axis(const struct results *r, const char *text, const char **label, int *rows,
                     struct arena *a)
{
    struct selector s;
    int axis = -1, n = 0;
    *rows = 0;
    if (selector_parse(r, text, "row", &s, a, NULL) != PEAT_OK)
        return -1;
    for (int k = 0; k < r->n_axis; k++)
        if (s.label[k]) {
            axis = k;
            n++;
        }
    *label = axis < 0 ? NULL : s.label[axis];
    for (int i = 0; n == 1 && i < r->n_row; i++)
        *rows += strcmp(r->row[i].axis[axis], *label) == 0;
    return n == 1 ? axis : -1;
}

/* Both are labels of one axis, and not of one row each. */
static bool names_factor(const struct results *r, char *const *text, struct contrast *c,
                         struct arena *a)
{
    int rows[2], axis[2];
    *c = (struct contrast){.name = "", .length = -1};
    for (int i = 0; i < 2; i++)
        axis[i] = only_axis(r, text[i], &c->label[i], &rows[i], a);
    c->factor = axis[0];
    return axis[0] >= 0 && axis[0] == axis[1] && strcmp(c->label[0], c->label[1]) != 0 &&
           rows[0] + rows[1] > 2;
}

/* Without --over every other axis is shown. */
static peat_status choose_over(const struct results *r, const char *over, struct contrast *c,
                               struct arena *a, struct error *err)
{
    for (int k = 0; k < r->n_axis; k++)
        c->over[k] = !over && k != c->factor;
    for (const char *at = over; at && *at;) {
        size_t n = strcspn(at, ",");
        int axis = selector_axis(r, at, n);
        const char *name = arena_printf(a, "%.*s", (int)n, at);
        if (axis < 0)
            return selector_no_axis(r, "--over", name, err);
        if (axis == c->factor)
            return error_set(err, PEAT_INVALID, "--over: '%s' is what is compared", name);
        c->over[axis] = true;
        at += n + (at[n] == ',');
    }
    return PEAT_OK;
}

static bool has_pairs(const struct effects *x)
{
    for (int i = 0; i < x->n_line; i++)
        if (x->line[i].n)
            return true;
    return false;
}

static void print_effects(const struct effects *x, struct arena *a, bool first)
{
    enum { WIDTH = 100 };
    struct table t;
    struct strbuf out;
    strbuf_init(&out);
    strbuf_add(&out, first ? "" : "\n");
    effects_table(&t, x, a);
    format_text(&t, WIDTH, false, &out);
    cli_print("%s", out.text);
    strbuf_release(&out);
}

static int compare_labels(const struct results *r, const struct request *q,
                          const struct contrast *c, struct arena *a)
{
    bool shown = false, paired = false;
    struct json all = json_list(a);
    for (int l = 0; l < r->n_length; l++) {
        struct effects x;
        if (q->length >= 0 && r->length[l] != q->length)
            continue;
        effects_compute(&x, r, c, r->length[l], a);
        if (q->json)
            effects_json(&x, json_add_map(all));
        else
            print_effects(&x, a, !shown);
        shown = true;
        paired = paired || has_pairs(&x);
    }
    if (!shown && q->length >= 0 && r->n_length) {
        cli_say("nothing was evaluated at length %" PRId64, q->length);
        return CLI_USAGE;
    }
    if (q->json)
        cli_print("%s\n", json_to_text(all.v, JSON_INDENTED, a));
    if (!paired)
        cli_say("there is no seed at which both labels are finished and paired");
    return paired ? CLI_DONE : CLI_FAILED;
}

static int compare_rows(const struct cli *cli)
{
    const struct request *q = cli->options;
    char *const *row = cli->operand;
    struct results r;
    struct contrast c;
    struct error err = {0};
    if (results_read(&r, 1, &cli->operand[2], &q->read, cli->arena, &err) != PEAT_OK)
        return cli_refuse(&err);
    if (names_factor(&r, row, &c, cli->arena))
        return choose_over(&r, q->over, &c, cli->arena, &err) == PEAT_OK
                   ? compare_labels(&r, q, &c, cli->arena)
                   : cli_refuse(&err);
    if (q->over)
        return cli_mistake(cmd_compare.name, "option '--over' is for two labels of an axis that "
                                             "several rows have");
    struct pair p = {&r, selector_row(&r, row[0], cli->arena, &err), NULL, cli->arena};
    p.b = p.a ? selector_row(&r, row[1], cli->arena, &err) : NULL;
    if (!p.a || !p.b)
        return cli_refuse(&err);
    if (p.a == p.b)
        return cli_mistake(cmd_compare.name, "'%s' and '%s' are the same row", row[0], row[1]);
    return print_pair(&p, q->length, q->json);
}

static const struct cli_option options[] = {
    CLI_TEXT(0, "metric", "METRIC", read.metric, "another metric than the experiment's"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, length, "one length instead of all"),
    CLI_WORD(0, "test", "TEST", test_words, read.test,
             "of the differences: sign-flip (default), wilcoxon or t"),
    CLI_FLAG(0, "mix-stopped", read.mix_stopped,
             "also a row that stops early (train.patience) with one that does not"),
    CLI_TEXT(0, "over", "AXIS,...", over,
             "of two labels: a line for each label of these axes, pooled over the others"),
    CLI_FLAG(0, "json", json, "an entry for each length, every number in full"),
};

const struct cli_command cmd_compare = {
    .name = "peat compare",
    .summary = "two rows, or two labels of an axis, seed by seed",
    .about = "Compares two rows of a run directory seed by seed: the difference A - B, its mean\n"
             "with a 95 % interval, its size and a test. Seeds that saw other data, or\n"
             "began with other weights of the same shape, are no pairs and are refused. A row is\n"
             "named by its labels (rotary.sum), by one that only it has (rotary), or by\n"
             "axis=label[,axis=label]. Two labels of one axis that several rows have (concat sum)\n"
             "are compared in every setting of the others, and pooled.",
    .example = "peat compare rotary learned.sum runs/sum-vs-concat",
    CLI_OPERANDS("A B DIR", 3, 3, "two rows and a run directory are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.length = -1),
    .run = compare_rows,
};
