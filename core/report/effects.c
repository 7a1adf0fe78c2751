/* SPDX-License-Identifier: MIT */
/* effects.c: computes a contrast. */
#include "report/effects.h"

/* ---- rows ---- */

struct labelled results_labels(const struct results *r, struct arena *a)
{
    const char *const **label = ARENA_ARRAY(a, r->n_row, const char *const *);
    for (int i = 0; i < r->n_row; i++)
        label[i] = r->row[i].axis;
    return (struct labelled){r->n_axis, r->n_row, r->axis, label};
}

/* "learned.sum": the labels of a map axis -> label. */
static const char *labels_text(const struct value *map, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < map->n; i++)
        text = list_add(a, text, ".", map->item[i]->text);
    return text ? text : "-";
}

const char *effects_what(const struct effects *x, struct arena *a)
{
    const struct results *r = x->r;
    if (x->spec.factor >= 0)
        return arena_printf(a, "%s: %s - %s", results_axis_name(r, x->spec.factor),
                            x->spec.label[0], x->spec.label[1]);
    if (x->pairs.n == 0)
        return arena_printf(a, "%s - %s", labels_text(x->spec.side->item[0], a),
                            labels_text(x->spec.side->item[1], a));
    return arena_printf(a, "%s - %s", results_row_label(r, &r->row[x->pairs.pair[0].a], a),
                        results_row_label(r, &r->row[x->pairs.pair[0].b], a));
}

static void leave_other_tasks(struct effects *x)
{
    int kept = 0;
    for (int i = 0; i < x->pairs.n; i++) {
        const struct contrast_pair *p = &x->pairs.pair[i];
        if (x->r->row[p->a].task == x->r->row[p->b].task)
            x->pairs.pair[kept++] = *p;
    }
    x->n_other_task = x->pairs.n - kept;
    x->pairs.n = kept;
}

static bool are_of_one_task(const struct effects *x, const bool *in)
{
    int task = -1;
    for (int i = 0; i < x->pairs.n; i++) {
        int own = x->r->row[x->pairs.pair[i].a].task;
        if (in[i] && task >= 0 && own != task)
            return false;
        task = in[i] ? own : task;
    }
    return true;
}

/* ---- values ---- */

static double value_of(const struct effects *x, const struct result_cell *c)
{
    const struct measured *m = cell_measure(c, x->metric, x->split, x->length);
    return m ? m->value : (double)NAN;
}

/* The shortest length in the first directory, which has contrasts and claims, or else in all. */
static int64_t first_length(const struct effects *x, bool all)
{
    int64_t first = -1;
    for (int i = 0; i < x->r->n_cell; i++) {
        if (!all && x->r->cell[i].directory > 0)
            continue;
        const struct measured *m = cell_measure(&x->r->cell[i], x->metric, x->split, -1);
        if (m && (first < 0 || m->length < first))
            first = m->length;
    }
    return first < 0 && !all ? first_length(x, true) : first;
}

static void choose_measure(struct effects *x, int64_t length)
{
    const struct results *r = x->r;
    bool own = x->spec.metric && strcmp(x->spec.metric, r->metric) != 0;
    x->metric = own ? x->spec.metric : r->metric;
    x->split = r->split;
    x->goal_max = r->goal_max;
    int known = results_metric(r, x->metric);
    if (own && known >= 0) {
        x->goal_max = r->known[known].goal_max;
        x->split = r->known[known].split ? r->known[known].split : x->split;
    }
    x->length = x->spec.length >= 0 ? x->spec.length
                : length >= 0       ? length
                                    : first_length(x, false);
}

/* ---- differences ---- */

