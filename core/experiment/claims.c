/* SPDX-License-Identifier: MIT */
/* claims.c: the section `claims`, written before an experiment is run, and the seeds that are added
 * until the claims are decided. */

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

/* each is one of spending_words */
const char *const claim_spendings[] = {"obrien-fleming", "pocock", NULL};

/* ---- the rows that are compared ---- */

static bool read_contrast(struct reading *r, const struct value *v, struct value *out)
{
    if (v->kind != VALUE_TEXT)
        return contrast_normalise(r, v, out);
    const struct value *all = r->e->report.contrasts, *named = contrast_named(all, v->text);
    int n = all ? all->n : 0;
    const char **name = ARENA_ARRAY(r->a, n + 1, const char *);
    for (int i = 0; i < n; i++)
        name[i] = value_get(all->item[i], "name")->text;
    if (!named)
        return mistake(r->err, v->at, "there is no contrast '%s'; %s", v->text,
                       name_hint(r->a, v->text, name, n, "report.contrasts has"));
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

/* ---- looks, while seeds are added ---- */

struct look_words {
    int64_t from, at_most, every, until, spending;
};
#define LOOK(type, field, ...) PARAM_ROW(type, struct look_words, field, #field, __VA_ARGS__)

static const char *const until_labels[] = {"claims", NULL};

static const peat_param look_rows[] = {
    LOOK(PEAT_INT, from, "seeds of the first look", WITHIN(2, EXPERIMENT_MAX_CELLS),
         .flags = PEAT_REQUIRED),
    LOOK(PEAT_INT, at_most, "seeds of the last look, those for choosing included",
         WITHIN(2, EXPERIMENT_MAX_CELLS), .flags = PEAT_REQUIRED),
    LOOK(PEAT_ENUM, until, "the condition that ends the looks", .labels = until_labels,
         .flags = PEAT_REQUIRED),
    LOOK(PEAT_INT, every, "seeds between looks; 0: as many as `from`",
         WITHIN(0, EXPERIMENT_MAX_CELLS)),
    LOOK(PEAT_ENUM, spending, "how alpha is spent over the looks", .labels = claim_spendings),
    PEAT_PARAM_END,
};

bool looks_read(struct reading *r, const struct value *v)
{
    struct look_words w = {.from = 0};
    if (params_fill(look_rows, &w, v, "seeds", NULL, r->a, r->err) != PEAT_OK)
        return false;
    if (w.at_most <= w.from)
        return mistake(r->err, value_get(v, "at_most")->at,
                       "'at_most' is %" PRId64 ", and must be more than 'from', which is %" PRId64,
                       w.at_most, w.from);
    r->e->seed = ARENA_ARRAY(r->a, w.at_most, int64_t);
    for (int64_t i = 0; i < w.at_most; i++)
        r->e->seed[i] = i;
    r->e->n_seed = (int)w.at_most;
    r->e->looks = (struct looks){
        .from = (int)w.from, .every = (int)(w.every ? w.every : w.from), .spending = w.spending};
    return true;
}

/* The number of reported seeds (not kept for choosing) at the last look. */
static int last_look(const struct reading *r)
{
    return r->e->n_seed - r->e->report.best_over.n_seed;
}

static bool check_looks(struct reading *r, const struct value *seeds)
{
    const struct looks *l = &r->e->looks;
    const struct value *every = value_get(seeds, "every");
    int last = last_look(r), added = last - l->from, most = EXPERIMENT_MAX_LOOKS - 1;
    if (!r->e->claims)
        return mistake(r->err, value_get(seeds, "until")->at,
                       "seeds until claims: the experiment has no claims");
    if (added <= 0)
        return mistake(r->err, value_get(seeds, "at_most")->at,
                       "best_over keeps %d of %d seeds for choosing, and the first look has %d: "
                       "'at_most' must be at least %d for a second look",
                       r->e->n_seed - last, r->e->n_seed, l->from, r->e->n_seed - added + 1);
    int n = 1 + (added + l->every - 1) / l->every;
    return n <= EXPERIMENT_MAX_LOOKS ||
           mistake(r->err, every ? every->at : value_key_place(seeds, "from"),
                   "%d looks from %d to %d seeds by %d are more than %d: 'every' must be at least "
                   "%d",
                   n, l->from, last, l->every, EXPERIMENT_MAX_LOOKS, (added + most - 1) / most);
}

static bool looks_count(struct reading *r)
{
    struct looks *l = &r->e->looks;
    if (l->from == 0)
        return true;
    if (!check_looks(r, value_get(r->root, "seeds")))
        return false;
    for (int at = l->from; at < last_look(r); at += l->every)
        l->count[l->n++] = at;
    l->count[l->n++] = last_look(r);
    return true;
}

static double weight_of(const struct value *claim)
{
    double weight = json_get_number(claim, "weight");
    return isnan(weight) ? 1.0 : weight;
}

/* alpha is divided beforehand by the weights, since Holm's correction needs every p at once. */
static void looks_put(struct reading *r, struct value *claims)
{
    const struct looks *l = &r->e->looks;
    double all = 0.0;
    for (int i = 0; i < claims->n; i++)
        all += weight_of(claims->item[i]);
    for (int i = 0; l->n && i < claims->n; i++) {
        struct json m = {r->a, claims->item[i]}, looks = json_put_list(m, "looks");
        for (int k = 0; k < l->n; k++)
            json_add_int(looks, l->count[k]);
        json_put_text(m, "spending", claim_spendings[l->spending]);
        json_put_number(m, "share", weight_of(claims->item[i]) / all);
    }
}

/* ---- all claims ---- */

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
