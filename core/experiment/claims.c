/* SPDX-License-Identifier: MIT */
/* claims.c: the section `claims`, written before an experiment is run. */

#include "experiment/claim.h"
#include "plugin/params.h"
#include "reading.h"

const char *const claim_directions[] = {"less", "greater", "equal", NULL};
/* each is one of paired_test_words */
const char *const claim_tests[] = {"t", "sign-flip", "wilcoxon", NULL};
const char *const claim_samples[] = {"seeds", "seeds_and_text", NULL};

/* Rows for params_fill; the rows that a claim compares are read separately. */
struct numbers {
    const char *text;
    int64_t direction, test, sampled;
    double margin, alpha, weight;
};
#define NUMBER(type, field, ...) PARAM_ROW(type, struct numbers, field, #field, __VA_ARGS__)

static const peat_param rows[] = {
    NUMBER(PEAT_STRING, text, "the claim in words"),
    NUMBER(PEAT_ENUM, direction, "A - B is less than -margin, greater than margin, or within it",
           .labels = claim_directions, .flags = PEAT_REQUIRED),
    NUMBER(PEAT_REAL, margin, "in the metric's unit", WITHIN(0, 1e9)),
    NUMBER(PEAT_REAL, alpha, "level of the claim", .preset = 0.05, WITHIN(0, 0.5),
           .flags = PEAT_OPEN_MIN),
    NUMBER(PEAT_REAL, weight,
           "weight of its share of alpha, where seeds are added until the claims are decided",
           .preset = 1, WITHIN(0, 1e6), .flags = PEAT_OPEN_MIN),
    NUMBER(PEAT_ENUM, test, "test of the paired differences", .labels = claim_tests),
    NUMBER(PEAT_ENUM, sampled, "the sample of the interval and the test", .labels = claim_samples),
    PEAT_PARAM_END,
};

/* ---- the rows that are compared ---- */

static bool no_such_contrast(struct reading *r, const struct value *v)
{
    const struct value *all = r->e->report.contrasts;
    int n = all ? all->n : 0;
    const char **name = ARENA_ARRAY(r->a, n + 1, const char *);
    for (int i = 0; i < n; i++)
        name[i] = value_get(all->item[i], "name")->text;
    return mistake(r->err, v->at, "there is no contrast '%s'; %s", v->text,
                   name_hint(r->a, v->text, name, n, "report.contrasts has"));
}

static bool read_contrast(struct reading *r, const struct value *v, struct value *out)
{
    if (v->kind != VALUE_TEXT)
        return contrast_normalise(r, v, out);
    const struct value *named = contrast_named(r->e->report.contrasts, v->text);
    if (!named)
        return no_such_contrast(r, v);
    for (int i = 0; i < named->n; i++)
        value_set(r->a, out, named->key[i], v->at, named->item[i]);
    return true;
}

static bool read_rows(struct reading *r, const struct value *v, struct value *out)
{
    struct value *list = value_list(r->a, v->at), *side;
    if (v->kind != VALUE_LIST || v->n != 2)
        return mistake(r->err, v->at,
                       "'rows' must be two maps axis -> label: [A, B] is about A - B");
    for (int i = 0; i < 2; i++) {
        if (!(labels_resolve(r, v->item[i], "rows", true, &side) &&
              best_over_refuse(r, side, "rows")))
            return false;
        value_append(r->a, list, side);
    }
    value_set(r->a, out, "rows", v->at, list);
    return true;
}

static bool read_compared(struct reading *r, const struct value *v, struct value *out)
{
    const struct value *contrast = value_get(v, "contrast"), *two = value_get(v, "rows");
    if (!contrast == !two)
        return mistake(r->err, v->at,
                       "a claim is about 'contrast' or about 'rows': it needs one of them");
    bool ok = contrast ? read_contrast(r, contrast, out) : read_rows(r, two, out);
    ok = ok && change_read(r, v, out) && comparison_measure(r, out, v);
    /* The report's metric may change later, but a claim must not, so its metric is written out. */
    if (ok && !value_get(out, "metric") && r->e->report.metric[0])
        value_set(r->a, out, "metric", r->e->report.metric_at,
                  value_text(r->a, r->e->report.metric_at, r->e->report.metric));
    return ok;
}

/* ---- one claim ---- */

/* The command line, now or when a run made the file, may have replaced looks by a number of
 * seeds. */
static bool check_weight(struct reading *r, const struct value *v)
{
    bool taken = r->e->looks.from || value_get(r->root, "made_with") || word_find(r, "seeds");
    return taken || !value_get(v, "weight") ||
           mistake(r->err, value_key_place(v, "weight"),
                   "'weight' needs seeds: {from: ..., at_most: ..., until: claims}, where it "
                   "shares alpha out; Holm's correction has no weights");
}

static bool read_name(struct reading *r, const struct value *v, const struct value *claims)
{
    const struct value *name = value_get(v, "name");
    if (!name || name->kind != VALUE_TEXT || !name->text[0])
        return mistake(r->err, name ? name->at : v->at, "a claim needs a name");
    for (int i = 0; i < claims->n; i++)
        if (json_text_is(claims->item[i], "name", name->text))
            return mistake(r->err, name->at, "two claims are called '%s'", name->text);
    return true;
}

