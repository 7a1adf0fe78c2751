/* SPDX-License-Identifier: MIT */
/* csv_select.c: fewer columns of a csv text. */
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

enum { CSV_COLUMNS = 128 };

/* What is kept, in the order asked for. */
struct selection {
    int n_column, n;
    const char *name[CSV_COLUMNS]; /* all heads, without quotes */
    int column[CSV_COLUMNS];
};

/* One field as it stands, quotes included; the separator behind it is not part. */
struct field {
    const char *text;
    size_t n;
};

static size_t field_length(const char *text)
{
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (quoted || (text[n] != ',' && text[n] != '\n')); n++)
        quoted ^= text[n] == '"';
    return n;
}

/* Splits the line at text; returns where the next begins. */
static const char *split_line(const char *text, struct field *field, int *n)
{
    *n = 0;
    for (;;) {
        size_t length = field_length(text);
        if (*n < CSV_COLUMNS)
            field[(*n)++] = (struct field){text, length};
        text += length;
        if (*text != ',')
            return *text ? text + 1 : text;
        text++;
    }
}

static int find_column(const struct selection *s, const char *word, size_t n)
{
    for (int i = 0; i < s->n_column; i++)
        if (strlen(s->name[i]) == n && memcmp(s->name[i], word, n) == 0)
            return i;
    return -1;
}

static peat_status no_column(const struct selection *s, const char *word, size_t n,
                             struct error *err)
{
    struct strbuf known, own;
    strbuf_init(&known);
    strbuf_init(&own);
    strbuf_add_bytes(&own, word, n);
    for (int i = 0; i < s->n_column; i++)
        strbuf_addf(&known, "%s%s", i ? ", " : "", s->name[i]);
    const char *near = nearest_name(own.text, s->name, s->n_column);
    error_set(err, PEAT_INVALID, "--columns: the csv has no '%s'; it has %s%s%s%s", own.text,
              known.text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    strbuf_release(&known);
    strbuf_release(&own);
    return PEAT_INVALID;
}

static peat_status choose(struct selection *s, const char *columns, struct error *err)
{
    for (int i = 0; !columns && i < s->n_column; i++)
        s->column[s->n++] = i;
    for (const char *word = columns; word && *word;) {
        size_t n = strcspn(word, ",");
        int column = find_column(s, word, n);
        if (column < 0)
            return no_column(s, word, n, err);
        if (s->n < CSV_COLUMNS)
            s->column[s->n++] = column;
        word += n + (word[n] == ',');
    }
    return PEAT_OK;
}

static void drop_unchanged(struct selection *s, const char *lines)
{
    struct field first[CSV_COLUMNS], field[CSV_COLUMNS];
    bool changes[CSV_COLUMNS] = {false};
    int n, kept = 0, n_line = 0;
    for (; *lines; n_line++) {
        lines = split_line(lines, n_line ? field : first, &n);
        for (int i = 0; n_line && i < n; i++)
            changes[i] = changes[i] || field[i].n != first[i].n ||
                         memcmp(field[i].text, first[i].text, field[i].n) != 0;
    }
    for (int i = 0; i < s->n; i++)
        if (n_line < 2 || changes[s->column[i]] || strcmp(s->name[s->column[i]], "value") == 0)
            s->column[kept++] = s->column[i];
    s->n = kept;
}

static void write_selected(const struct selection *s, const char *text, struct strbuf *out)
{
    struct field field[CSV_COLUMNS];
    int n;
    while (*text) {
        text = split_line(text, field, &n);
        for (int i = 0; i < s->n; i++) {
            strbuf_add(out, i ? "," : "");
            strbuf_add_bytes(out, field[s->column[i]].text, field[s->column[i]].n);
        }
        strbuf_add(out, "\n");
    }
}

peat_status csv_select(struct strbuf *csv, const char *columns, bool only_changed,
                       struct error *err)
{
    struct selection s = {.n = 0};
    struct field head[CSV_COLUMNS];
    struct arena names;
    struct strbuf out;
    arena_init(&names, "csv", 4096);
    strbuf_init(&out);
    const char *lines = split_line(csv->text, head, &s.n_column);
    for (int i = 0; i < s.n_column; i++)
        s.name[i] = arena_printf(&names, "%.*s", (int)head[i].n, head[i].text);
    peat_status status = choose(&s, columns, err);
    if (status == PEAT_OK && only_changed)
        drop_unchanged(&s, lines);
    if (status == PEAT_OK) {
        write_selected(&s, csv->text, &out);
        strbuf_clear(csv);
        strbuf_add_bytes(csv, out.text, out.n);
    }
    strbuf_release(&out);
    arena_release(&names);
    return status;
}
