/* SPDX-License-Identifier: MIT */
/* table_columns.c: the columns of a table with a row for each setting. */

#include "report/numbers.h"
#include "table_builder.h"

/* ---- cells ---- */

/* "-" for NaN and infinities. fmt: for one double. */
static struct table_cell formatted(struct arena *a, const char *fmt, double x)
{
    const double longest = 1e9;
    bool is_long = isfinite(x) && fabs(x) >= longest;
    fmt = !is_long ? fmt : strchr(fmt, '+') ? "%+.2e" : "%.2e";
    return table_plain(isfinite(x) ? arena_printf(a, fmt, x) : "-");
}

static const char *spread_text(struct builder *b, double x, double sd, double ci_half, int n,
                               bool with_sign)
{
    const double spread[] = {[SPREAD_CI] = ci_half, [SPREAD_SD] = sd, [SPREAD_SE] = sd / sqrt(n)};
    return number_spread(b->a, x, spread[b->o->err], b->o->digits > 0 ? b->o->digits : 2,
                         with_sign);
}

struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length)
{
    const struct summary *s = &row->at[length];
    bool strong = row->best[length] && b->r->n_row > 1;
    if (strong)
        b->t->strong = arena_printf(
            b->a, "best%s%s, and rows whose paired difference to it has a 95 %% CI that includes 0",
            b->r->within_text ? " within each " : "", b->r->within_text ? b->r->within_text : "");
    return (struct table_cell){spread_text(b, s->mean, s->sd, s->ci_high - s->mean, s->n, false),
                               s->untrained && row->drifted ? "ud"
                               : s->untrained               ? "u"
                               : row->drifted               ? "d"
                                                            : "",
                               strong};
}

static struct table_cell diff_cell(struct builder *b, const struct result_row *row)
{
    const struct summary *s = &row->at[b->length];
    if (row->baseline == (int)(row - b->r->row))
        return table_plain("baseline");
    if (s->pairs.n == 0 && pairs_refused(&s->pairs))
        return table_plain("unpaired");
    const struct difference *d = &s->diff;
    bool crosses = row->baseline >= 0 && result_rows_cross_engines(row, &b->r->row[row->baseline]);
    return (struct table_cell){spread_text(b, d->mean, d->sd, d->ci_high - d->mean, d->n, true),
                               crosses ? "e" : "", false};
}

/* ---- kinds ---- */

/* COMPARED: a number of the difference to the baseline */
enum group { COMPARED, COUNTED, COST };

/* Forms of cells beside those of quantities. */
enum {
    FORM_P = FORM_KIB + 1,
    FORM_TESTED_P, /* a p of the chosen test, if the seeds can reach significance */
    FORM_EFFECT,
    FORM_HALF,
    FORM_COUNTED, /* an int */
    FORM_DIFF,
    FORM_PAIRS,
    FORM_N,
    FORM_STEPS,
    FORM_CHOSEN,
    FORM_ATTENTION,
};

struct kind {
    const char *word, *head; /* its word in --columns, and its head in the table */
    enum group group;
    int form;
    size_t at; /* offset of its number in the summary when compared, otherwise in the row */
    bool left; /* align left  */
};

static const void *field_of(const struct builder *b, const struct kind *k,
                            const struct result_row *row)
{
    const void *from = k->group == COMPARED ? (const void *)&row->at[b->length] : row;
    return (const char *)from + k->at;
}

static const char *tested_text(struct builder *b, const struct kind *k,
                               const struct result_row *row, double p)
{
    const struct results *r = b->r;
    bool adjusted = k->at == offsetof(struct summary, diff.p_holm);
    return number_tested_p(b->a, r->test, p, row->at[b->length].pairs.n,
                           adjusted ? r->comparisons[b->length] : 1);
}

/* "8", "7/8" where cells are missing, "8, 6/8" where lengths differ. */
static const char *n_text(struct builder *b, const struct result_row *row)
{
    int n = b->length >= 0 ? row->at[b->length].n : 0;
    int planned = row->n_cell - row->decided;
    const char *each = NULL;
    if (table_one_n(b, row))
        return arena_printf(b->a, n == planned ? "%d" : "%d/%d", n, planned);
    for (int l = 0; l < b->r->n_length; l++)
        each = arena_item(b->a, each, "%d", row->at[l].n);
    return arena_printf(b->a, "%s/%d", each, planned);
}

