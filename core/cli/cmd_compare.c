/* SPDX-License-Identifier: MIT */
/* cmd_compare.c: peat compare A B DIR: which two things are compared, and two labels of an axis. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cli/comparerows.h"
#include "cli/verbs.h"
#include "report/comparison_tables.h"
#include "report/selector.h"
#include "report/table.h"

struct request {
    struct results_options read;
    int64_t length;   /* -1: all */
    const char *over; /* axes, comma-separated; NULL: not said */
    bool json;
};

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
            return error_set(err, PEAT_INVALID, "--over: '%s' is the axis that is compared", name);
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

static int compare(const struct cli *cli)
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
    const struct result_row *a = selector_row(&r, row[0], cli->arena, &err);
    const struct result_row *b = a ? selector_row(&r, row[1], cli->arena, &err) : NULL;
    if (!a || !b)
        return cli_refuse(&err);
    if (a == b)
        return cli_mistake(cmd_compare.name, "'%s' and '%s' are the same row", row[0], row[1]);
    return rows_print(&(struct row_pair){&r, a, b, cli->arena}, q->length, q->json);
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
    .run = compare,
};