static bool check_numbers(struct reading *r, const struct value *v, const struct numbers *n)
{
    const struct value *expect = value_get(v, "expect");
    bool number = expect && (expect->kind == VALUE_INT || expect->kind == VALUE_REAL);
    if (n->direction == CLAIM_EQUAL && n->margin == 0.0)
        return mistake(r->err, v->at,
                       "direction 'equal' needs a margin: no data can show that two are "
                       "exactly the same");
    if (n->sampled == SAMPLED_SEEDS_AND_TEXT && n->test != 0)
        return mistake(r->err, value_get(v, "sampled")->at,
                       "'sampled: seeds_and_text' has only a t test: leave 'test' out");
    const struct value *trend = value_get(v, "trend");
    if (n->direction == CLAIM_EQUAL && trend && trend->n == 1 &&
        same_text(trend->item[0]->text, change_scales[SCALE_MONOTONE]))
        return mistake(
            r->err, trend->at,
            "a monotone trend is 'less' or 'greater': for 'equal' use 'order', its slope");
    if (expect && !number)
        return mistake(r->err, expect->at,
                       "'expect' must be a number: the A - B that seeds "
                       "are planned for");
    return true;
}

static void put_numbers(struct json m, const struct value *v, const struct numbers *n)
{
    json_put_text(m, "direction", claim_directions[n->direction]);
    json_put_number(m, "margin", n->margin);
    json_put_number(m, "alpha", n->alpha);
    json_put_text(m, "test", claim_tests[n->test]);
    if (n->sampled) /* the default is left out, so that earlier claims keep their SHA-256 */
        value_set(m.a, m.v, "sampled", NOWHERE, value_get(v, "sampled"));
    if (value_get(v, "expect"))
        json_put_number(m, "expect", value_get(v, "expect")->real);
    if (value_get(v, "weight"))
        json_put_number(m, "weight", n->weight);
}

static bool read_claim(struct reading *r, const struct value *v, struct value *claims)
{
    static const char *const others[] = {"name",   "contrast", "rows",   "interaction", "trend",
                                         "metric", "length",   "expect", NULL};
    struct numbers n = {.text = ""};
    bool ok = params_fill(rows, &n, v, "a claim", others, r->a, r->err) == PEAT_OK &&
              read_name(r, v, claims) && check_numbers(r, v, &n) && check_weight(r, v);
    struct value *out = value_map(r->a, v->at);
    if (!(ok && read_compared(r, v, out)))
        return false;
    struct json m = {r->a, out};
    json_put_text(m, "name", value_get(v, "name")->text);
    json_put_text(m, "text", n.text);
    put_numbers(m, v, &n);
    value_append(r->a, claims, out);
    return true;
}

bool claims_read(struct reading *r)
{
    const struct value *v = value_get(r->root, "claims");
    r->e->claims = NULL;
    if (!v || v->kind == VALUE_NULL)
        return looks_count(r);
    if (v->kind != VALUE_LIST)
        return mistake(r->err, v->at, "'claims' must be a list of maps");
    bool ok = true;
    struct value *claims = value_list(r->a, v->at);
    for (int i = 0; ok && i < v->n; i++)
        ok = read_claim(r, v->item[i], claims);
    r->e->claims = claims->n ? claims : NULL;
    ok = ok && looks_count(r);
    if (ok)
        looks_put(r, claims);
    return ok;
}

/* ---- its normal form ---- */

/* False: the looks are damaged. */
static bool read_looks(struct claim *c, const struct value *v)
{
    int spending = names_find(claim_spendings, json_get_text(v, "spending"));
    c->n_look = json_get_count(v, "looks");
    c->share = json_get_number(v, "share");
    bool sound = c->n_look <= EXPERIMENT_MAX_LOOKS && spending >= 0 && c->share > 0.0;
    for (int k = 0; sound && k < c->n_look; k++) {
        const struct value *look = json_get_item(v, "looks", k);
        sound = look->kind == VALUE_INT && look->integer > (k ? c->look[k - 1] : 1);
        c->look[k] = (int)look->integer;
    }
    c->spending = sound ? spending : 0;
    return sound || c->n_look == 0;
}

peat_status claim_from_value(struct claim *c, const struct value *v, const struct labelled *axes,
                             struct error *err)
{
    peat_status status = contrast_from_value(&c->contrast, v, axes, err);
    if (status == PEAT_OK)
        status = change_from_value(&c->change, v, axes, err);
    if (status != PEAT_OK)
        return status;
    int direction = names_find(claim_directions, json_get_text(v, "direction"));
    int test = names_find(claim_tests, json_get_text(v, "test"));
    c->name = json_get_text(v, "name");
    c->text = json_get_text(v, "text");
    c->margin = json_get_number(v, "margin");
    c->alpha = json_get_number(v, "alpha");
    c->expect = json_get_number(v, "expect");
    if (!c->name || !c->text || direction < 0 || test < 0 || !(c->margin >= 0.0) ||
        !(c->alpha > 0.0) || !read_looks(c, v))
        return error_set(err, PEAT_CORRUPT, "claim '%s' is damaged", c->name ? c->name : "");
    c->direction = (enum claim_direction)direction;
    c->test = claim_tests[test];
    c->sampled = names_find(claim_samples, json_get_text(v, "sampled")) == SAMPLED_SEEDS_AND_TEXT
                     ? SAMPLED_SEEDS_AND_TEXT
                     : SAMPLED_SEEDS;
    return PEAT_OK;
}
