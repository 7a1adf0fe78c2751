/* SPDX-License-Identifier: MIT */
/* html_claims.c: what was claimed and whether it holds, and the contrasts of the report. */
#include "page_parts.h"
#include "report/comparison_tables.h"

/* "concat helps: holds. concat_split - sum < -0.01" */
static void say_claim(struct html_page *p, const struct claim_verdict *v)
{
    html_wrap(p->out, "<li><b>", v->claim.name, "</b>: ");
    html_wrap(p->out, "<b>", verdict_word(v->verdict), "</b>. ");
    html_text(p->out, *v->claim.text ? v->claim.text : claim_words(v, p->a));
    if (*v->why)
        html_wrap(p->out, " <span class=\"soft\">(", v->why, ")</span>");
    strbuf_add(p->out, "</li>\n");
}

static void add_claims(struct html_page *p, const struct claim_history *h)
{
    struct table t;
    html_section(p->out, "claims", "Claims");
    if (h->first.version)
        strbuf_add(p->out, "<p class=\"headline\">The claims were changed after the first "
                           "result.</p>\n");
    else if (h->late)
        strbuf_add(p->out, "<p class=\"headline\">The claims were written after the first "
                           "result.</p>\n");
    strbuf_add(p->out, "<ul>\n");
    for (int i = 0; i < h->now.n; i++)
        say_claim(p, &h->now.item[i]);
    strbuf_add(p->out, "</ul>\n");
    claims_table(&t, h, false, p->a);
    html_results_table(p, &t);
    if (h->first.version) {
        claims_table(&t, h, true, p->a);
        html_results_table(p, &t);
    }
    html_end_section(p->out);
}

peat_status html_claims(struct html_page *p)
{
    struct claim_history h;
    peat_status status = claims_history(&h, p->r, p->a, p->err);
    if (status == PEAT_OK && h.now.version)
        add_claims(p, &h);
    return status;
}

peat_status html_contrasts(struct html_page *p)
{
    int n = effects_count(p->r);
    peat_status status = PEAT_OK;
    if (n == 0)
        return PEAT_OK;
    html_section(p->out, "contrasts", n == 1 ? "Contrast" : "Contrasts");
    for (int i = 0; status == PEAT_OK && i < n; i++) {
        struct effects x;
        struct table t;
        status = effects_of_report(&x, p->r, i, p->o->length, p->a, p->err);
        if (status != PEAT_OK)
            break;
        effects_table(&t, &x, p->a);
        html_results_table(p, &t);
    }
    html_plot(
        p, PLOT_FOREST, "Paired differences",
        "Mean over seeds of A - B with its 95 % interval (Student t); small points are seeds, "
        "the dashed line is no difference.");
    html_end_section(p->out);
    return status;
}
