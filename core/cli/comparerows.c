/* SPDX-License-Identifier: MIT */
/* comparerows.c: prints two rows at one length, as a table or as JSON. */
#include "cli/comparerows.h"

#include "cli/verbs.h"
#include "report/effects.h"
#include "report/kinds.h"
#include "report/numbers.h"

static const char *value_text_of(const struct row_pair *p, const struct result_cell *c, int length)
{
    if (c && result_counts(c))
        return number_interval(p->arena, result_value(c, length), (double)NAN, false);
    return c ? cell_state_name(c->state) : "-";
}

static const char *difference_text(const struct row_pair *p, const struct result_cell *a,
                                   const struct result_cell *b, int length)
{
    struct pairs pairs = {0};
    if (!a || !b || !result_counts(a) || !result_counts(b))
        return "-";
    if (!pair_holds(a, b, &pairs))
        for (int i = 0; i < REFUSALS; i++)
            if (pairs.refused[i])
                return refusals[i].brief;
    return number_interval(p->arena, result_value(a, length) - result_value(b, length), (double)NAN,
                           true);
}

static void add_seeds(const struct row_pair *p, int length, struct table *t)
{
    table_column(t, "seed", false);
    table_column(t, results_row_label(p->r, p->a, p->arena), true);
    table_column(t, results_row_label(p->r, p->b, p->arena), true);
    table_column(t, "difference", true);
    for (int i = 0; i < p->r->n_seed; i++) {
        int64_t seed = p->r->seed[i];
        const struct result_cell *a = row_cell(p->a, seed), *b = row_cell(p->b, seed);
        if (!a && !b)
            continue;
        table_text(t, arena_printf(p->arena, "%" PRId64, seed));
        table_text(t, value_text_of(p, a, length));
        table_text(t, value_text_of(p, b, length));
        table_text(t, difference_text(p, a, b, length));
    }
}

static void add_test(const struct row_pair *p, const struct difference *d, struct strbuf *out)
{
    enum paired_test test = p->r->test;
    strbuf_addf(out, "%s p %s", paired_test_name(test), number_p(p->arena, d->p));
    if (test != TEST_T)
        strbuf_addf(out, "; the smallest that %d seed%s can give is %s%s", d->n, plural(d->n),
                    number_p(p->arena, paired_p_smallest(test, 2, d->n)),
                    paired_can_show(test, d->n, 1) ? "" : ": too few seeds for p < .05");
    strbuf_add(out, "\n");
}

static void add_difference(const struct row_pair *p, const struct difference *d, struct strbuf *out)
{
    strbuf_addf(out, "mean difference %s",
                number_interval(p->arena, d->mean, d->ci_high - d->mean, true));
    if (d->n < 2)
        strbuf_add(out, " (one seed: no interval)\n");
    else
        strbuf_addf(out, " (95 %% CI, Student t, n = %d)\n", d->n);
    if (isfinite(d->text_half))
        strbuf_addf(out, "and %s over seeds and stretches of the test text, both as samples\n",
                    number_half(p->arena, d->text_half));
    if (isfinite(d->gz))
        strbuf_addf(out, "effect size g_z %+.2f (without Hedges' correction d_z %+.2f)\n", d->gz,
                    d->dz);
    else if (isfinite(d->dz))
        strbuf_addf(out, "effect size d_z %+.2f (g_z takes three seeds)\n", d->dz);
    add_test(p, d, out);
}

static const char *title_of(const struct row_pair *p, int length)
{
    const struct results *r = p->r;
    return arena_printf(p->arena, "%s: %s at %" PRId64 " %s, %s (%s is better), %s against %s",
                        r->experiment, r->metric, r->length[length], r->length_unit,
                        results_part(r->split), r->goal_max ? "higher" : "lower",
                        results_row_label(r, p->a, p->arena), results_row_label(r, p->b, p->arena));
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

int rows_text(const struct row_pair *p, int length, struct strbuf *out)
{
    struct table t = {.arena = p->arena, .title = title_of(p, length), .n_label = 1};
    const struct effects x = effects_of_rows(p->r, p->a, p->b, length, p->arena);
    const struct difference d = effects_difference(&x, p->arena);
    add_seeds(p, length, &t);
    table_note_refused(&t, &x.counted);
    if (x.counted.by_data)
        table_note(&t, "%d of %d pairs share the data order alone: weights of other shapes",
                   x.counted.by_data, x.counted.n + pairs_refused(&x.counted));
    note_kinds(p, &t);
    cli_add_wrapped(&t, NULL, false, out);
    if (x.counted.n)
        add_difference(p, &d, out);
    else
        strbuf_add(out, pairs_refused(&x.counted) ? "nothing is paired\n"
                                                  : "no seed is finished in both\n");
    return x.counted.n;
}

int rows_json(const struct row_pair *p, int length, struct json map)
{
    const struct effects x = effects_of_rows(p->r, p->a, p->b, length, p->arena);
    const struct difference d = effects_difference(&x, p->arena);
    json_put_int(map, "length", p->r->length[length]);
    json_put_pairs(map, &x.counted);
    struct json by_seed = json_put_map(map, "differences");
    for (int s = 0; s < p->r->n_seed; s++)
        if (row_cell(p->a, p->r->seed[s]))
            json_put_number(by_seed, arena_printf(p->arena, "%" PRId64, p->r->seed[s]), x.d[s]);
    json_put_difference(map, &d);
    return x.counted.n;
}
