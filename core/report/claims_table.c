/* SPDX-License-Identifier: MIT */
/* claims_table.c: the claims of a run with their verdicts, as a table, as JSON and as CSV. */

#include "report/comparison_tables.h"
#include "report/numbers.h"

/* ---- the table ---- */

/* "before the first step", or why it is later. */
static const char *state_of(const struct claim_history *h, struct arena *a)
{
    const struct claims_version *first = h->first.version ? h->first.version : h->now.version;
    const char *of = claims_first(first);
    return h->first.version ? arena_printf(a, "changed after the first %s", of)
           : h->late        ? arena_printf(a, "written after the first %s", of)
           : h->begun       ? "written after some of the cells were started"
           : h->replanned   ? "before the first step; the plan changed after it"
                            : arena_printf(a, "before the first %s", of);
}

/* As a title has it: "Claims, CHANGED AFTER THE FIRST STEP (<when>, with 3 results)". */
static const char *title_late(const struct claim_history *h, const char *when, struct arena *a)
{
    const struct claims_version *first = h->first.version ? h->first.version : h->now.version;
    return arena_printf(a, "Claims, %s AFTER THE FIRST %s (%s, with %" PRId64 " results)",
                        h->first.version ? "CHANGED" : "WRITTEN",
                        first->registered ? "STEP" : "RESULT", when,
                        h->now.version->by_then.results);
}

static const char *title_of(const struct claim_history *h, bool earlier, struct arena *a)
{
    const struct claims_version *v = earlier ? h->first.version : h->now.version;
    if (h->n_run)
        return arena_printf(a, "Claims of %d run%s, one family", h->n_run, plural(h->n_run));
    const char *when = arena_printf(a, "written %s, SHA-256 %.12s", v->written_utc, v->hash);
    if (earlier)
        return arena_printf(a, "The claims as they were before the first %s (%s)", claims_first(v),
                            when);
    if (h->first.version || h->late)
        return title_late(h, when, a);
    if (h->begun)
        return arena_printf(a, "Claims, WRITTEN AFTER %d OF THE CELLS WERE STARTED (%s)", h->begun,
                            when);
    if (h->replanned)
        return arena_printf(a, "Claims, THE PLAN CHANGED AFTER THE FIRST STEP (%s)", when);
    return arena_printf(a, "Claims (%s, before the first %s%s)", when, claims_first(v),
                        h->back ? "; changed after it, and changed back" : "");
}

static void add_claim(struct table *t, const struct claim_verdict *v, bool with_text,
                      struct arena *a)
{
    const struct effects *x = &v->effects;
    const struct difference *d = &v->shown->of;
    const char *at = x->length >= 0 ? arena_printf(a, "@%d", (int)x->length) : "";
    if (v->run)
        table_text(t, v->run);
    const char *depends = claim_depends(v, a);
    const char *const text[] = {
        v->claim.name,
        arena_printf(a, "%s%s%s", claim_ends[v->verdict], depends ? ", " : "",
                     depends ? depends : ""),
        claim_words(v, a),
        arena_printf(a, "%s%s%s", x->metric, at, claim_per(v, a)),
        number_interval(a, d->mean, v->ci_high - d->mean, true),
        with_text ? number_half(a, v->text_half) : NULL,
        number_p(a, claim_p(v)),
        arena_printf(a, "%d", d->n),
    };
    const bool strong = v->verdict == CLAIM_HOLDS && !depends;
    for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
        if (text[k])
            table_cell(t, (struct table_cell){text[k], "", k == 1 && strong});
    if (strong)
        t->strong = "the claim holds";
    if (v->claim.n_look) {
        table_text(t, v->level > 0 ? number_p(a, claim_level(v)) : "-");
        table_text(t, arena_printf(a, "%d of %d", v->look, v->claim.n_look));
    }
}

static void note_changes(struct table *t, const struct claim_verdicts *v)
{
    bool has[CHANGE_KINDS] = {false};
    for (int i = 0; i < v->n; i++)
        has[v->item[i].claim.change.kind] = true;
    if (has[CHANGE_SLOPE])
        table_note_method(t, "slope: the least-squares slope of each seed's differences");
    if (has[CHANGE_MONOTONE])
        table_note_method(
            t, "every step: effect, interval and p_holm are of the step with the largest p, "
               "and each step has to pass");
}

static void note_looks(struct table *t, const struct claim *c)
{
    const char *counts = NULL;
    for (int k = 0; k < c->n_look; k++)
        counts = arena_item(t->arena, counts, "%d", c->look[k]);
    table_note_method(
        t,
        "looks at %s seeds, until a claim is decided; alpha shared out over the claims "
        "beforehand by weight and spent over the looks (Lan and DeMets, %s)",
        counts, claim_spendings[c->spending]);
    table_note_method(
        t, "effect: mean over seeds of A - B at the last look, with its repeated confidence "
           "interval, which holds at all looks together at 1 - 2 x the claim's share of "
           "alpha");
    table_note_method(
        t, "holds: p (one-sided; for 'within' the larger of two) is below level; fails: p "
           "of the opposite claim, which is then shown, is below its level");
}

