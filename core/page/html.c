/* SPDX-License-Identifier: MIT */
/* html.c: the page around the parts. */
#include "page/html.h"

#include <inttypes.h>
#include <string.h>

#include "base/jsonfile.h"

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d5dae0;"
    "--box:#f5f7f9;--mark:#0072b2}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e4e7eb;--soft:#9aa4af;"
    "--line:#353c44;--box:#1d2126;--mark:#56b4e9}\n"
    /* The two blues of the palette, lighter and still apart. */
    ".drawing svg [stroke='rgb(  0, 114, 178)']{stroke:#3d8fd6}"
    ".drawing svg [color='rgb(  0, 114, 178)']{color:#3d8fd6}"
    ".drawing svg [stroke='rgb( 86, 180, 233)']{stroke:#a9deff}"
    ".drawing svg [color='rgb( 86, 180, 233)']{color:#a9deff}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\n"
    "main{max-width:72rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0;overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.5rem 0 .75rem;padding-bottom:.3rem;"
    "border-bottom:1px solid var(--line)}\n"
    "h3{font-size:1rem;margin:1.5rem 0 .5rem;overflow-wrap:anywhere}\n"
    "p,li,dd{overflow-wrap:anywhere}p{margin:.6rem 0;max-width:60rem}\n"
    ".soft,figcaption,caption{color:var(--soft);font-size:.9rem}\n"
    ".verdict{background:var(--box);border-left:4px solid var(--mark);border-radius:0 6px 6px 0;"
    "padding:1rem 1.25rem .6rem;margin:1.25rem 0}\n"
    ".verdict .scroll{background:var(--paper)}"
    ".headline{font-size:1.45rem;line-height:1.3;margin:0 0 .5rem}.headline b{font-weight:700}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(13.5rem,1fr));"
    "gap:.5rem 1.75rem;margin:1rem 0}\n"
    ".tiles p{margin:0}.value{font-size:1.3rem;font-weight:600;line-height:1.4;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}.tiles .soft{line-height:1.4}\n"
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:4px;margin:.75rem 0}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}\n"
    ".scroll table{min-width:100%}\n"
    "th,td{padding:.3rem .55rem;text-align:left;border-bottom:1px solid var(--line)}\n"
    "thead th{background:var(--box);font-weight:600}tbody tr:last-child>*{border-bottom:0}\n"
    ".scroll th:first-child{position:sticky;left:0;background:var(--paper)}"
    ".scroll thead th:first-child{background:var(--box)}"
    "tbody th{font-weight:400}.number{text-align:right}\n"
    "sup{color:var(--soft);margin-left:.15em;line-height:0}\n"
    "ul.notes{padding-left:1.2rem;color:var(--soft);font-size:.9rem}\n"
    "figure{margin:1.25rem 0}figcaption{margin-top:.3rem;max-width:60rem}\n"
    ".drawing{overflow-x:auto}.drawing svg{display:block;height:auto;max-width:100%;"
    "min-width:36rem}\n"
    ".drawing svg [stroke='black']{stroke:var(--ink)}.drawing svg [fill='black']{fill:var(--ink)}"
    ".drawing svg [color='black']{color:var(--ink)}.drawing svg [stroke='rgb(187, 187, 187)']"
    "{stroke:var(--line)}\n"
    "pre{background:var(--box);border:1px solid var(--line);border-radius:4px;padding:.6rem .8rem;"
    "overflow-x:auto;font:.82rem/1.45 ui-monospace,'DejaVu Sans Mono',monospace;margin:.6rem 0}\n"
    "summary{cursor:pointer;color:var(--mark)}details{margin:.75rem 0}\n"
    "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.25rem 1rem;margin:0;"
    "font-size:.9rem}dt{color:var(--soft)}dd{margin:0;min-width:0}\n"
    "@media print{.scroll,.drawing,pre{overflow:visible}pre{white-space:pre-wrap}}\n";

/* ---- text ---- */

void html_text(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            strbuf_add(out, "&amp;");
            break;
        case '<':
            strbuf_add(out, "&lt;");
            break;
        case '>':
            strbuf_add(out, "&gt;");
            break;
        case '"':
            strbuf_add(out, "&quot;");
            break;
        case '\'':
            strbuf_add(out, "&#39;");
            break;
        default: {
            unsigned char c = (unsigned char)*text;
            bool forbidden = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
            strbuf_add_bytes(out, forbidden ? " " : text, 1);
        }
        }
    }
}

void html_textf(struct strbuf *out, const char *fmt, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text);
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    html_text(out, text.text);
    strbuf_release(&text);
}

void html_section(struct html_page *p, const char *id, const char *title)
{
    strbuf_addf(p->out, "<section id=\"%s\">\n<h2>", id);
    html_text(p->out, title);
    strbuf_add(p->out, "</h2>\n");
}

void html_end_section(struct html_page *p)
{
    strbuf_add(p->out, "</section>\n");
}

/* ---- page ---- */

static const char *title_of(const struct html_page *p)
{
    return p->o->head ? p->o->head : p->r->experiment;
}

/* The policy makes a browser refuse what the page does not hold itself. */
static void add_head(struct html_page *p)
{
    strbuf_add(p->out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"generator\" content=\"peat " PEAT_VERSION "\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; img-src data:\">\n<title>");
    html_text(p->out, title_of(p));
    strbuf_addf(p->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
}

static void add_description(struct html_page *p, const char *dir)
{
    struct value *plan;
    if (jsonfile_read(dir, "plan.json", p->a, &plan, NULL) != PEAT_OK)
        return;
    const char *text = member_text(plan, "description");
    if (!text || !*text)
        return;
    strbuf_add(p->out, "<p>");
    html_text(p->out, text);
    strbuf_add(p->out, "</p>\n");
}

static void add_header(struct html_page *p)
{
    const struct results *r = p->r;
    strbuf_add(p->out, "<header>\n<h1>");
    html_text(p->out, title_of(p));
    strbuf_add(p->out, "</h1>\n");
    for (int d = 0; d < p->o->n_dir; d++)
        add_description(p, p->o->dir[d]);
    strbuf_addf(p->out, "<p class=\"soft\">%d row%s &times; %d seed%s, %d cells", r->n_row,
                r->n_row == 1 ? "" : "s", r->n_seed, r->n_seed == 1 ? "" : "s", r->n_cell);
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
    for (int l = 0; l < r->n_length; l++)
        if (r->length[l] == p->o->length) {
            p->length = l;
            return PEAT_OK;
        }
    return error_set(p->err, PEAT_INVALID, "nothing was evaluated at length %" PRId64,
                     p->o->length);
}

peat_status html_report(const struct results *r, const struct html_options *o, struct arena *a,
                        struct strbuf *out, struct error *err)
{
    struct html_page p = {.out = out, .r = r, .o = o, .a = a, .err = err};
    peat_status status = find_length(&p);
    if (status != PEAT_OK)
        return status;
    add_head(&p);
    add_header(&p);
    html_verdict(&p);
    status = html_table(&p);
    if (status != PEAT_OK)
        return status;
    html_ranks(&p);
    html_figures(&p);
    html_learned(&p);
    html_schemes(&p);
    html_injection(&p);
    html_cells(&p);
    html_provenance(&p);
    html_reproduce(&p);
    strbuf_add(out, "</main>\n</body>\n</html>\n");
    return PEAT_OK;
}
