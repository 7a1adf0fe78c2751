/* SPDX-License-Identifier: MIT */
/* html_claims.c: the claims with their verdicts, and the contrasts of the report. */

#include "page_parts.h"
#include "report/comparison_tables.h"
#include "report/numbers.h"

/* "-0.0575 ± 0.0086 bpb at 32 tokens over 4 seeds, p = 5.5e-04 of 2 claims" */
static void add_effect(struct html_page *p, const struct claim_verdict *v, int claims)
{
    const struct effects *x = &v->effects;
    const struct difference *d = &v->shown->of;
    const char *opposite = v->verdict == CLAIM_FAILS ? "for the opposite " : "";
    html_wrap(p->out, "<p class=\"soft\">", claim_words(v, p->a), "");
    if (d->n) {
        html_textf(p->out, ": found %s %s%s",
                   number_interval(p->a, d->mean, v->ci_high - d->mean, true), x->metric,
                   claim_per(v, p->a));
        if (x->length >= 0)
            html_textf(p->out, " at %" PRId64 " %s", x->length, p->r->length_unit);
        strbuf_addf(p->out, " over %d seed%s", d->n, plural(d->n));
        if (v->claim.n_look)
            strbuf_addf(p->out, "; %sp = %s, level %s at look %d of %d", opposite,
                        number_p(p->a, claim_p(v)), number_p(p->a, claim_level(v)), v->look,
                        v->claim.n_look);
        else if (isfinite(v->p_holm)) {
            strbuf_addf(p->out, "; %sp = %s", opposite, number_p(p->a, claim_p(v)));
            if (claims > 1)
                strbuf_addf(p->out, ", Holm over %d claims", claims);
        }
    }
    strbuf_add(p->out, "</p>\n");
}

static void say_claim(struct html_page *p, const struct claim_verdict *v, int claims)
{
    const char *depends = claim_depends(v, p->a), *strata = claim_strata_text(v, p->a);
    strbuf_addf(p->out, "<li class=\"%s\"><p class=\"claim\"><b class=\"badge\">%s",
                claim_ends[depends ? CLAIM_UNDECIDED : v->verdict], claim_ends[v->verdict]);
    html_textf(p->out, "%s%s", depends ? ", " : "", depends ? depends : "");
    strbuf_add(p->out, "</b> ");
    if (v->run)
        html_wrap(p->out, "", v->run, ": ");
    html_wrap(p->out, "<b>", v->claim.name, "</b>");
    if (*v->claim.text)
        html_wrap(p->out, ": ", v->claim.text, "");
    strbuf_add(p->out, "</p>\n");
    add_effect(p, v, claims);
    if (strata)
        html_wrap(p->out, "<p>", strata, "</p>\n");
    if (*v->why)
        html_wrap(p->out, "<p class=\"soft\">Why: ", v->why, ".</p>\n");
    strbuf_add(p->out, "</li>\n");
}

static void add_numbers(struct html_page *p, const struct claim_history *h)
{
    struct table t;
    strbuf_add(p->out, "<details><summary>The claims in numbers, and how they are judged</summary>"
                       "\n");
    claims_table(&t, h, false, p->a);
    html_results_table(p, &t);
    strbuf_add(p->out, "</details>\n");
    if (h->first.version) {
        claims_table(&t, h, true, p->a);
        html_results_table(p, &t);
    }
}

void html_claims(struct html_page *p)
{
    const struct claim_history *h = p->o->claims;
    html_section(p->out, "claims", "Claims");
    const struct claims_version *first = h->first.version ? h->first.version : h->now.version;
    if (h->first.version || h->late)
        strbuf_addf(p->out, "<p class=\"headline\">The claims were %s after the first %s.</p>\n",
                    h->first.version ? "changed" : "written", claims_first(first));
    else if (h->begun)
        strbuf_addf(p->out,
                    "<p class=\"headline\">The claims were written after %d of the cells "
                    "were started.</p>\n",
                    h->begun);
    else if (h->replanned)
        strbuf_add(p->out,
                   "<p class=\"headline\">The plan was changed after the first step.</p>\n");
    strbuf_add(p->out, "<ul class=\"claims\">\n");
    for (int i = 0; i < h->now.n; i++)
        say_claim(p, &h->now.item[i], h->now.n);
    strbuf_add(p->out, "</ul>\n");
    add_numbers(p, h);
    html_end_section(p->out);
}

void html_contrasts(struct html_page *p)
{
    int n = effects_count(p->r);
    if (n == 0)
        return;
    html_section(p->out, "contrasts", n == 1 ? "Contrast" : "Contrasts");
    p->contrasts = ARENA_ARRAY(p->a, n, struct effects);
    for (int i = 0; i < n; i++) {
        struct effects *x = &p->contrasts[i];
        struct table t;
        if (effects_of_report(x, p->r, i, p->o->length, p->a, p->err) != PEAT_OK)
            return;
        effects_table(&t, x, p->a);
        html_results_table(p, &t);
    }
    html_plot(
        p, PLOT_FOREST, "Paired differences",
        "Mean over seeds of A - B with its 95 % interval (Student t); small points are seeds, "
        "the dashed line is no difference.");
    html_end_section(p->out);
}
