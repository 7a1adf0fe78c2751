/* SPDX-License-Identifier: MIT */
/* table_columns.c: the columns of a table with a row for each setting. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/numbers.h"
#include "report/selector.h"
#include "table_builder.h"

/* ---- cells ---- */

/* What stands behind the mean. */
static double spread_of(const struct builder *b, double sd, double ci_half, int n)
{
    switch (b->o->err) {
    case SPREAD_SD:
        return sd;
    case SPREAD_SE:
        return sd / sqrt(n);
    default:
        return ci_half;
    }
}

static struct table_cell number_cell(struct builder *b, const char *fmt, double x)
{
    strbuf_addf(&b->text, isfinite(x) ? fmt : "-", x);
    return table_plain(builder_keep(b));
}

static struct table_cell int_cell(struct builder *b, int n)
{
    strbuf_addf(&b->text, "%d", n);
    return table_plain(builder_keep(b));
}

static struct table_cell count_cell(struct builder *b, double x)
{
    number_count(&b->text, x);
    return table_plain(builder_keep(b));
}

static struct table_cell p_cell(struct builder *b, double p)
{
    number_p(&b->text, p);
    return table_plain(builder_keep(b));
}

static int digits_of(const struct builder *b)
{
    return b->o->digits > 0 ? b->o->digits : 2;
}

struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length)
{
    const struct summary *s = &row->at[length];
    double spread = spread_of(b, s->sd, s->ci_high - s->mean, s->n);
    number_spread(&b->text, s->mean, spread, digits_of(b), false);
    bool strong = row->best[length] && b->r->n_row > 1;
    b->t->any_strong = b->t->any_strong || strong;
    return (struct table_cell){builder_keep(b), s->untrained ? "u" : "", strong};
}

static struct table_cell diff_cell(struct builder *b, const struct result_row *row)
{
    const struct summary *s = &row->at[b->length];
    if (row->baseline == (int)(row - b->r->row))
        return table_plain("baseline");
    if (s->pairs.n == 0 && pairs_refused(&s->pairs))
        return table_plain("unpaired");
    double spread = spread_of(b, s->diff_sd, s->diff_ci_high - s->diff, s->pairs.n);
    number_spread(&b->text, s->diff, spread, digits_of(b), true);
    return table_plain(builder_keep(b));
}

static struct table_cell raw_p_cell(struct builder *b, const struct result_row *row)
{
    return p_cell(b, row->at[b->length].p);
}

static struct table_cell holm_cell(struct builder *b, const struct result_row *row)
{
    return p_cell(b, row->at[b->length].p_holm);
}

static struct table_cell dz_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, "%+.2f", row->at[b->length].dz);
}

static struct table_cell gz_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, "%+.2f", row->at[b->length].gz);
}

static struct table_cell pairs_cell(struct builder *b, const struct result_row *row)
{
    const struct pairs *p = &row->at[b->length].pairs;
    int refused = pairs_refused(p);
    strbuf_addf(&b->text, refused ? "%d/%d" : "%d", p->n, p->n + refused);
    return table_plain(builder_keep(b));
}

static struct table_cell n_cell(struct builder *b, const struct result_row *row)
{
    int n = b->length >= 0 ? row->at[b->length].n : 0;
    strbuf_addf(&b->text, n == row->n_cell ? "%d" : "%d/%d", n, row->n_cell);
    return table_plain(builder_keep(b));
}

static struct table_cell missing_cell(struct builder *b, const struct result_row *row)
{
    return int_cell(b, row->missing);
}

static struct table_cell failed_cell(struct builder *b, const struct result_row *row)
{
    return int_cell(b, row->failed);
}

static struct table_cell diverged_cell(struct builder *b, const struct result_row *row)
{
    return int_cell(b, row->diverged);
}

static struct table_cell stale_cell(struct builder *b, const struct result_row *row)
{
    return int_cell(b, row->stale);
}

static struct table_cell params_cell(struct builder *b, const struct result_row *row)
{
    return count_cell(b, row->params);
}

static struct table_cell positional_cell(struct builder *b, const struct result_row *row)
{
    return count_cell(b, row->params_positional);
}

