/* SPDX-License-Identifier: MIT */
/* cmd_compare.c: peat compare DIR A B: two rows, or two labels of an axis, at each length. */

#include "cli/comparerows.h"
#include "cli/verbs.h"
#include "report/comparison_tables.h"
#include "report/selector.h"

struct request {
    struct results_options read;
    int64_t length;   /* -1: all */
    const char *over; /* axes, comma-separated; NULL: not given */
    bool json;
};

struct compared {
    bool labels;
    struct contrast contrast;
    struct row_pair rows;
};

/* The only axis with the label `text`, and the number of rows with this label; -1: no axis has it,
 * or several have. */
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

/* True where both texts name a label of one axis, and several rows have some label. */
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

/* Without --over the other axes are all shown. */
static bool choose_over(const struct results *r, const char *over, struct contrast *c,
                        struct arena *a, struct error *err)
{
    for (int k = 0; k < r->n_axis; k++)
        c->over[k] = !over && k != c->factor;
    for (const char *name; (name = list_next(a, &over, ','));) {
        int axis = selector_axis(r, name);
        if (axis < 0)
            return selector_no_axis(r, "--over", name, a, err) == PEAT_OK;
        if (axis == c->factor)
            return error_fail(err, PEAT_INVALID, "--over: '%s' is the axis that is compared", name);
        c->over[axis] = true;
    }
    return true;
}

static bool choose_rows(const struct results *r, char *const *text, struct row_pair *p,
                        struct error *err)
{
    p->a = selector_row(r, text[0], p->arena, err);
    p->b = p->a ? selector_row(r, text[1], p->arena, err) : NULL;
    return p->b && (p->a != p->b || error_fail(err, PEAT_INVALID, "'%s' and '%s' are the same row",
                                               text[0], text[1]));
}

static bool compare_choose(const struct cli *cli, const struct results *r, struct compared *c)
{
    const struct request *q = cli->options;
    c->labels = names_factor(r, cli->operand + 1, &c->contrast, cli->arena);
    c->rows = (struct row_pair){.r = r, .arena = cli->arena};
    if (c->labels)
        return choose_over(r, q->over, &c->contrast, cli->arena, cli->err);
    if (q->over)
        return error_fail(cli->err, PEAT_INVALID,
                          "option '--over' is for two labels of an axis that several rows have");
    return choose_rows(r, cli->operand + 1, &c->rows, cli->err);
}

/* Returns whether some seed is paired, and so does the next function. */
static bool add_text(const struct cli *cli, const struct compared *c, int length)
{
    struct effects x;
    struct table t;
    strbuf_add(cli->out, cli->out->n ? "\n" : "");
    if (!c->labels)
        return rows_text(&c->rows, length, cli->out) > 0;
    effects_compute(&x, c->rows.r, &c->contrast, c->rows.r->length[length], cli->arena);
    effects_table(&t, &x, cli->arena);
    cli_add_wrapped(&t, NULL, false, cli->out);
    return effects_have_pairs(&x);
}

static bool add_json(const struct cli *cli, const struct compared *c, int length, struct json map)
{
    struct effects x;
    if (!c->labels)
        return rows_json(&c->rows, length, map) > 0;
    effects_compute(&x, c->rows.r, &c->contrast, c->rows.r->length[length], cli->arena);
    effects_json(&x, map);
    return effects_have_pairs(&x);
}

/* A list with an entry for each length; for two rows in a map that names the rows. */
static void print_json_lengths(const struct compared *c, struct json lengths)
{
    const struct row_pair *p = &c->rows;
    struct json m = json_map(p->arena);
    if (c->labels) {
        print_json(lengths.v);
        return;
    }
    json_put_text(m, "experiment", p->r->experiment);
    json_put_text(m, "metric", p->r->metric);
    json_put_text(m, "goal", p->r->goal_max ? "max" : "min");
    json_put_text(m, "a", results_row_label(p->r, p->a, p->arena));
    json_put_text(m, "b", results_row_label(p->r, p->b, p->arena));
    json_put_text(m, "test", paired_test_words[p->r->test]);
    json_put(m, "lengths", lengths.v);
    print_json(m.v);
}

static int compare_rows(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct results r;
    struct compared c;
    int only;
    bool paired = false;
    struct json lengths = json_list(cli->arena);
    if (results_read(&r, 1, cli->operand, &q->read, cli->arena, cli->err) != PEAT_OK ||
        !compare_choose(cli, &r, &c) ||
        results_find_length(&r, q->length, &only, cli->arena, cli->err) != PEAT_OK)
        return CLI_USAGE;
    for (int l = 0; l < r.n_length; l++) {
        if (q->length >= 0 && l != only)
            continue;
        bool any = q->json ? add_json(cli, &c, l, json_add_map(lengths)) : add_text(cli, &c, l);
        if (q->json && r.registration.changed)
            registration_put((struct json){cli->arena, lengths.v->item[lengths.v->n - 1]},
                             &r.registration);
        paired = paired || any;
    }
    if (q->json)
        print_json_lengths(&c, lengths);
    shown_print_lines(stdout, cli->out->text);
    for (int i = 0; !q->json && r.registration.changed && i < r.registration.n; i++)
        cli_print("%s\n", r.registration.line[i]);
    if (!paired)
        cli_say("there is no seed at which both %s are finished and paired",
                c.labels ? "labels" : "rows");
    return paired ? CLI_DONE : CLI_FAILED;
}

static const struct cli_option options[] = {
    CLI_TEXT(0, "metric", "METRIC", read.metric,
             "the metric to compare (default: the experiment's)"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, length,
              "compare at this length only (default: at every length)"),
    CLI_WORD(0, "test", "TEST", paired_test_words, read.test,
             "test of the differences: sign-flip (default), wilcoxon or t"),
    CLI_FLAG(0, "mix-stopped", read.mix_stopped,
             "allow a row that stops early (train.patience) beside one that does not"),
    CLI_TEXT(0, "over", "AXIS,...", over,
             "with two labels: a line for each label of these axes, pooled over the others"),
    CLI_FLAG(0, "json", json, "print JSON: an entry for each length, every number in full"),
};

const struct cli_command cmd_compare = {
    .name = "peat compare",
    .summary = "two rows, or two labels of an axis, seed by seed",
    CLI_OPERANDS("DIR A B", 3, 3, "a run directory and two rows are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.length = -1),
    .run = compare_rows,
};
