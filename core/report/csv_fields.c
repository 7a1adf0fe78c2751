/* SPDX-License-Identifier: MIT */
/* csv_fields.c: fields and lines of comma-separated values. */
#include "report/table.h"

/* A spreadsheet would interpret it as a formula. */
static bool is_formula(const char *text)
{
    char *end;
    strtod(text, &end);
    bool number = end > text && !*end && !text[strspn(text, "+-.0123456789eE")];
    return *text && strchr("=+-@", *text) && text[1] && !number;
}

void csv_field(struct strbuf *out, const char *text)
{
    struct strbuf shown = STRBUF_NEW;
    strbuf_add(&shown, is_formula(text) ? "'" : "");
    shown_add(&shown, text, "");
    bool quoted = strpbrk(shown.text, ",\"") != NULL;
    strbuf_add(out, quoted ? "\"" : "");
    for (const char *c = shown.text; *c; c++) {
        strbuf_add_bytes(out, c, 1);
        if (*c == '"')
            strbuf_add(out, "\"");
    }
    strbuf_add(out, quoted ? "\"" : "");
    strbuf_release(&shown);
}

static void csv_add_value(struct strbuf *out, const struct value *v)
{
    char number[32] = "";
    if (v->kind == VALUE_INT || v->kind == VALUE_REAL) {
        if (isfinite(v->real))
            number_text(v->real, number);
        csv_field(out, number);
    } else if (v->kind == VALUE_TEXT) {
        csv_field(out, v->text);
    }
}

void csv_line(const struct value *map, bool head, struct strbuf *out)
{
    for (int i = 0; head && i < map->n; i++) {
        strbuf_add(out, i ? "," : "");
        csv_field(out, map->key[i]);
    }
    strbuf_add(out, head ? "\n" : "");
    for (int i = 0; i < map->n; i++) {
        strbuf_add(out, i ? "," : "");
        csv_add_value(out, map->item[i]);
    }
    strbuf_add(out, "\n");
}