static struct table_cell flops_cell(struct builder *b, const struct result_row *row)
{
    return count_cell(b, row->flops_per_token);
}

static struct table_cell tokens_cell(struct builder *b, const struct result_row *row)
{
    return count_cell(b, row->tokens_per_s);
}

static struct table_cell step_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, "%.3g", row->step_ms_median);
}

static struct table_cell memory_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, "%.0f", row->peak_rss_kib / 1024.0);
}

static struct table_cell wall_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, row->wall_s < 100.0 ? "%.1f" : "%.0f", row->wall_s);
}

static struct table_cell cpu_cell(struct builder *b, const struct result_row *row)
{
    return number_cell(b, row->cpu_s < 100.0 ? "%.1f" : "%.0f", row->cpu_s);
}

static struct table_cell attention_cell(struct builder *b, const struct result_row *row)
{
    (void)b;
    return table_plain(row->attention_path ? row->attention_path : "-");
}

/* ---- kinds ---- */

enum group { COMPARED, COUNTED, COST };

static const struct kind {
    const char *word, *head; /* as --columns has it, and as the table has */
    enum group group;
    bool left;
    struct table_cell (*cell)(struct builder *b, const struct result_row *row);
} kinds[] = {
    {"diff", "diff", COMPARED, false, diff_cell},
    {"p", "p", COMPARED, false, raw_p_cell},
    {"p_holm", "p_holm", COMPARED, false, holm_cell},
    {"g_z", "g_z", COMPARED, false, gz_cell},
    {"d_z", "d_z", COMPARED, false, dz_cell},
    {"pairs", "pairs", COMPARED, false, pairs_cell},
    {"n", "n", COUNTED, false, n_cell},
    {"missing", "missing", COUNTED, false, missing_cell},
    {"failed", "failed", COUNTED, false, failed_cell},
    {"diverged", "diverged", COUNTED, false, diverged_cell},
    {"stale", "stale", COUNTED, false, stale_cell},
    {"params", "params", COST, false, params_cell},
    {"positional", "pos.params", COST, false, positional_cell},
    {"flops", "FLOPs/tok", COST, false, flops_cell},
    {"tokens", "tok/s", COST, false, tokens_cell},
    {"step", "step ms", COST, false, step_cell},
    {"memory", "peak MiB", COST, false, memory_cell},
    {"wall", "wall s", COST, false, wall_cell},
    {"cpu", "cpu s", COST, false, cpu_cell},
    {"attention", "attention", COST, true, attention_cell},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* A column of the table: the metric at a length, or one of the kinds. */
struct column {
    const struct kind *kind; /* NULL: the metric */
    int length;
};

struct columns {
    int n;
    struct column item[RESULTS_MAX_LENGTHS + KINDS];
};

static void add(struct columns *c, const struct kind *kind, int length)
{
    for (int i = 0; i < c->n; i++)
        if (c->item[i].kind == kind && c->item[i].length == length)
            return;
    c->item[c->n++] = (struct column){kind, length};
}

static const struct kind *find_kind(const char *word, size_t n)
{
    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i].word) == n && memcmp(kinds[i].word, word, n) == 0)
            return &kinds[i];
    return NULL;
}

static void add_kind(struct columns *c, const char *word)
{
    add(c, find_kind(word, strlen(word)), -1);
}

static void usual_columns(const struct builder *b, struct columns *c)
{
    static const char *const cost[] = {"params", "positional", "flops",    "tokens",
                                       "memory", "wall",       "attention"};
    bool failed = false, diverged = false;
    for (int i = 0; i < b->r->n_row; i++) {
        failed = failed || b->r->row[i].failed;
        diverged = diverged || b->r->row[i].diverged;
    }
    for (int l = 0; l < b->r->n_length; l++)
        add(c, NULL, l);
    if (b->r->baseline_text && b->length >= 0) {
        add_kind(c, "diff");
        add_kind(c, "p_holm");
        add_kind(c, "g_z");
    }
    add_kind(c, "n");
    if (failed)
        add_kind(c, "failed");
    if (diverged)
        add_kind(c, "diverged");
    for (size_t i = 0; i < sizeof(cost) / sizeof(*cost); i++)
        add_kind(c, cost[i]);
}