/* A diverged row counts as infinitely bad. */
static double difference(struct effects *x, const struct result_cell *a,
                         const struct result_cell *b)
{
    double worst = x->goal_max ? -(double)INFINITY : (double)INFINITY;
    if (!a || !b)
        return (double)NAN;
    if (a->state == CELL_DIVERGED && result_counts(b))
        return worst;
    if (b->state == CELL_DIVERGED && result_counts(a))
        return -worst;
    double p = result_counts(a) ? value_of(x, a) : (double)NAN;
    double q = result_counts(b) ? value_of(x, b) : (double)NAN;
    return isfinite(p) && isfinite(q) && pair_holds(a, b, &x->counted) ? p - q : (double)NAN;
}

static void count_unfinished(struct effects *x, struct arena *a)
{
    bool *seen = ARENA_ARRAY(a, x->r->n_row, bool);
    for (int i = 0; i < 2 * x->pairs.n; i++) {
        int row = i % 2 ? x->pairs.pair[i / 2].b : x->pairs.pair[i / 2].a;
        for (int k = 0; !seen[row] && k < x->r->row[row].n_cell; k++) {
            const struct result_cell *c = x->r->row[row].cell[k];
            bool counts = integers_hold(x->r->seed, x->r->n_seed, c->seed);
            bool failed = cell_has_failed(c->state);
            x->unfinished +=
                counts && !cell_has_ended(c->state) && !failed && c->state != CELL_DECIDED;
            x->failed += counts && failed;
        }
        seen[row] = true;
    }
}

static void fill_differences(struct effects *x, struct arena *a)
{
    const struct results *r = x->r;
    x->d = ARENA_ARRAY(a, (int64_t)r->n_seed * x->pairs.n, double);
    for (int s = 0; s < r->n_seed; s++)
        for (int j = 0; j < x->pairs.n; j++) {
            const struct contrast_pair *p = &x->pairs.pair[j];
            x->d[s * x->pairs.n + j] = difference(x, row_cell(&r->row[p->a], r->seed[s]),
                                                  row_cell(&r->row[p->b], r->seed[s]));
        }
}

struct effects effects_of_rows(const struct results *r, const struct result_row *x,
                               const struct result_row *y, int length, struct arena *a)
{
    struct contrast_pair *pair = ARENA_NEW(a, struct contrast_pair);
    *pair = (struct contrast_pair){.a = (int)(x - r->row), .b = (int)(y - r->row)};
    struct effects of = {.spec.factor = -1,
                         .r = r,
                         .metric = r->metric,
                         .split = r->split,
                         .goal_max = r->goal_max,
                         .length = r->length[length],
                         .pairs = {.n = 1, .pair = pair}};
    fill_differences(&of, a);
    return of;
}

/* ---- effects ---- */

static bool both_diverged(const struct effects *x, int pair, int64_t seed)
{
    const struct contrast_pair *p = &x->pairs.pair[pair];
    const struct result_cell *a = row_cell(&x->r->row[p->a], seed);
    const struct result_cell *b = row_cell(&x->r->row[p->b], seed);
    return a && b && a->state == CELL_DIVERGED && b->state == CELL_DIVERGED;
}

static void count_diverged(const struct effects *x, const bool *in, struct effect *e)
{
    for (int s = 0; s < x->r->n_seed; s++) {
        bool a = false, b = false, both = false;
        for (int j = 0; j < x->pairs.n; j++) {
            double d = x->d[s * x->pairs.n + j];
            bool infinite = in[j] && isinf(d);
            a = a || (infinite && (d > 0.0) != x->goal_max);
            b = b || (infinite && (d > 0.0) == x->goal_max);
            both = both || (in[j] && both_diverged(x, j, x->r->seed[s]));
        }
        e->a_diverged += a;
        e->b_diverged += b;
        e->both_diverged += both;
    }
}

