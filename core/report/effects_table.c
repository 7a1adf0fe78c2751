/* SPDX-License-Identifier: MIT */
/* effects_table.c: a contrast as a table, as JSON and as CSV. */

#include "report/comparison_tables.h"
#include "report/numbers.h"

/* ---- notes ---- */

static void note_interactions(struct table *t, const struct effects *x)
{
    for (int i = 0; i < x->n_interaction; i++) {
        const struct interaction *s = &x->interaction[i].test;
        const char *axis = results_axis_name(x->r, x->interaction[i].axis);
        if (isnan(s->p)) {
            table_note(t, "interaction with %s: not testable: %d complete seed%s, or no spread",
                       axis, s->n, plural(s->n));
            continue;
        }
        table_note(t,
                   "interaction: that the difference depends on %s is %s: F(%.3g, %.3g) = %.3g, p "
                   "= %s over %d seeds",
                   axis, s->p < STATS_LEVEL ? "shown" : "not shown", s->epsilon * s->df1,
                   s->epsilon * s->df2, s->f, number_p(t->arena, s->p), s->n);
    }
}

static void note_alone(struct table *t, const struct effects *x)
{
    for (int same = 1; same >= 0; same--) {
        const char *rows = NULL;
        for (int i = 0; i < x->pairs.n_alone; i++) {
            const struct contrast_alone *alone = &x->pairs.alone[i];
            if (alone->same_model != (same != 0))
                continue;
            rows = arena_item(t->arena, rows, "%s",
                              results_row_label(x->r, &x->r->row[alone->row], t->arena));
        }
        if (rows && same)
            table_note_method(t, "left out, being the same model for every %s: %s",
                              results_axis_name(x->r, x->spec.factor), rows);
        else if (rows)
            table_note(t, "left out, having no counterpart: %s", rows);
    }
    if (x->n_other_task)
        table_note(t,
                   "left out: %d pair%s of rows of different tasks, metrics, objectives or rules "
                   "of stopping",
                   x->n_other_task, plural(x->n_other_task));
    if (effects_cross_engines(x))
        table_note(t, "there are " ENGINES_CROSSED);
    if (x->not_pooled)
        table_note(t, "not pooled: %s", x->not_pooled);
}

static void note_diverged(struct table *t, const struct effects *x)
{
    struct arena *a = t->arena;
    bool two = x->spec.factor < 0 && x->pairs.n;
    for (int side = 0; side < 2; side++) {
        int n = side ? x->pooled.b_diverged : x->pooled.a_diverged;
        const struct contrast_pair *p = x->pairs.pair;
        const char *name =
            two ? results_row_label(x->r, &x->r->row[side ? p->b : p->a], a) : x->spec.label[side];
        if (n)
            table_note(
                t, "%s diverged at %d seed%s, left out of its mean, which therefore looks too good",
                name, n, plural(n));
    }
    if (x->pooled.both_diverged)
        table_note(t, "both diverged at %d seed%s, which have no difference",
                   x->pooled.both_diverged, plural(x->pooled.both_diverged));
    if (x->unfinished)
        table_note(t, "%d cell%s of these rows not finished", x->unfinished, plural(x->unfinished));
}

static void note_tests(struct table *t, const struct effects *x, int lines, bool with_t)
{
    table_note_method(
        t, "paired by seed, by each seed's mean over its strata; seeds that lack a stratum "
           "are left out");
    if (lines > 1)
        table_note_method(
            t, "p_holm: %s, Holm over %d lines; margins and the pooled line are not corrected",
            paired_test_name(x->r->test), lines);
    else
        table_note_method(t, "p_holm: %s", paired_test_name(x->r->test));
    if (with_t)
        table_note_method(t,
                          "p_t: paired t test, Holm; assumes that the differences over seeds are "
                          "normal");
}

/* ---- the table ---- */

static const char *over_names(const struct effects *x, struct arena *a)
{
    const char *names = NULL;
    for (int k = 0; k < x->r->n_axis; k++)
        if (x->spec.over[k])
            names = arena_item(a, names, "%s", results_axis_name(x->r, k));
    return names ? names : "";
}

static const char *title_of(const struct effects *x, struct arena *a)
{
    const char *what = effects_what(x, a);
    bool named = x->spec.name && !strstr(what, x->spec.name);
    const char *at =
        x->length >= 0 ? arena_printf(a, " at %" PRId64 " %s", x->length, x->r->length_unit) : "";
    return arena_printf(
        a, "%s%s%s: %s%s%s (%s is better), mean ± 95 %% CI (Student t) over n seeds",
        named ? x->spec.name : "", named ? ": " : "", what, x->metric, at,
        same_text(x->split, "test") ? ", test part" : "", x->goal_max ? "higher" : "lower");
}

void table_note_text(struct table *t)
{
    table_note_method(
        t, "and text: half of the interval over seeds and stretches of the test text, both "
           "as samples (crossed random effects); reliable from five seeds on");
}