static const char *name_of(const struct claim_verdict *c, struct arena *a)
{
    return c->run ? arena_printf(a, "%s, %s", c->run, c->claim.name) : c->claim.name;
}

static void note_strata(struct table *t, const struct claim_verdicts *v)
{
    for (int i = 0; i < v->n; i++) {
        const char *text = claim_strata_text(&v->item[i], t->arena);
        if (text)
            table_note(t, "%s: %s", name_of(&v->item[i], t->arena), text);
    }
    t->n_inside = t->n_note;
}

static void note_claims(struct table *t, const struct claim_verdicts *v)
{
    bool same_level = true;
    for (int i = 0; i < v->n; i++) {
        const struct claim_verdict *c = &v->item[i];
        same_level = same_level && c->claim.alpha == v->item[0].claim.alpha;
        const char *name = name_of(c, t->arena);
        if (*c->why)
            table_note(t, "%s is undecided: %s", name, c->why);
        if (effects_cross_engines(&c->effects))
            table_note(t, "%s is about " ENGINES_CROSSED, name);
    }
    if (v->n && v->item[0].claim.n_look) {
        note_looks(t, &v->item[0].claim);
        note_changes(t, v);
        return;
    }
    if (v->n && same_level)
        table_note_method(
            t,
            "effect: mean over seeds of A - B with its %.4g %% interval (Student t), alpha "
            "%.4g",
            100.0 * (1.0 - 2.0 * v->item[0].claim.alpha), v->item[0].claim.alpha);
    else if (v->n)
        table_note_method(
            t, "effect: mean over seeds of A - B with its 1 - 2 alpha interval (Student t)");
    table_note_method(t,
                      "holds: p_holm (one-sided; for 'within' the larger of two) is below alpha; "
                      "fails: p_holm of the opposite claim, which is then shown, is");
    table_note_method(t, "Holm over %d claim%s", v->n, plural(v->n));
    note_changes(t, v);
}

static void note_texts(struct table *t, const struct claim_verdicts *v)
{
    for (int i = 0; i < v->n; i++)
        if (*v->item[i].claim.text)
            table_note_method(t, "%s: %s", name_of(&v->item[i], t->arena), v->item[i].claim.text);
}

static void note_runs(struct table *t, const struct claim_history *h)
{
    for (int i = 0; i < h->n_run; i++) {
        const struct claim_history *of = &h->of[i];
        const struct claims_version *v = of->now.version;
        table_note(t, "%s: %d claim%s, written %s, SHA-256 %.12s, %s", h->run[i], of->now.n,
                   plural(of->now.n), v->written_utc, v->hash, state_of(of, t->arena));
        if (of->registration->changed)
            table_note_registration(t, of->registration);
    }
}

static void note_tests(struct table *t, const struct claim_verdicts *v)
{
    const char *text = NULL;
    for (int i = 0; i < v->n; i++)
        if (v->item[i].claim.sampled == SAMPLED_SEEDS_AND_TEXT)
            text = arena_item(t->arena, text, "%s", v->item[i].claim.name);
    if (text)
        table_note_method(t, "effect and p_holm are over seeds and test text for: %s", text);
    for (int test = 0; test < PAIRED_TESTS; test++) {
        const char *names = NULL;
        for (int i = 0; i < v->n; i++)
            if (v->item[i].test == (enum paired_test)test)
                names = arena_item(t->arena, names, "%s", v->item[i].claim.name);
        if (names && test == TEST_T)
            table_note_method(t, "by paired t, which assumes normal differences over seeds: %s",
                              names);
        else if (names)
            table_note_method(t, "by the %s: %s", paired_test_name((enum paired_test)test), names);
    }
}

void claims_table(struct table *t, const struct claim_history *h, bool earlier, struct arena *a)
{
    static const struct table_column column[] = {
        {"claim", false}, {"verdict", false}, {"says", false},  {"metric", false},
        {"effect", true}, {"and text", true}, {"p_holm", true}, {"n", true}};
    enum { AND_TEXT = 5, P_HOLM };
    const struct claim_verdicts *v = earlier ? &h->first : &h->now;
    bool looks = v->n && v->item[0].claim.n_look;
    *t = (struct table){.arena = a, .title = title_of(h, earlier, a), .n_label = h->n_run ? 2 : 1};
    if (h->n_run)
        table_column(t, "run", false);
    bool with_text = false;
    for (int i = 0; i < v->n; i++)
        with_text = with_text || isfinite(v->item[i].shown->of.text_half);
    for (size_t k = 0; k < sizeof(column) / sizeof(*column); k++)
        if (k != AND_TEXT || with_text)
            table_column(t, looks && k == P_HOLM ? "p" : column[k].head, column[k].right);
    if (looks) {
        table_column(t, "level", true);
        table_column(t, "look", true);
    }
    for (int i = 0; i < v->n; i++)
        add_claim(t, &v->item[i], with_text, a);
    note_strata(t, v);
    if (with_text)
        table_note_text(t);
    note_claims(t, v);
    note_tests(t, v);
    note_texts(t, v);
    const char *shared = claims_shared(v, a);
    if (shared)
        table_note(t,
                   "compared by several claims, whose verdicts therefore depend on each other: %s",
                   shared);
    note_runs(t, h);
    if (h->n_run)
        return;
    if (v->version->registered || h->registration->changed)
        table_note_registration(t, h->registration);
    if (v->n == 0 && v->version->claims->n > 0)
        table_note(t, "not judged: they are about axes that the rows no longer have");
    else if (v->n == 0)
        table_note(t, "all claims were withdrawn");
}

