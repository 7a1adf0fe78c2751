/* SPDX-License-Identifier: MIT */
/* markup.c: escaping, sections and tables. */
#include "markup.h"

static void add_text(struct strbuf *out, const char *text, const char *keep)
{
    static const char special[] = "&<>\"'";
    static const char *const escape[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, text, keep);
    for (const char *c = shown.text; *c; c++) {
        const char *at = strchr(special, *c);
        strbuf_add_bytes(out, at ? escape[at - special] : c, at ? strlen(escape[at - special]) : 1);
    }
    strbuf_release(&shown);
}

void html_text(struct strbuf *out, const char *text)
{
    add_text(out, text, "");
}

void html_lines(struct strbuf *out, const char *text, const char *after)
{
    strbuf_add(out, "<pre>");
    add_text(out, text, "\n\t");
    strbuf_add(out, "</pre>");
    strbuf_add(out, after);
}

void html_textf(struct strbuf *out, const char *fmt, ...)
{
    struct strbuf text = STRBUF_NEW;
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    html_text(out, text.text);
    strbuf_release(&text);
}

void html_wrap(struct strbuf *out, const char *before, const char *text, const char *after)
{
    strbuf_add(out, before);
    html_text(out, text);
    strbuf_add(out, after);
}

void html_section(struct strbuf *out, const char *id, const char *title)
{
    strbuf_addf(out, "<section id=\"%s\">\n", id);
    html_wrap(out, "<h2>", title, "</h2>\n");
}

void html_end_section(struct strbuf *out)
{
    strbuf_add(out, "</section>\n");
}

void html_fold(struct strbuf *out, const char *id, const char *title, bool open)
{
    strbuf_addf(out, "<section id=\"%s\">\n<details class=\"fold\"%s>", id, open ? " open" : "");
    html_wrap(out, "<summary><h2>", title, "</h2></summary>\n");
}

void html_end_fold(struct strbuf *out)
{
    strbuf_add(out, "</details>\n</section>\n");
}

void html_open_table(struct strbuf *out)
{
    strbuf_add(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
}

void html_column(struct strbuf *out, const char *head, bool number)
{
    html_wrap(out, number ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">", head,
              "</th>");
}

void html_open_rows(struct strbuf *out)
{
    strbuf_add(out, "</tr></thead>\n<tbody>\n");
}

void html_close_row(struct strbuf *out)
{
    strbuf_add(out, "</tr>\n");
}

void html_close_table(struct strbuf *out)
{
    strbuf_add(out, "</tbody>\n</table></div>\n");
}