/* "300", or "120 to 300" where cells stopped early. */
static const char *steps_text(struct builder *b, const struct result_row *row)
{
    if (row->steps_most == 0)
        return "-";
    return arena_printf(
        b->a, row->steps_least == row->steps_most ? "%" PRId64 : "%" PRId64 " to %" PRId64,
        row->steps_least, row->steps_most);
}

static struct table_cell number_cell(struct builder *b, const struct kind *k,
                                     const struct result_row *row)
{
    double x = *(const double *)field_of(b, k, row);
    switch (k->form) {
    case FORM_COUNT:
        return table_plain(number_count(b->a, x));
    case FORM_RATIO:
        return table_plain(number_ratio(b->a, x));
    case FORM_MILLISECONDS:
        return formatted(b->a, "%.3g", x);
    case FORM_SECONDS:
        return formatted(b->a, x < 100.0 ? "%.1f" : "%.0f", x);
    case FORM_KIB:
        return formatted(b->a, "%.0f", x / 1024.0);
    case FORM_P:
        return formatted(b->a, x < 0.001 ? "%.0e" : "%.3f", x);
    case FORM_TESTED_P:
        return table_plain(tested_text(b, k, row, x));
    case FORM_EFFECT:
        return formatted(b->a, "%+.2f", x);
    case FORM_HALF:
        return table_plain(number_half(b->a, x));
    }
    return table_plain("-");
}

static struct table_cell cell_of(struct builder *b, const struct kind *k,
                                 const struct result_row *row)
{
    const char *text = NULL;
    int refused;
    switch (k->form) {
    case FORM_COUNTED:
        return table_plain(arena_printf(b->a, "%d", *(const int *)field_of(b, k, row)));
    case FORM_DIFF:
        return diff_cell(b, row);
    case FORM_PAIRS:
        refused = pairs_refused(&row->at[b->length].pairs);
        text = arena_printf(b->a, refused ? "%d/%d" : "%d", row->at[b->length].pairs.n,
                            row->at[b->length].pairs.n + refused);
        break;
    case FORM_N:
        return table_plain(n_text(b, row));
    case FORM_STEPS:
        return table_plain(steps_text(b, row));
    case FORM_CHOSEN:
        text = row->chosen;
        break;
    case FORM_ATTENTION:
        text = row_text(row, "attention_path");
        break;
    default:
        return number_cell(b, k, row);
    }
    return table_plain(text ? text : "-");
}

#define OF_ROW(member)     offsetof(struct result_row, member)
#define OF_SUMMARY(member) offsetof(struct summary, member)

static const struct kind of_rows[] = {
    {"diff", "diff", COMPARED, FORM_DIFF},
    {"diff_text", "and text", COMPARED, FORM_HALF, OF_SUMMARY(diff.text_half)},
    {"p", "p", COMPARED, FORM_TESTED_P, OF_SUMMARY(diff.p)},
    {"p_holm", "p_holm", COMPARED, FORM_TESTED_P, OF_SUMMARY(diff.p_holm)},
    {"p_t", "p_t", COMPARED, FORM_P, OF_SUMMARY(diff.p_t_holm)},
    {"g_z", "g_z", COMPARED, FORM_EFFECT, OF_SUMMARY(diff.gz)},
    {"d_z", "d_z", COMPARED, FORM_EFFECT, OF_SUMMARY(diff.dz)},
    {"pairs", "pairs", COMPARED, FORM_PAIRS},
    {"chosen", "chosen", COUNTED, FORM_CHOSEN, .left = true},
    {"n", "n", COUNTED, FORM_N},
    {"steps", "steps", COUNTED, FORM_STEPS},
    {"stopped", "stopped", COUNTED, FORM_COUNTED, OF_ROW(stopped)},
    {"missing", "missing", COUNTED, FORM_COUNTED, OF_ROW(missing)},
    {"failed", "failed", COUNTED, FORM_COUNTED, OF_ROW(failed)},
    {"diverged", "diverged", COUNTED, FORM_COUNTED, OF_ROW(diverged)},
    {"stale", "stale", COUNTED, FORM_COUNTED, OF_ROW(stale)},
    {"damaged", "damaged", COUNTED, FORM_COUNTED, OF_ROW(damaged)},
    {"attention", "attention", COST, FORM_ATTENTION, .left = true},
};
enum { OF_ROWS = sizeof(of_rows) / sizeof(*of_rows), KINDS = OF_ROWS + QUANTITIES };

