/* SPDX-License-Identifier: MIT */
/* html.c: the page around the parts. */
#include "page/html.h"

#include "page_parts.h"

extern const char report_css[], report_js[]; /* the files of these names, made texts by the build */

static const char *title_of(const struct html_page *p)
{
    return p->o->head ? p->o->head : p->r->experiment;
}

/* The policy makes a browser load nothing from outside the page, and run our own script alone. */
static void add_head(struct html_page *p)
{
    char script[HASH_BASE64];
    hash_base64(report_js, strlen(report_js), script);
    strbuf_add(p->out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"generator\" content=\"peat " PEAT_VERSION "\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; img-src data:; ");
    strbuf_addf(p->out, "script-src 'sha256-%s'\">\n", script);
    html_wrap(p->out, "<title>", title_of(p), "</title>\n<style>\n");
    strbuf_add(p->out, report_css);
    strbuf_add(p->out, "</style>\n</head>\n<body>\n<main>\n");
}

static void add_description(struct html_page *p, const char *dir)
{
    struct value *plan;
    if (plan_read(dir, &plan, p->a, NULL) != PEAT_OK)
        return;
    const char *text = json_get_text(plan, "description");
    if (text && *text)
        html_wrap(p->out, "<p>", text, "</p>\n");
}

static void add_header(struct html_page *p)
{
    const struct results *r = p->r;
    html_wrap(p->out, "<header>\n<h1>", title_of(p), "</h1>\n");
    for (int d = 0; d < p->o->n_dir; d++)
        add_description(p, p->o->dir[d]);
    strbuf_addf(p->out, "<p class=\"soft\">%d row%s &times; %d seed%s, %d cells", r->n_row,
                plural(r->n_row), r->n_seed, plural(r->n_seed), results_count_reported(r));
    for (int i = 0; i < r->n_axis; i++)
        html_textf(p->out, "%s%s", i ? ", " : "; axes: ", r->axis[i]);
    strbuf_add(p->out, "</p>\n</header>\n");
}

static peat_status find_length(struct html_page *p)
{
    const struct results *r = p->r;
    p->length = r->n_length ? 0 : -1;
    if (p->o->length < 0 || r->n_length == 0)
        return PEAT_OK;
    p->length = results_find_length(r, p->o->length);
    return p->length >= 0 ? PEAT_OK : results_no_length(r, p->o->length, p->a, p->err);
}

/* Claims, made before the run, come first; then the best row is one more finding. */
static peat_status add_answers(struct html_page *p)
{
    bool asked = p->r->claims.n > 0;
    peat_status status = html_claims(p);
    if (!asked)
        html_verdict(p);
    if (status == PEAT_OK)
        status = html_contrasts(p);
    if (asked)
        html_verdict(p);
    return status;
}

peat_status html_report(const struct results *r, const struct html_options *o, struct arena *a,
                        struct strbuf *out, bool *no_gnuplot, struct error *err)
{
    struct html_page p = {.out = out, .r = r, .o = o, .a = a, .err = err};
    peat_status status = find_length(&p);
    if (status == PEAT_OK)
        status =
            plot_check(r, &(struct plot_options){.lines = o->lines, .panels = o->panels}, a, err);
    if (status != PEAT_OK)
        return status;
    add_head(&p);
    add_header(&p);
    status = add_answers(&p);
    if (status != PEAT_OK)
        return status;
    html_figures(&p);
    status = html_table(&p);
    if (status != PEAT_OK)
        return status;
    html_ranks(&p);
    html_exact(&p);
    html_glances(&p);
    html_learned(&p);
    html_schemes(&p);
    html_injection(&p);
    html_cells(&p);
    html_provenance(&p);
    html_reproduce(&p);
    strbuf_addf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", report_js);
    *no_gnuplot = p.no_gnuplot;
    return PEAT_OK;
}
