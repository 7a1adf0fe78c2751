/* SPDX-License-Identifier: MIT */
/* claim_strata.c: whether the strata over which a claim is pooled say the same. */

#include "report/claim_verdict.h"
#include "report/numbers.h"

void claim_strata(struct claim_verdict *v, const struct results *r, struct arena *a)
{
    const struct contrast_pairs *pairs = &v->effects.pairs;
    struct contrast c = v->claim.contrast;
    struct effects *x = ARENA_NEW(a, struct effects);
    v->strata = NULL;
    if (c.factor < 0 || v->claim.change.kind != CHANGE_NONE)
        return;
    for (int k = 0; k < r->n_axis; k++) {
        c.over[k] = false;
        for (int i = 1; k != c.factor && i < pairs->n; i++)
            c.over[k] = c.over[k] || !same_text(pairs->pair[i].label[k], pairs->pair[0].label[k]);
    }
    effects_compute(x, r, &c, -1, a);
    v->strata = x->n_line > 1 ? x : NULL;
}

static bool strata_is_shown(const struct effect_interaction *i)
{
    return i->test.p < STATS_LEVEL;
}

/* The strata with the least and the largest effect; false: no stratum has one. */
static bool extremes(const struct effects *x, const struct effect **low, const struct effect **high)
{
    *low = *high = NULL;
    for (int i = 0; i < x->n_line; i++) {
        const struct effect *e = &x->line[i];
        if (isnan(e->of.mean))
            continue;
        *low = !*low || e->of.mean < (*low)->of.mean ? e : *low;
        *high = !*high || e->of.mean > (*high)->of.mean ? e : *high;
    }
    return *low != NULL;
}

/* True where the effects of a pooled claim's strata have both signs. A claim of equivalence expects
 * small effects of both signs, so there one of them must be outside the margin, too. */
static bool has_both_signs(const struct claim_verdict *v)
{
    const struct effect *low, *high;
    const double margin = v->claim.direction == CLAIM_EQUAL ? v->claim.margin : 0.0;
    return v->strata && extremes(v->strata, &low, &high) && low->of.mean < 0.0 &&
           high->of.mean > 0.0 && !(low->of.mean > -margin && high->of.mean < margin);
}

/* "size", or with_p "size, p = 0.001": the axes on which the effect is shown to depend, or is not.
 */
static const char *axes_text(const struct effects *x, bool shown, bool with_p, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < x->n_interaction; i++) {
        const struct effect_interaction *on = &x->interaction[i];
        const char *axis = results_axis_name(x->r, on->axis);
        if (with_p)
            axis = arena_printf(a, "%s, p = %s", axis, number_p(a, on->test.p));
        if (strata_is_shown(on) == shown)
            text = list_add(a, text, shown ? " and " : " or ", axis);
    }
    return text;
}

const char *claim_depends(const struct claim_verdict *v, struct arena *a)
{
    const char *axes = v->strata ? axes_text(v->strata, true, false, a) : NULL;
    return axes ? arena_printf(a, "depends on %s", axes) : has_both_signs(v) ? "both signs" : NULL;
}

/* "S -0.063": the mean, with as many digits as its interval gives it. */
static const char *stratum_text(const struct effect *e, struct arena *a)
{
    const char *all = number_interval(a, e->of.mean, e->of.ci_high - e->of.mean, true);
    const char *end = strstr(all, " ±");
    return arena_printf(a, "%s %.*s", e->name, (int)(end ? end - all : (ptrdiff_t)strlen(all)),
                        all);
}

const char *claim_strata_text(const struct claim_verdict *v, struct arena *a)
{
    enum { LISTED = 8 };
    const struct effects *x = v->strata;
    const struct effect *low, *high;
    const char *text = NULL;
    if (!claim_depends(v, a) || !extremes(x, &low, &high))
        return NULL;
    for (int i = 0; x->n_line <= LISTED && i < x->n_line; i++)
        text = arena_item(a, text, "%s", stratum_text(&x->line[i], a));
    if (!text)
        text = arena_printf(a, "from %s to %s in %d strata", stratum_text(low, a),
                            stratum_text(high, a), x->n_line);
    const char *shown = axes_text(x, true, true, a);
    return shown ? arena_printf(a, "%s: depends on %s", text, shown)
                 : arena_printf(a, "%s: both signs; not shown that it depends on %s", text,
                                axes_text(x, false, true, a));
}
