/* SPDX-License-Identifier: MIT */
/* claims_table.c: the claims of a run with their verdicts, as a table, as JSON and as CSV. */
#include <math.h>

#include "base/repeat.h"
#include "report/comparison_tables.h"
#include "report/numbers.h"

/* ---- the table ---- */

static const char *title_of(const struct claim_history *h, bool earlier, struct arena *a)
{
    const struct claims_version *v = earlier ? h->first.version : h->now.version;
    const char *when = arena_printf(a, "written %s, SHA-256 %.12s", v->written_utc, v->hash);
    if (earlier)
        return arena_printf(a, "The claims as they were before the first result (%s)", when);
    if (h->first.version)
        return arena_printf(a, "Claims, CHANGED AFTER THE FIRST RESULT (%s, with %d results)", when,
                            v->results);
    if (h->late)
        return arena_printf(a, "Claims, WRITTEN AFTER THE FIRST RESULT (%s, with %d results)", when,
                            v->results);
    return arena_printf(a, "Claims (%s, before the first result)", when);
}

static const char *at_text(const struct claim_verdict *v, struct arena *a)
{
    const struct effects *x = &v->effects;
    return x->length >= 0 ? arena_printf(a, "%s@%d", x->metric, (int)x->length) : x->metric;
}

static void add_claim(struct table *t, const struct claim_verdict *v, struct arena *a)
{
    const struct difference *d = &v->effects.pooled.of;
    const char *const text[] = {
        v->claim.name,
        claim_ends[v->verdict],
        claim_words(v, a),
        at_text(v, a),
        number_interval(a, d->mean, v->ci_high - d->mean, true),
        number_p(a, v->p_holm),
        arena_printf(a, "%d", d->n),
    };
    for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
        table_cell(t, (struct table_cell){text[k], "", k == 1 && v->verdict == CLAIM_HOLDS});
}

static void note_claims(struct table *t, const struct claim_verdicts *v)
{
    bool same_level = true;
    for (int i = 0; i < v->n; i++) {
        const struct claim_verdict *c = &v->item[i];
        same_level = same_level && c->claim.alpha == v->item[0].claim.alpha;
        if (*c->claim.text)
            table_note(t, "%s: %s", c->claim.name, c->claim.text);
        if (*c->why)
            table_note(t, "%s is undecided: %s", c->claim.name, c->why);
    }
    if (v->n && same_level)
        table_note(t,
                   "effect: mean over seeds of A - B with its %.4g %% interval (Student t), alpha "
                   "%.4g",
                   100.0 * (1.0 - 2.0 * v->item[0].claim.alpha), v->item[0].claim.alpha);
    else if (v->n)
        table_note(t, "effect: mean over seeds of A - B with its 1 - 2 alpha interval (Student t)");
    table_note(
        t, "holds: p_holm, one-sided and for 'within' the larger of two, is below alpha; fails: "
           "that of the opposite is");
    table_note(t, "Holm over %d claim%s", v->n, plural(v->n));
}

static void note_tests(struct table *t, const struct claim_verdicts *v)
{
    for (int test = 0; test < PAIRED_TESTS; test++) {
        const char *names = NULL;
        for (int i = 0; i < v->n; i++)
            if (v->item[i].test == (enum paired_test)test)
                names = arena_item(t->arena, names, "%s", v->item[i].claim.name);
        if (names && test == TEST_T)
            table_note(t, "by paired t, which assumes normal differences over seeds: %s", names);
        else if (names)
            table_note(t, "by the %s: %s", paired_test_name((enum paired_test)test), names);
    }
}

void claims_table(struct table *t, const struct claim_history *h, bool earlier, struct arena *a)
{
    static const struct table_column column[] = {
        {"claim", false}, {"verdict", false}, {"says", false}, {"metric", false},
        {"effect", true}, {"p_holm", true},   {"n", true}};
    const struct claim_verdicts *v = earlier ? &h->first : &h->now;
    *t = (struct table){.arena = a, .title = title_of(h, earlier, a), .n_label = 1};
    for (size_t k = 0; k < sizeof(column) / sizeof(*column); k++)
        table_column(t, column[k].head, column[k].right);
    for (int i = 0; i < v->n; i++)
        add_claim(t, &v->item[i], a);
    note_claims(t, v);
    note_tests(t, v);
    if (v->n == 0 && v->version->claims->n > 0)
        table_note(t, "not judged: they are about axes that the rows no longer have");
    else if (v->n == 0)
        table_note(t, "all claims were withdrawn");
}

/* ---- JSON and CSV ---- */

static void put_claim(struct json m, const struct claim_verdict *v)
{
    const struct claim *c = &v->claim;
    const struct effect *e = &v->effects.pooled;
    json_put_text(m, "name", c->name);
    json_put_text(m, "text", c->text);
    json_put_text(m, "says", claim_words(v, m.a));
    json_put_text(m, "verdict", claim_ends[v->verdict]);
    json_put_text(m, "why", *v->why ? v->why : NULL);
    json_put_text(m, "metric", v->effects.metric);
    json_put_number(m, "length", v->effects.length >= 0 ? (double)v->effects.length : (double)NAN);
    json_put_text(m, "direction", claim_directions[c->direction]);
    json_put_number(m, "margin", c->margin);
    json_put_number(m, "alpha", c->alpha);
    json_put_text(m, "test", c->test);
    json_put_number(m, "effect", e->of.mean);
    json_put_number(m, "effect_sd", e->of.sd);
    json_put_number(m, "ci_low", v->ci_low);
    json_put_number(m, "ci_high", v->ci_high);
    json_put_int(m, "n", e->of.n);
    json_put_number(m, "p", v->p);
    json_put_number(m, "p_holm", v->p_holm);
    json_put_number(m, "p_against", v->against);
    json_put_number(m, "p_against_holm", v->against_holm);
    json_put_int(m, "a_diverged", e->a_diverged);
    json_put_int(m, "b_diverged", e->b_diverged);
}

static void put_version(struct json m, const struct claim_verdicts *v)
{
    json_put_text(m, "sha256", v->version->hash);
    json_put_text(m, "written_utc", v->version->written_utc);
    json_put_int(m, "results_by_then", v->version->results);
    struct json list = json_put_list(m, "claims");
    for (int i = 0; i < v->n; i++)
        put_claim(json_add_map(list), &v->item[i]);
}

void claims_json(const struct claim_history *h, struct json map)
{
    json_put_bool(map, "changed_after_first_result", h->first.version != NULL);
    json_put_bool(map, "written_after_first_result", h->late);
    put_version(json_put_map(map, "now"), &h->now);
    if (h->first.version)
        put_version(json_put_map(map, "before_first_result"), &h->first);
}

static void add_lines(const struct claim_verdicts *v, const char *state, bool head, struct arena *a,
                      struct strbuf *out)
{
    for (int i = 0; v->version && i < v->n; i++) {
        struct json m = json_map(a);
        json_put_text(m, "state", state);
        json_put_text(m, "sha256", v->version->hash);
        json_put_text(m, "written_utc", v->version->written_utc);
        put_claim(m, &v->item[i]);
        csv_line(m.v, head && i == 0, out);
    }
}

void claims_csv(const struct claim_history *h, struct strbuf *out)
{
    struct arena a;
    arena_init(&a, "csv", 1 << 12);
    const char *state = h->first.version ? "changed after the first result"
                        : h->late        ? "written after the first result"
                                         : "before the first result";
    add_lines(&h->now, state, true, &a, out);
    add_lines(&h->first, "before the first result", h->now.n == 0, &a, out);
    arena_release(&a);
}