struct chosen {
    const struct kind *kind; /* NULL: the metric */
    int length;
};

struct choice {
    int n_kind;
    struct kind kind[KINDS]; /* kinds to choose from   */
    int n;
    struct chosen item[RESULTS_MAX_LENGTHS + KINDS];
};

static void list_kinds(struct choice *c)
{
    memcpy(c->kind, of_rows, sizeof(of_rows));
    c->n_kind = OF_ROWS;
    for (size_t i = 0; i < QUANTITIES; i++)
        if (quantities[i].column)
            c->kind[c->n_kind++] = (struct kind){.word = quantities[i].column,
                                                 .head = quantities[i].head,
                                                 .group = COST,
                                                 .form = quantities[i].form,
                                                 .at = OF_ROW(q) + i * sizeof(double)};
}

const char *table_column_word(int i)
{
    struct choice c = {.n = 0};
    list_kinds(&c);
    return i < c.n_kind ? c.kind[i].word : NULL;
}

static void choice_add(struct choice *c, const struct kind *kind, int length)
{
    for (int i = 0; i < c->n; i++)
        if (c->item[i].kind == kind && c->item[i].length == length)
            return;
    c->item[c->n++] = (struct chosen){kind, length};
}

static const struct kind *find_kind(const struct choice *c, const char *word)
{
    for (int i = 0; i < c->n_kind; i++)
        if (strcmp(c->kind[i].word, word) == 0)
            return &c->kind[i];
    return NULL;
}

static void add_kind(struct choice *c, const char *word)
{
    choice_add(c, find_kind(c, word), -1);
}

/* The rows whose seeds can make a difference significant, and those whose seeds cannot. */
static void count_testable(const struct builder *b, int *can, int *cannot)
{
    *can = *cannot = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        const struct summary *s = &b->r->row[i].at[b->length];
        bool shows = paired_can_show(b->r->test, s->pairs.n, b->r->comparisons[b->length]);
        *can += !isnan(s->diff.p) && shows;
        *cannot += !isnan(s->diff.p) && !shows;
    }
}

static void cost_columns(const struct builder *b, struct choice *c)
{
    static const char *const cost[] = {"params", "positional", "frozen", "flops",    "tokens",
                                       "memory", "wall",       "eval",   "attention"};
    if (results_have(b->r, Q_INPUT_RATIO_START)) {
        add_kind(c, "ratio_start");
        add_kind(c, "ratio");
    }
    for (size_t i = 0; i < sizeof(cost) / sizeof(*cost); i++)
        if (strcmp(cost[i], "frozen") != 0 || results_have(b->r, Q_PARAMS_FROZEN))
            add_kind(c, cost[i]);
}

/* All columns with `whole`, otherwise those that fit one screen: p_t replaces a p_holm that no row
 * can have, and n is left out where the title says it. */
static void usual_columns(const struct builder *b, struct choice *c)
{
    const bool whole = b->o->whole, compared = b->r->baseline_text && b->length >= 0;
    bool failed = false, diverged = false, stopped = false;
    int can = 0, cannot = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        failed = failed || b->r->row[i].failed;
        stopped = stopped || b->r->row[i].stopped;
        diverged = diverged || b->r->row[i].diverged;
    }
    if (compared)
        count_testable(b, &can, &cannot);
    const struct {
        const char *word;
        bool shown;
    } after_metric[] = {{"diff", compared},
                        {"p_holm", compared && (can || !cannot || whole)},
                        {"p_t", cannot > 0},
                        {"g_z", compared && whole},
                        {"n", !table_seeds(b) || whole},
                        {"steps", stopped},
                        {"stopped", stopped},
                        {"failed", failed},
                        {"diverged", diverged}};
    if (b->r->best_over)
        add_kind(c, "chosen");
    for (int l = 0; l < b->r->n_length; l++)
        choice_add(c, NULL, l);
    for (size_t i = 0; i < sizeof(after_metric) / sizeof(*after_metric); i++)
        if (after_metric[i].shown)
            add_kind(c, after_metric[i].word);
    if (whole)
        cost_columns(b, c);
}

