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

static void add_header(struct html_page *p)
{
    const struct results *r = p->r;
    html_wrap(p->out, "<header>\n<h1>", title_of(p), "</h1>\n");
    for (int d = 0; d < r->n_dir; d++) {
        const char *text = json_get_text(r->dir[d].plan, "description");
        if (text && *text)
            html_wrap(p->out, "<p>", text, "</p>\n");
    }
    strbuf_addf(p->out, "<p class=\"soft\">%d row%s &times; %d seed%s, %d cells", r->n_row,
                plural(r->n_row), r->n_seed, plural(r->n_seed), results_count_reported(r));
    for (int i = 0; i < r->n_axis; i++)
        html_textf(p->out, "%s%s", i ? ", " : "; axes: ", r->axis[i]);
    strbuf_add(p->out, "</p>\n");
    for (int i = 0; i < r->registration.n; i++)
        html_wrap(p->out, "<p class=\"soft\">", r->registration.line[i], "</p>\n");
    strbuf_add(p->out, "</header>\n");
}

/* The parts after the answers. */
static html_part *const parts[] = {html_figures,    html_table,    html_exact,     html_glances,
                                   html_learned,    html_schemes,  html_injection, html_cells,
                                   html_provenance, html_reproduce};

peat_status html_report(const struct results *r, const struct html_options *o, struct arena *a,
                        struct strbuf *out, bool *no_gnuplot, struct error *err)
{
    struct html_page p = {.out = out, .r = r, .o = o, .a = a, .err = err};
    const struct plot_options axes = {.lines = o->lines, .panels = o->panels};
    if (results_find_length(r, o->length, &p.length, a, err) != PEAT_OK ||
        plot_check(r, &axes, a, err) != PEAT_OK)
        return err->status;
    add_head(&p);
    add_header(&p);
    /* Claims, made before the run, come first; then the best row is one more finding. */
    bool asked = r->claims.claims;
    (asked ? html_claims : html_verdict)(&p);
    html_contrasts(&p);
    if (asked)
        html_verdict(&p);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        parts[i](&p);
    strbuf_addf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", report_js);
    *no_gnuplot = p.no_gnuplot;
    return err->status;
}