struct effect effect_of_seeds(const struct effects *x, const bool *in, const double *weight,
                              const double *of_seed, const char *name, struct arena *a)
{
    struct effect e = {.name = name, .d = ARENA_ARRAY(a, x->r->n_seed, double)};
    int64_t *seed = ARENA_ARRAY(a, x->r->n_seed, int64_t);
    int n = 0;
    for (int s = 0; are_of_one_task(x, in) && s < x->r->n_seed; s++)
        if (!isnan(of_seed[s])) {
            seed[n] = x->r->seed[s];
            e.d[n++] = of_seed[s];
        }
    for (int j = 0; j < x->pairs.n; j++)
        e.n_stratum += in[j];
    e.of = difference_of(e.d, n, x->r->test);
    difference_add_text(&e.of, x, weight, seed);
    count_diverged(x, in, &e);
    return e;
}

static struct effect effect_over(const struct effects *x, const bool *in, const char *name,
                                 struct arena *a)
{
    double *mean = ARENA_ARRAY(a, x->r->n_seed, double);
    double *weight = ARENA_ARRAY(a, x->pairs.n, double), strata = 0.0;
    strata_means(x->d, x->r->n_seed, x->pairs.n, in, mean);
    for (int j = 0; j < x->pairs.n; j++)
        strata += in[j];
    for (int j = 0; j < x->pairs.n; j++)
        weight[j] = in[j] ? 1.0 / strata : 0.0;
    return effect_of_seeds(x, in, weight, mean, name, a);
}

struct difference effects_difference(const struct effects *x, struct arena *a)
{
    return effect_over(x, (bool[]){true}, "", a).of;
}

/* ---- effects over axes ---- */

static bool same_setting(const struct effects *x, int i, int j, const bool *axes)
{
    const struct contrast_pair *pair = x->pairs.pair;
    return labels_alike(x->r->n_axis, pair[i].label, pair[j].label, axes, true);
}

/* The first pair of each setting of these axes, in row order; returns their number. */
static int find_settings(const struct effects *x, const bool *axes, int *first)
{
    int n = 0;
    for (int i = 0; i < x->pairs.n; i++) {
        int j = 0;
        while (j < n && !same_setting(x, i, first[j], axes))
            j++;
        if (j == n)
            first[n++] = i;
    }
    return n;
}

/* Computes one effect for each setting of these axes, in row order; returns their number. */
static int split(const struct effects *x, const bool *axes, struct effect *out, struct arena *a)
{
    bool *in = ARENA_ARRAY(a, x->pairs.n, bool);
    int *first = ARENA_ARRAY(a, x->pairs.n, int), n = find_settings(x, axes, first);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < x->pairs.n; j++)
            in[j] = same_setting(x, first[i], j, axes);
        const char *name = NULL;
        for (int k = 0; k < x->r->n_axis; k++)
            if (axes[k])
                name = arena_item(a, name, "%s", x->pairs.pair[first[i]].label[k]);
        out[i] = effect_over(x, in, name ? name : "all", a);
    }
    return n;
}

/* Tests the means over all other axes, for each label of the axis. */
static void test_interaction(struct effects *x, int axis, const bool *one, struct arena *a)
{
    const int n_seed = x->r->n_seed, n = x->pairs.n;
    bool *in = ARENA_ARRAY(a, n, bool);
    double *level = ARENA_ARRAY(a, (int64_t)n_seed * n, double);
    double *mean = ARENA_ARRAY(a, n_seed, double);
    int *first = ARENA_ARRAY(a, n, int), k = find_settings(x, one, first);
    if (k < 2)
        return;
    for (int at = 0; at < k; at++) {
        for (int j = 0; j < n; j++)
            in[j] = same_setting(x, first[at], j, one);
        strata_means(x->d, n_seed, n, in, mean);
        for (int s = 0; s < n_seed; s++)
            level[s * k + at] = mean[s];
    }
    struct effect_interaction *out = &x->interaction[x->n_interaction++];
    out->axis = axis;
    interaction_test(level, n_seed, k, &out->test);
}

