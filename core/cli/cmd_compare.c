/* SPDX-License-Identifier: MIT */
/* cmd_compare.c: peat compare A B DIR. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "report/numbers.h"
#include "report/selector.h"
#include "report/statistics.h"
#include "report/table.h"

enum { METRIC = CLI_LONG, LENGTH };

static const struct cli_option options[] = {
    {METRIC, "metric", "METRIC", "another metric than the experiment's"},
    {LENGTH, "length", "N", "one length instead of all"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "compare",
    .usage = "A B DIR",
    .about =
        "Compares two rows of a run directory seed by seed: the difference A - B, its mean\n"
        "with a 95 % interval, its size and an exact sign-flip test. A row is named by its\n"
        "labels (rotary.sum), by one that only it has (rotary), or by axis=label[,axis=label].",
    .option = options,
    .example = "peat compare rotary learned.sum runs/sum-vs-concat",
};

struct pair {
    const struct results *r;
    const struct result_row *a, *b;
    struct arena *arena;
};

static const char *value_text_of(const struct pair *p, const struct result_cell *c, int length)
{
    struct strbuf out;
    strbuf_init(&out);
    if (c && result_counts(c))
        number_interval(&out, c->value[length], (double)NAN, false);
    else
        strbuf_add(&out, c ? cell_state_name(c->state) : "-");
    const char *text = arena_strdup(p->arena, out.text);
    strbuf_release(&out);
    BUG_UNLESS(text);
    return text;
}

static const char *difference_text(const struct pair *p, const struct result_cell *a,
                                   const struct result_cell *b, int length)
{
    bool both = a && b && result_counts(a) && result_counts(b);
    struct strbuf out;
    strbuf_init(&out);
    number_interval(&out, both ? a->value[length] - b->value[length] : (double)NAN, (double)NAN,
                    true);
    const char *text = arena_strdup(p->arena, out.text);
    strbuf_release(&out);
    BUG_UNLESS(text);
    return text;
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
    BUG_UNLESS(t->column && t->cell);
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

static void add_verdict(const double *d, int n, struct strbuf *out)
{
    double mean = stats_mean(d, n), sd = stats_sd(d, n);
    if (n == 0) {
        strbuf_add(out, "no seed is finished in both\n");
        return;
    }
    strbuf_add(out, "mean difference ");
    number_interval(out, mean, stats_ci_half(d, n), true);
    if (n < 2)
        strbuf_add(out, " (one seed: no interval)\n");
    else
        strbuf_addf(out, " (95 %% CI, Student t, n = %d)\n", n);
    if (sd > 0.0)
        strbuf_addf(out, "effect size d_z %.2f\n", mean / sd);
    double smallest = fmin(1.0, 2.0 * exp2(-n));
    strbuf_add(out, "sign-flip test p ");
    number_p(out, signflip_p(d, n));
    strbuf_addf(out, "; the smallest that %d seed%s can give is ", n, n == 1 ? "" : "s");
    number_p(out, smallest);
    strbuf_add(out, smallest >= 0.05 ? ": too few seeds for p < .05\n" : "\n");
}

static const char *title_of(const struct pair *p, int length)
{
    const struct results *r = p->r;
    const char *title = arena_printf(
        p->arena, "%s: %s at %" PRId64 " %s (%s is better), %s against %s", r->experiment,
        r->metric, r->length[length], r->length_unit, r->goal_max ? "higher" : "lower",
        results_row_label(r, p->a, p->arena), results_row_label(r, p->b, p->arena));
    BUG_UNLESS(title);
    return title;
}

/* Number of seeds finished in both. */
static int print_length(const struct pair *p, int length)
{
    enum { WIDTH = 100 };
    struct table t = {.arena = p->arena, .title = title_of(p, length)};
    struct strbuf out;
    double *d = ARENA_ARRAY(p->arena, p->a->n_cell + 1, double);
    BUG_UNLESS(d);
    strbuf_init(&out);
    fill_table(p, length, &t);
    format_text(&t, WIDTH, false, &out);
    int n = row_differences(p->a, p->b, length, d);
    add_verdict(d, n, &out);
    fputs(out.text, stdout);
    strbuf_release(&out);
    return n;
}

static int print_pair(const struct pair *p, int64_t only)
{
    int shown = 0, seeds = 0;
    for (int l = 0; l < p->r->n_length; l++) {
        if (only >= 0 && p->r->length[l] != only)
            continue;
        if (shown++)
            printf("\n");
        seeds += print_length(p, l);
    }
    if (!shown && only >= 0 && p->r->n_length) {
        cli_say("nothing was evaluated at length %" PRId64, only);
        return CLI_USAGE;
    }
    if (!seeds)
        cli_say("there is no seed that both rows have finished");
    return seeds ? CLI_DONE : CLI_FAILED;
}

static int compare(const char *const *row, char *dir, const struct results_options *o,
                   int64_t length, struct arena *a)
{
    struct results r;
    struct error err = {0};
    if (results_read(&r, 1, &dir, o, a, &err) != PEAT_OK)
        return cli_refuse(&err);
    struct pair p = {&r, selector_row(&r, row[0], a, &err), NULL, a};
    p.b = p.a ? selector_row(&r, row[1], a, &err) : NULL;
    if (!p.a || !p.b)
        return cli_refuse(&err);
    if (p.a == p.b)
        return cli_mistake(&command, "'%s' and '%s' are the same row", row[0], row[1]);
    return print_pair(&p, length);
}

int cmd_compare(int argc, char **argv)
{
    struct cli cli;
    struct results_options o = {NULL, NULL};
    int64_t length = -1;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        switch (letter) {
        case METRIC:
            o.metric = cli.argument;
            break;
        case LENGTH:
            if (!cli_whole_number(&cli, 0, INT64_MAX, &length))
                return cli.status;
            break;
        default:
            return cli.status;
        }
    }
    if (cli.n_operand != 3)
        return cli_mistake(&command, "two rows and a run directory are needed");
    const char *row[] = {cli.operand[0], cli.operand[1]};
    struct arena arena;
    arena_init(&arena, "compare", 1 << 20);
    int status = compare(row, cli.operand[2], &o, length, &arena);
    arena_release(&arena);
    return status;
}
