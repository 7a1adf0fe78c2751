/* SPDX-License-Identifier: MIT */
/* page_text.c: markup taken away. */
#include "support/page_text.h"

#include <check.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 64, NAME = 24 };

struct reader {
    struct strbuf *out;
    char open[DEPTH][NAME];
    int depth;
};

static bool is_one_of(const char *name, const char *names)
{
    char word[NAME + 2];
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(names, word);
}

static bool is_inside(const struct reader *r, const char *name)
{
    for (int i = 0; i < r->depth; i++)
        if (strcmp(r->open[i], name) == 0)
            return true;
    return false;
}

/* ---- text ---- */

static void add_char(struct reader *r, char c)
{
    struct strbuf *out = r->out;
    char last = out->n ? out->text[out->n - 1] : '\n';
    c = c == '\n' && !is_inside(r, "pre") ? ' ' : c;
    if (!(isspace((unsigned char)c) && isspace((unsigned char)last)))
        strbuf_add_bytes(out, &c, 1);
}

static void add_text(struct reader *r, const char *text)
{
    for (; *text; text++)
        add_char(r, *text);
}

static void end_line(struct reader *r)
{
    struct strbuf *out = r->out;
    if (out->n && out->text[out->n - 1] == ' ')
        out->text[--out->n] = '\0';
    if (out->n && out->text[out->n - 1] != '\n')
        strbuf_add(out, "\n");
}

/* Of a drawing the title alone is read, of the head nothing. */
static bool is_shown(const struct reader *r)
{
    bool title = r->depth > 1 && strcmp(r->open[r->depth - 2], "svg") == 0 &&
                 strcmp(r->open[r->depth - 1], "title") == 0;
    return title || !(is_inside(r, "svg") || is_inside(r, "head"));
}

static const char *add_entity(struct reader *r, const char *at)
{
    static const char *const entity[][2] = {{"&amp;", "&"},  {"&lt;", "<"},    {"&gt;", ">"},
                                            {"&#34;", "\""}, {"&quot;", "\""}, {"&#39;", "'"},
                                            {"&apos;", "'"}, {"&nbsp;", " "},  {"&times;", "×"}};
    for (size_t i = 0; i < sizeof(entity) / sizeof(*entity); i++)
        if (strncmp(at, entity[i][0], strlen(entity[i][0])) == 0) {
            if (is_shown(r))
                add_text(r, entity[i][1]);
            return at + strlen(entity[i][0]);
        }
    ck_abort_msg("an unknown entity: %.20s", at);
}

/* ---- tags ---- */

/* tag: what stands between < and >. */
static void open_element(struct reader *r, const char *name, const char *tag)
{
    if (strcmp(name, "br") == 0)
        add_text(r, " / ");
    else if (strcmp(name, "svg") == 0)
        add_text(r, "[");
    if (is_one_of(name, " br meta ") || tag[strlen(tag) - 1] == '/')
        return;
    ck_assert_int_lt(r->depth, DEPTH);
    snprintf(r->open[r->depth++], NAME, "%s", name);
}

static void close_element(struct reader *r, const char *name)
{
    ck_assert_msg(r->depth && strcmp(r->open[r->depth - 1], name) == 0, "</%s> closes <%s>", name,
                  r->depth ? r->open[r->depth - 1] : "");
    r->depth--;
    if (strcmp(name, "svg") == 0)
        add_text(r, "]");
}

static void read_tag(struct reader *r, const char *tag)
{
    char name[NAME];
    bool closes = *tag == '/';
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(tag + closes, " \n/"), tag + closes);
    bool cell = is_one_of(name, " td th "), drawn = is_inside(r, "svg");
    if (cell && !closes && r->out->n && r->out->text[r->out->n - 1] != '\n')
        add_text(r, " | ");
    if (!drawn && !cell && !is_one_of(name, " a b br sub sup "))
        end_line(r);
    if (closes)
        close_element(r, name);
    else
        open_element(r, name, tag);
}

void page_text(const char *html, struct strbuf *shown)
{
    struct reader r = {.out = shown};
    struct strbuf tag = STRBUF_NEW;
    for (const char *at = html; *at;) {
        if (*at == '<') {
            size_t n = strcspn(at, ">");
            strbuf_clear(&tag);
            strbuf_add_bytes(&tag, at + 1, n - 1);
            if (*tag.text != '!')
                read_tag(&r, tag.text);
            at += n + 1;
        } else if (*at == '&') {
            at = add_entity(&r, at);
        } else {
            if (is_shown(&r))
                add_char(&r, *at);
            at++;
        }
    }
    end_line(&r);
    ck_assert_msg(r.depth == 0, "<%s> is not closed", r.open[0]);
    strbuf_release(&tag);
}

/* ---- tables ---- */

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* Without the spaces around it; the line ends where *at is NULL. */
static void next_cell(const char **at, char cell[128])
{
    size_t n = strcspn(*at, "|\n");
    const char *end = *at + n;
    for (; n && **at == ' '; n--)
        ++*at;
    for (; n && (*at)[n - 1] == ' '; n--)
        ;
    snprintf(cell, 128, "%.*s", (int)n, *at);
    *at = *end == '|' ? end + 1 : NULL;
}

static int find_column(const char *line, const char *column)
{
    char cell[128];
    int i = 0;
    for (const char *at = line; at; i++) {
        next_cell(&at, cell);
        if (strcmp(cell, column) == 0)
            return i;
    }
    return -1;
}

void page_cell(const char *shown, const char *row, const char *column, char cell[128])
{
    size_t n = strlen(row);
    const char *line = shown;
    int at_column = -1;
    for (; *line && !(strncmp(line, row, n) == 0 && strncmp(line + n, " |", 2) == 0);
         line = next_line(line)) {
        int i = find_column(line, column);
        at_column = i < 0 ? at_column : i;
    }
    ck_assert_msg(*line && at_column >= 0, "no '%s' below '%s' in\n%s", row, column, shown);
    for (const char *at = line; at_column-- >= 0;) {
        ck_assert_msg(at, "no '%s' in the row '%s'", column, row);
        next_cell(&at, cell);
    }
}