static void fill_effects(struct effects *x, struct arena *a)
{
    int shown = 0;
    bool *all = ARENA_ARRAY(a, x->pairs.n, bool);
    x->line = ARENA_ARRAY(a, x->pairs.n, struct effect);
    x->margin = ARENA_ARRAY(a, (int64_t)x->pairs.n * x->r->n_axis, struct effect);
    x->interaction = ARENA_ARRAY(a, x->r->n_axis, struct effect_interaction);
    x->n_line = split(x, x->spec.over, x->line, a);
    struct difference **line = ARENA_ARRAY(a, x->n_line, struct difference *);
    for (int i = 0; i < x->n_line; i++)
        line[i] = &x->line[i].of;
    differences_adjust(line, x->n_line, a);
    for (int j = 0; j < x->pairs.n; j++)
        all[j] = true;
    if (!are_of_one_task(x, all))
        x->not_pooled = "rows of different tasks, objectives or rules of stopping have no mean";
    x->pooled = effect_over(x, all, "pooled", a);
    for (int k = 0; k < x->r->n_axis; k++)
        shown += x->spec.over[k];
    for (int k = 0; !x->not_pooled && k < x->r->n_axis; k++) {
        bool one[EXPERIMENT_MAX_AXES] = {[0] = false};
        if (!x->spec.over[k])
            continue;
        one[k] = true;
        struct effect *margin = x->margin + x->n_margin;
        int n = shown > 1 ? split(x, one, margin, a) : 0;
        for (int i = 0; i < n; i++)
            margin[i].name = arena_printf(a, "%s=%s", results_axis_name(x->r, k), margin[i].name);
        x->n_margin += n;
        test_interaction(x, k, one, a);
    }
}

void effects_compute(struct effects *x, const struct results *r, const struct contrast *c,
                     int64_t length, struct arena *a)
{
    struct labelled rows = results_labels(r, a);
    *x = (struct effects){.spec = *c, .r = r};
    choose_measure(x, length);
    contrast_pairs_find(c, &rows, a, &x->pairs);
    leave_other_tasks(x);
    fill_differences(x, a);
    count_unfinished(x, a);
    fill_effects(x, a);
}

int effects_list(const struct effects *x, struct listed_effect **list, struct arena *a)
{
    int n = 0, tested = 0;
    *list = ARENA_ARRAY(a, x->n_line + x->n_margin + 1, struct listed_effect);
    for (int i = 0; i < x->n_line; i++)
        tested += !isnan(x->line[i].of.p);
    for (int i = 0; i < x->n_line; i++)
        (*list)[n++] = (struct listed_effect){&x->line[i], "line", tested};
    for (int i = 0; i < x->n_margin; i++)
        (*list)[n++] = (struct listed_effect){&x->margin[i], "margin", 1};
    if (!x->not_pooled && x->n_line > 1)
        (*list)[n++] = (struct listed_effect){&x->pooled, "pooled", 1};
    return n;
}

bool effects_cross_engines(const struct effects *x)
{
    for (int i = 0; i < x->pairs.n; i++)
        if (result_rows_cross_engines(&x->r->row[x->pairs.pair[i].a],
                                      &x->r->row[x->pairs.pair[i].b]))
            return true;
    return false;
}

bool effects_have_pairs(const struct effects *x)
{
    bool any = false;
    for (int i = 0; i < x->n_line; i++)
        any = any || x->line[i].of.n > 0;
    return any;
}

/* ---- contrasts of the report ---- */

int effects_count(const struct results *r)
{
    return r->contrasts ? r->contrasts->n : 0;
}

peat_status effects_of_report(struct effects *x, const struct results *r, int i, int64_t length,
                              struct arena *a, struct error *err)
{
    struct contrast c;
    struct labelled rows = results_labels(r, a);
    peat_status status = contrast_from_value(&c, r->contrasts->item[i], &rows, err);
    if (status == PEAT_OK)
        effects_compute(x, r, &c, length, a);
    return status;
}