void effects_table(struct table *t, const struct effects *x, struct arena *a)
{
    struct listed_effect *list;
    int n = effects_list(x, &list, a);
    bool with_t = false, with_text = false;
    for (int i = 0; i < n; i++) {
        const struct difference *d = &list[i].e->of;
        with_t = with_t || (!isnan(d->p) && !paired_can_show(x->r->test, d->n, list[i].m));
        with_text = with_text || isfinite(d->text_half);
    }
    *t = (struct table){.arena = a, .title = title_of(x, a), .n_label = 1};
    table_column(t, over_names(x, a), false);
    table_column(t, "difference", true);
    if (with_text)
        table_column(t, "and text", true);
    table_column(t, "p_holm", true);
    if (with_t)
        table_column(t, "p_t", true);
    table_column(t, "n", true);
    table_column(t, "strata", true);
    for (int i = 0; i < n; i++) {
        const struct effect *e = list[i].e;
        const struct difference *d = &e->of;
        table_text(t, e->name);
        table_text(t, number_interval(a, d->mean, d->ci_high - d->mean, true));
        if (with_text)
            table_text(t, number_half(a, d->text_half));
        table_text(t, number_tested_p(a, x->r->test, d->p_holm, d->n, list[i].m));
        if (with_t)
            table_text(t, number_p(a, d->p_t_holm));
        table_text(t, arena_printf(a, "%d", d->n));
        table_text(t, arena_printf(a, "%d", e->n_stratum));
    }
    if (with_text)
        table_note_text(t);
    note_interactions(t, x);
    note_alone(t, x);
    note_diverged(t, x);
    table_note_refused(t, &x->counted);
    note_tests(t, x, x->n_line, with_t);
}

/* ---- JSON and CSV ---- */

static void put_effect(struct json m, const struct listed_effect *l)
{
    const struct effect *e = l->e;
    json_put_text(m, "kind", l->kind);
    json_put_text(m, "of", e->name);
    json_put_int(m, "strata", e->n_stratum);
    json_put_int(m, "n", e->of.n);
    json_put_difference(m, &e->of);
    json_put_int(m, "a_diverged", e->a_diverged);
    json_put_int(m, "b_diverged", e->b_diverged);
    json_put_int(m, "both_diverged", e->both_diverged);
}

static void put_effect_and_seeds(struct json m, const struct listed_effect *l)
{
    put_effect(m, l);
    struct json seeds = json_put_list(m, "differences");
    for (int i = 0; i < l->e->of.n; i++)
        json_add_real(seeds, l->e->d[i]);
}

static void put_interactions(struct json list, const struct effects *x)
{
    for (int i = 0; i < x->n_interaction; i++) {
        const struct interaction *s = &x->interaction[i].test;
        struct json m = json_add_map(list);
        json_put_text(m, "axis", x->r->axis[x->interaction[i].axis]);
        json_put_int(m, "n", s->n);
        json_put_int(m, "labels", s->k);
        json_put_number(m, "f", s->f);
        json_put_number(m, "df1", s->df1);
        json_put_number(m, "df2", s->df2);
        json_put_number(m, "epsilon", s->epsilon);
        json_put_number(m, "p", s->p);
    }
}

void effects_json(const struct effects *x, struct json map)
{
    struct listed_effect *list;
    int n = effects_list(x, &list, map.a);
    json_put_text(map, "name", x->spec.name);
    json_put_text(map, "factor", x->spec.factor >= 0 ? x->r->axis[x->spec.factor] : NULL);
    struct json of = json_put_list(map, "of");
    for (int i = 0; x->spec.factor >= 0 && i < 2; i++)
        json_add_text(of, x->spec.label[i]);
    json_put_text(map, "metric", x->metric);
    json_put_text(map, "goal", x->goal_max ? "max" : "min");
    json_put_number(map, "length", x->length >= 0 ? (double)x->length : (double)NAN);
    struct json effects = json_put_list(map, "effects");
    for (int i = 0; i < n; i++)
        put_effect_and_seeds(json_add_map(effects), &list[i]);
    put_interactions(json_put_list(map, "interactions"), x);
    struct json alone = json_put_list(map, "left_out");
    for (int i = 0; i < x->pairs.n_alone; i++)
        json_add_text(alone, results_row_label(x->r, &x->r->row[x->pairs.alone[i].row], map.a));
    json_put_text(map, "not_pooled", x->not_pooled);
    json_put_int(map, "unfinished", x->unfinished);
    struct table t;
    effects_table(&t, x, map.a);
    table_json(&t, json_put_map(map, "table"));
}

void effects_csv(const struct effects *x, bool head, struct arena *a, struct strbuf *out)
{
    struct listed_effect *list;
    int n = effects_list(x, &list, a);
    for (int i = 0; i < n; i++) {
        struct json line = json_map(a);
        json_put_text(line, "contrast", x->spec.name);
        json_put_text(line, "metric", x->metric);
        json_put_number(line, "length", x->length >= 0 ? (double)x->length : (double)NAN);
        put_effect(line, &list[i]);
        csv_line(line.v, head && i == 0, out);
    }
}