static peat_status no_column(struct builder *b, const char *word)
{
    const char *name[KINDS + 1] = {"metric"};
    strbuf_add(&b->text, "metric (or metric@LENGTH)");
    for (int i = 0; i < KINDS; i++) {
        name[i + 1] = kinds[i].word;
        strbuf_addf(&b->text, ", %s", kinds[i].word);
    }
    const char *near = nearest_name(word, name, KINDS + 1);
    return error_set(b->err, PEAT_INVALID, "--columns: there is no '%s'; there are %s%s%s%s", word,
                     builder_keep(b), near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

/* "metric", the metric's own name, or either with "@LENGTH". */
static bool add_metric(const struct builder *b, struct columns *c, const char *word)
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
        add(c, NULL, l);
        found = true;
    }
    return found || (named && !word[n]);
}

static peat_status read_columns(struct builder *b, struct columns *c)
{
    for (const char *at = b->o->columns; *at;) {
        size_t n = strcspn(at, ",");
        strbuf_add_bytes(&b->text, at, n);
        const char *word = builder_keep(b);
        const struct kind *kind = find_kind(word, n);
        if (kind && kind->group == COMPARED && !b->r->baseline_text)
            return error_set(b->err, PEAT_INVALID,
                             "--columns: '%s' needs a baseline: say --baseline ROW", word);
        if (kind && (kind->group != COMPARED || b->length >= 0))
            add(c, kind, -1);
        else if (!kind && !add_metric(b, c, word))
            return no_column(b, word);
        at += n + (at[n] == ',');
    }
    return PEAT_OK;
}

/* ---- heads and rows ---- */

static const char *head_of(struct builder *b, const struct column *c)
{
    bool at_length = !c->kind || strcmp(c->kind->word, "diff") == 0;
    if (!at_length)
        return c->kind->head;
    int length = c->kind ? b->length : c->length;
    strbuf_addf(&b->text, "%s@%" PRId64, c->kind ? c->kind->head : b->r->metric,
                b->r->length[length]);
    return builder_keep(b);
}

static void add_heads(struct builder *b, const struct columns *c)
{
    struct table *t = b->t;
    for (int i = 0; i < b->r->n_axis; i++)
        t->column[t->n_column++] =
            (struct table_column){results_axis_name(b->r, b->axis[i]), false};
    t->n_label = t->n_column;
    for (int i = 0; i < c->n; i++) {
        const struct kind *kind = c->item[i].kind;
        if (kind && kind->group == COST && !b->o->columns && !t->first_cost)
            t->first_cost = t->n_column;
        t->column[t->n_column++] =
            (struct table_column){head_of(b, &c->item[i]), !kind || !kind->left};
    }
}

static void fill_row(struct builder *b, const struct columns *c, const struct result_row *row,
                     struct table_cell *cell)
{
    for (int i = 0; i < b->r->n_axis; i++)
        *cell++ = table_plain(row->axis[b->axis[i]]);
    for (int i = 0; i < c->n; i++)
        *cell++ = c->item[i].kind ? c->item[i].kind->cell(b, row)
                                  : table_metric_cell(b, row, c->item[i].length);
}

peat_status table_list(struct builder *b)
{
    struct table *t = b->t;
    struct columns c = {.n = 0};
    peat_status status = PEAT_OK;
    if (b->o->columns)
        status = read_columns(b, &c);
    else
        usual_columns(b, &c);
    if (status != PEAT_OK)
        return status;
    t->column = builder_room(b, b->r->n_axis + c.n, sizeof(*t->column));
    add_heads(b, &c);
    t->n_row = b->r->n_row;
    t->cell = builder_room(b, (int64_t)t->n_row * t->n_column, sizeof(*t->cell));
    for (int i = 0; i < t->n_row; i++)
        fill_row(b, &c, &b->r->row[b->order[i]], t->cell + (int64_t)i * t->n_column);
    return PEAT_OK;
}