static bool no_column(struct builder *b, const struct choice *c, const char *word)
{
    const char *name[KINDS + 2] = {"metric"};
    const char *known = "metric (or metric@LENGTH)";
    for (int i = 0; i < c->n_kind; i++) {
        name[i + 1] = c->kind[i].word;
        known = arena_printf(b->a, "%s, %s", known, c->kind[i].word);
    }
    name[c->n_kind + 1] = "cost";
    error_set(b->err, PEAT_INVALID, "--columns: there is no '%s'; there are %s, cost", word, known);
    error_add_nearest(b->err, word, name, c->n_kind + 2);
    return false;
}

/* "metric", the metric's own name, or either with "@LENGTH". */
static bool add_metric(const struct builder *b, struct choice *c, const char *word)
{
    size_t n = strcspn(word, "@"), own = strlen(b->r->metric);
    bool named = (n == 6 && memcmp(word, "metric", 6) == 0) ||
                 (n == own && memcmp(word, b->r->metric, n) == 0);
    bool found = false;
    for (int l = 0; named && l < b->r->n_length; l++) {
        char length[24];
        snprintf(length, sizeof(length), "%" PRId64, b->r->length[l]);
        if (word[n] && strcmp(word + n + 1, length) != 0)
            continue;
        choice_add(c, NULL, l);
        found = true;
    }
    return found || (named && !word[n]);
}

static bool read_columns(struct builder *b, struct choice *c)
{
    const char *list = b->o->columns;
    for (const char *word; (word = list_next(b->a, &list, ','));) {
        const struct kind *kind = find_kind(c, word);
        if (strcmp(word, "cost") == 0) {
            cost_columns(b, c);
            continue;
        }
        if (kind && kind->group == COMPARED && !b->r->baseline_text)
            return error_fail(b->err, PEAT_INVALID,
                              "--columns: '%s' needs a baseline: say --baseline ROW", word);
        if (kind && (kind->group != COMPARED || b->length >= 0))
            choice_add(c, kind, -1);
        else if (!kind && !add_metric(b, c, word))
            return no_column(b, c, word);
    }
    return true;
}

/* ---- heads and rows ---- */

static const char *head_of(struct builder *b, const struct chosen *c)
{
    bool at_length = !c->kind || strcmp(c->kind->word, "diff") == 0;
    if (!at_length)
        return c->kind->head;
    int length = c->kind ? b->length : c->length;
    return arena_printf(b->a, "%s@%" PRId64, c->kind ? c->kind->head : b->r->metric,
                        b->r->length[length]);
}

static void list_add_heads(struct builder *b, const struct choice *c)
{
    struct table *t = b->t;
    int costs = c->n; /* the costs after all other columns get a block of their own */
    while (costs > 0 && c->item[costs - 1].kind && c->item[costs - 1].kind->group == COST)
        costs--;
    for (int i = 0; i < b->r->n_axis; i++)
        table_column(t, results_axis_name(b->r, b->axis[i]), false);
    t->n_label = t->n_column;
    for (int i = 0; i < c->n; i++) {
        const struct kind *kind = c->item[i].kind;
        if (i == costs)
            t->first_cost = t->n_column;
        table_column(t, head_of(b, &c->item[i]), !kind || !kind->left);
    }
}

static void list_add_row(struct builder *b, const struct choice *c, const struct result_row *row)
{
    for (int i = 0; i < b->r->n_axis; i++)
        table_text(b->t, row->axis[b->axis[i]]);
    for (int i = 0; i < c->n; i++) {
        const struct kind *kind = c->item[i].kind;
        table_cell(b->t,
                   kind ? cell_of(b, kind, row) : table_metric_cell(b, row, c->item[i].length));
    }
}

bool table_list(struct builder *b)
{
    struct choice c = {.n = 0};
    list_kinds(&c);
    if (b->o->columns && !read_columns(b, &c))
        return false;
    if (!b->o->columns)
        usual_columns(b, &c);
    list_add_heads(b, &c);
    for (int i = 0; i < b->r->n_row; i++)
        list_add_row(b, &c, &b->r->row[b->order[i]]);
    return true;
}
