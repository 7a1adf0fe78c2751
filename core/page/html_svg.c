/* SPDX-License-Identifier: MIT */
/* html_svg.c: gnuplot's SVG as an element of a page that has several. */
#include <string.h>

#include "page/html.h"

/* The text of an attribute of the first tag; its length in n. */
static const char *attribute(const char *svg, const char *name, size_t *n)
{
    const char *end = strchr(svg, '>'), *at = strstr(svg, name);
    if (!at || !end || at > end)
        return NULL;
    at += strlen(name);
    *n = strcspn(at, "\"");
    return at;
}

/* gnuplot's names begin with gp or gnuplot, in id='gpPt0', '#gpPt0' and url(#gpHatch1). */
static const char *next_name(const char *text)
{
    static const char *const before[] = {"id='g", "id=\"g", "'#g", "\"#g", "(#g"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        const char *at = strstr(text, before[i]);
        if (at && (!first || at < first))
            first = at + strlen(before[i]) - 1;
    }
    return first;
}

/* Everything between the tags, but what names gnuplot's own title. */
static void add_body(struct strbuf *out, const char *body, const char *end, int n)
{
    for (const char *name; (name = next_name(body)) && name < end; body = name) {
        strbuf_add_bytes(out, body, (size_t)(name - body));
        strbuf_addf(out, "f%d", n);
    }
    strbuf_add_bytes(out, body, (size_t)(end - body));
}

static const char *after_head(const char *body)
{
    static const char *const own[] = {"</title>", "</desc>"};
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        const char *at = strstr(body, own[i]);
        body = at ? at + strlen(own[i]) : body;
    }
    return body;
}

void html_svg(struct strbuf *out, const char *svg, int n, const char *title)
{
    const char *start = strstr(svg, "<svg"), *end = start ? strstr(start, "</svg>") : NULL;
    size_t width = 0, height = 0, box = 0;
    const char *w = start ? attribute(start, " width=\"", &width) : NULL;
    const char *h = start ? attribute(start, " height=\"", &height) : NULL;
    const char *b = start ? attribute(start, " viewBox=\"", &box) : NULL;
    if (!end || !w || !h || !b)
        return;
    strbuf_addf(out, "<svg role=\"img\" width=\"%.*s\" height=\"%.*s\" viewBox=\"%.*s\">",
                (int)width, w, (int)height, h, (int)box, b);
    strbuf_add(out, "<title>");
    html_text(out, title);
    strbuf_add(out, "</title>");
    add_body(out, after_head(strchr(start, '>') + 1), end, n);
    strbuf_add(out, "</svg>\n");
}