/* ---- JSON and CSV ---- */

static void put_claim(struct json m, const struct claim_verdict *v)
{
    const struct claim *c = &v->claim;
    const struct effect *e = v->shown;
    if (v->run)
        json_put_text(m, "run", v->run);
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
    bool once = c->n_look == 0;
    json_put_number(m, "p_holm", once ? v->p_holm : (double)NAN);
    json_put_number(m, "p_against", v->against);
    json_put_number(m, "p_against_holm", once ? v->against_holm : (double)NAN);
    json_put_int(m, "a_diverged", e->a_diverged);
    json_put_int(m, "b_diverged", e->b_diverged);
    json_put_int(m, "both_diverged", e->both_diverged);
    json_put_number(m, "look", once ? (double)NAN : v->look);
    json_put_number(m, "looks", once ? (double)NAN : c->n_look);
    json_put_number(m, "level", once ? (double)NAN : v->level);
    json_put_text(m, "change", change_kinds[c->change.kind]);
    json_put_text(m, "per", *claim_per(v, m.a) ? claim_per(v, m.a) + 1 : NULL);
    json_put_text(m, "sampled", claim_samples[c->sampled]);
    json_put_number(m, "diff_text_half", v->text_half);
    json_put_number(m, "diff_text_df", e->of.text_df);
    json_put_number(m, "p_verdict", claim_p(v));
    json_put_text(m, "depends", claim_depends(v, m.a));
    json_put_text(m, "strata", claim_strata_text(v, m.a));
}

static void put_written(struct json m, const struct claims_version *v)
{
    json_put_text(m, "sha256", v->hash);
    json_put_text(m, "written_utc", v->written_utc);
}

static void put_version(struct json m, const struct claim_verdicts *v)
{
    put_written(m, v->version);
    json_put_int(m, "results_by_then", v->version->by_then.results);
    struct json list = json_put_list(m, "claims");
    for (int i = 0; i < v->n; i++)
        put_claim(json_add_map(list), &v->item[i]);
}

/* The time at which each run's claims were written, and all claims with their run. */
static void put_family(const struct claim_history *h, struct json map)
{
    struct json runs = json_put_list(map, "runs"), claims = json_put_list(map, "claims");
    for (int i = 0; i < h->n_run; i++) {
        struct json m = json_add_map(runs);
        json_put_text(m, "run", h->run[i]);
        json_put_text(m, "state", state_of(&h->of[i], m.a));
        put_written(m, h->of[i].now.version);
    }
    for (int i = 0; i < h->now.n; i++)
        put_claim(json_add_map(claims), &h->now.item[i]);
}

void claims_json(const struct claim_history *h, struct json map)
{
    struct table t;
    claims_table(&t, h, false, map.a);
    table_json(&t, json_put_map(map, "table"));
    if (h->n_run) {
        put_family(h, map);
        return;
    }
    json_put_text(map, "state", state_of(h, map.a));
    json_put_int(map, "cells_started_before", h->begun);
    json_put_bool(map, "changed_after_first_result", h->first.version != NULL);
    json_put_bool(map, "written_after_first_result", h->late);
    json_put_bool(map, "plan_changed_after_first_step", h->replanned);
    put_version(json_put_map(map, "now"), &h->now);
    if (h->first.version) {
        put_version(json_put_map(map, "before_first_result"), &h->first);
        claims_table(&t, h, true, map.a);
        table_json(&t, json_put_map(map, "table_before"));
    }
}

static void add_lines(const struct claim_verdicts *v, const char *state,
                      const struct registration *g, bool head, struct arena *a, struct strbuf *out)
{
    for (int i = 0; v->version && i < v->n; i++) {
        struct json m = json_map(a);
        json_put_text(m, "state", state);
        put_written(m, v->version);
        put_claim(m, &v->item[i]);
        json_put_text(m, "registration", registration_text(g, a));
        csv_line(m.v, head && i == 0, out);
    }
}

void claims_csv(const struct claim_history *h, struct arena *a, struct strbuf *out)
{
    int at = 0; /* a family has no version: its runs have */
    for (int i = 0; i < h->n_run; i++) {
        struct claim_verdicts its = h->of[i].now;
        its.item = h->now.item + at;
        add_lines(&its, state_of(&h->of[i], a), h->of[i].registration, at == 0, a, out);
        at += its.n;
    }
    if (h->n_run)
        return;
    add_lines(&h->now, state_of(h, a), h->registration, true, a, out);
    add_lines(&h->first, "before the first step", h->registration, h->now.n == 0, a, out);
}
