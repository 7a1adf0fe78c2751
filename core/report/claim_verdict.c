/* SPDX-License-Identifier: MIT */
/* claim_verdict.c: judges the claims of a file, at present and before the first step. */
#include "report/claim_verdict.h"

#include "report/numbers.h"

/* ---- all claims ---- */

/* Claims without a p count in the family too. */
static void adjust(struct claim_verdicts *v, struct arena *a)
{
    double *p = ARENA_ARRAY(a, v->n, double), *q = ARENA_ARRAY(a, v->n, double);
    for (int i = 0; i < v->n; i++) {
        p[i] = isnan(v->item[i].p) ? 1.0 : v->item[i].p;
        q[i] = isnan(v->item[i].against) ? 1.0 : v->item[i].against;
    }
    holm_adjust(p, v->n);
    holm_adjust(q, v->n);
    for (int i = 0; i < v->n; i++) {
        if (v->item[i].claim.n_look)
            continue;
        v->item[i].p_holm = isnan(v->item[i].p) ? v->item[i].p : p[i];
        v->item[i].against_holm = isnan(v->item[i].against) ? v->item[i].against : q[i];
    }
}

peat_status claim_test(struct claim_verdict *c, const struct results *r, const struct value *v,
                       struct arena *a, struct error *err)
{
    peat_status status = claim_test_once(c, r, v, a, err);
    return status == PEAT_OK && c->claim.n_look ? claim_look(c, r, v, a, err) : status;
}

void claims_settle(struct claim_verdicts *v, struct arena *a)
{
    adjust(v, a);
    for (int i = 0; i < v->n; i++)
        if (!v->item[i].claim.n_look)
            claim_decide(&v->item[i], v->n, a);
}

static peat_status claims_judge(struct claim_verdicts *v, const struct results *r,
                                const struct claims_version *version, struct arena *a,
                                struct error *err)
{
    peat_status status = PEAT_OK;
    *v = (struct claim_verdicts){.n = version->claims->n, .version = version};
    v->item = ARENA_ARRAY(a, v->n, struct claim_verdict);
    for (int i = 0; status == PEAT_OK && i < v->n; i++)
        status = claim_test(&v->item[i], r, version->claims->item[i], a, err);
    if (status == PEAT_OK)
        claims_settle(v, a);
    return status;
}

/* Whether a version between these two had other claims than both, which are equal. */
static bool went_and_came(const struct claims_kept *kept, int from)
{
    bool other = false;
    for (int i = from + 1; i < kept->n; i++)
        other = other || strcmp(kept->version[i].hash, kept->version[from].hash) != 0;
    return other;
}

/* As peat 1.0 counted: cells that are in the table, those of two directories once. */
static int count_begun(const struct results *r, const char *written_utc)
{
    int n = 0;
    for (int i = 0; i < r->n_cell; i++) {
        const struct result_cell *c = &r->cell[i];
        const char *started = json_get_text(c->meta, "started_utc");
        n += result_is_reported(c) && result_counts(c) && started &&
             strcmp(started, written_utc) < 0;
    }
    return n;
}

peat_status claims_history(struct claim_history *h, const struct results *r, struct arena *a,
                           struct error *err)
{
    const struct claims_kept *kept = &r->claims;
    *h = (struct claim_history){.registration = &r->registration};
    if (!kept->claims)
        return PEAT_OK;
    const struct registered found = claims_registered(kept, r->n_dir, r->dir);
    const struct claims_version *now = &kept->version[kept->n - 1],
                                *first = &kept->version[found.at];
    bool same = strcmp(first->hash, now->hash) == 0;
    h->late = found.late;
    h->begun = first->registered ? found.begun : count_begun(r, first->written_utc);
    h->back = same && went_and_came(kept, found.at);
    h->replanned = same && !h->back && first->registered && first != now;
    now = same ? first : now;
    peat_status status = claims_judge(&h->now, r, now, a, err);
    /* Claims about axes that the rows no longer have are listed without a verdict. */
    if (status == PEAT_OK && first != now && claims_judge(&h->first, r, first, a, NULL) != PEAT_OK)
        h->first = (struct claim_verdicts){.version = first};
    return status;
}

double claim_p(const struct claim_verdict *v)
{
    bool fails = v->verdict == CLAIM_FAILS, once = v->claim.n_look == 0;
    return fails ? (once ? v->against_holm : v->against) : once ? v->p_holm : v->p;
}

double claim_level(const struct claim_verdict *v)
{
    return v->verdict == CLAIM_FAILS ? v->against_level : v->level;
}

/* ---- words ---- */

/* "combine: concat_split - sum", and how the effect changes. */
static const char *effect_words(const struct claim_verdict *v, struct arena *a)
{
    const struct change *c = &v->claim.change;
    const char *what = effects_what(&v->effects, a);
    const char *axis = c->kind == CHANGE_NONE ? "" : results_axis_name(v->effects.r, c->axis);
    switch (c->kind) {
    case CHANGE_INTERACTION:
        return arena_printf(a, "(%s) at %s=%s minus that at %s=%s", what, axis, c->label[0], axis,
                            c->label[1]);
    case CHANGE_SLOPE:
        return arena_printf(a, "slope of (%s) over %s%s", what,
                            c->scale == SCALE_LOG2    ? "log2 "
                            : c->scale == SCALE_ORDER ? "the order of "
                                                      : "",
                            axis);
    case CHANGE_MONOTONE:
        return arena_printf(a, "every step of (%s) along %s", what, axis);
    default:
        return what;
    }
}

const char *claim_words(const struct claim_verdict *v, struct arena *a)
{
    const struct claim *c = &v->claim;
    const char *what = effect_words(v, a), *limit = arena_printf(a, "%.4g", c->margin);
    if (c->direction == CLAIM_EQUAL)
        return arena_printf(a, "%s is within ±%s", what, limit);
    bool less = c->direction == CLAIM_LESS;
    return arena_printf(a, "%s %s %s%s", what, less ? "<" : ">", less && c->margin > 0.0 ? "-" : "",
                        limit);
}

const char *claim_per(const struct claim_verdict *v, struct arena *a)
{
    static const char *const unit[] = {"1", "doubling", "label", ""};
    const struct change *c = &v->claim.change;
    if (c->kind == CHANGE_SLOPE)
        return arena_printf(a, " per %s of %s", unit[c->scale],
                            results_axis_name(v->effects.r, c->axis));
    if (c->kind == CHANGE_MONOTONE && v->n_about)
        return arena_printf(a, " from %s", v->shown->name);
    return "";
}
