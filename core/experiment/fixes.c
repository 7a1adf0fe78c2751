/* SPDX-License-Identifier: MIT */
/* fixes.c: takes the mistakes that were found out of the tree of settings. */
#include "experiment/fixes.h"

static const char words_file[] = "command line";

static bool same_place(struct place a, struct place b)
{
    return a.line == b.line && a.column == b.column && same_text(a.file, b.file);
}

/* ---- messages ---- */

/* "FILE:12:51: ...", "command line:1: ..." */
static struct place place_of(const struct fixes *m, const char *said)
{
    struct place at = NOWHERE;
    size_t n = m->path ? strlen(m->path) : 0;
    if (n && !strncmp(said, m->path, n) && sscanf(said + n, ":%d:%d:", &at.line, &at.column) == 2)
        at.file = m->path;
    else if (sscanf(said, "command line:%d:", &at.line) == 1)
        at.file = words_file;
    return at;
}

static const char *without_place(const struct fixes *m, const char *said)
{
    struct place at = place_of(m, said);
    const char *rest = at.file ? said + strlen(at.file) : said;
    return at.file ? rest + strspn(rest, ":0123456789 ") : said;
}

static bool quotes(const char *said, const char *text)
{
    for (const char *at = said; *text && (at = strstr(at, text)); at++)
        if (at > said && at[-1] == '\'' && at[strlen(text)] == '\'')
            return true;
    return false;
}

/* The replacement that the message proposes; NULL: none. */
static const char *proposal(struct arena *a, const char *said)
{
    static const char before[] = "did you mean '";
    const char *at = strstr(said, before);
    if (!at)
        return NULL;
    at += strlen(before);
    return arena_printf(a, "%.*s", (int)strcspn(at, "'"), at);
}

/* Whether the place is in a section that lost a part: messages about it are not reliable. */
static bool is_in_section(const struct fix *one, struct place at)
{
    return one->last_line > 0 && same_text(at.file, one->at.file) && at.line >= one->first_line &&
           at.line < one->last_line;
}

bool fixes_explain(const struct fixes *m, const char *said)
{
    struct place at = place_of(m, said);
    for (int i = 0; i < m->n; i++) {
        const struct fix *one = &m->item[i];
        if (one->ends || same_place(one->at, at) ||
            strcmp(without_place(m, one->said), without_place(m, said)) == 0 ||
            (one->was && quotes(said, one->was)) || is_in_section(one, at))
            return true;
        for (int k = 0; k < one->n_above; k++)
            if (same_place(one->above[k], at))
                return true;
    }
    return false;
}

/* ---- the tree ---- */

/* The tree is freed before the fixes, so they copy its texts. */
static void remove_part(struct fixes *all, struct fix *m, struct value *v, int i, const char *was)
{
    m->was = was ? arena_strdup(all->a, was) : NULL;
    m->taken = true;
    for (int k = i; k + 1 < v->n; k++) {
        v->item[k] = v->item[k + 1];
        if (v->kind != VALUE_MAP)
            continue;
        v->key[k] = v->key[k + 1];
        v->key_at[k] = v->key_at[k + 1];
    }
    v->n--;
}

/* Mends a key of a map, if the message is about the key. A map has the place of its first key, so
 * the message decides. */
static bool fix_key(struct fixes *all, struct fix *m, struct value *v, int i)
{
    if (v->kind != VALUE_MAP || !same_place(v->key_at[i], m->at) || !quotes(m->said, v->key[i]))
        return false;
    if (m->name && !value_get(v, m->name))
        v->key[i] = m->name;
    else
        remove_part(all, m, v, i, v->key[i]);
    return true;
}

static bool fix_item(struct fixes *all, struct fix *m, struct value *v, int i)
{
    const struct value *item = v->item[i];
    if (!same_place(item->at, m->at))
        return false;
    if (m->name && item->kind == VALUE_TEXT)
        v->item[i] = value_text(all->a, item->at, m->name);
    else
        remove_part(all, m, v, i, item->text);
    return true;
}

/* Without its plugin a cell is another cell, so further messages about it are not reliable. */
static bool names_plugin(const struct value *v, int i)
{
    return v->kind == VALUE_MAP && (strstr(v->key[i], "scheme") || strstr(v->key[i], "combine") ||
                                    !strcmp(v->key[i], "task") || !strcmp(v->key[i], "plugin"));
}

/* Visits the deepest values first. */
static bool fix_in(struct fixes *all, struct fix *m, struct value *v)
{
    bool done = false;
    for (int i = 0; !done && i < v->n; i++) {
        bool of_plugin = names_plugin(v, i);
        done = fix_in(all, m, v->item[i]) || fix_key(all, m, v, i) || fix_item(all, m, v, i);
        m->ends = m->ends || (done && of_plugin && m->taken);
    }
    if (done) {
        struct place *above = ARENA_APPEND(all->a, m->above, m->n_above, m->room);
        *above = v->at;
        above->file = v->at.file ? arena_strdup(all->a, v->at.file) : NULL;
    }
    return done;
}

/* Settings can be removed one by one; the parts of other sections belong together. */
static bool stands_alone(const char *section)
{
    return !strcmp(section, "defaults") || !strcmp(section, "matrix") || !strcmp(section, "run");
}

/* The lines of the section that the fix is in, if the section's parts belong together. */
static void find_section(struct fix *m, const struct value *root)
{
    int section = -1;
    m->last_line = 0;
    for (int i = 0; i < root->n; i++)
        if (same_text(root->key_at[i].file, m->at.file) && root->key_at[i].line <= m->at.line &&
            (section < 0 || root->key_at[i].line > root->key_at[section].line))
            section = i;
    if (section < 0 || stands_alone(root->key[section]))
        return;
    m->first_line = root->key_at[section].line;
    m->last_line = INT_MAX;
    for (int i = 0; i < root->n; i++)
        if (same_text(root->key_at[i].file, m->at.file) && root->key_at[i].line > m->at.line &&
            root->key_at[i].line < m->last_line)
            m->last_line = root->key_at[i].line;
}

void fixes_apply(struct fixes *m, struct value *root)
{
    for (int i = 0; i < m->n; i++) {
        struct fix *one = &m->item[i];
        one->n_above = 0;
        if (root->kind == VALUE_MAP)
            find_section(one, root);
        fix_in(m, one, root);
        if (!one->taken)
            one->n_above = one->last_line = 0;
    }
}

bool fixes_drop_word(const struct fixes *m, struct place at)
{
    for (int i = 0; i < m->n; i++)
        if (same_text(m->item[i].at.file, words_file) && m->item[i].at.line == at.line)
            return true;
    return false;
}

bool fixes_add(struct fixes *m, const char *said)
{
    if (m->n == FIXES_MAX)
        return false;
    m->item[m->n++] = (struct fix){
        .at = place_of(m, said), .said = arena_strdup(m->a, said), .name = proposal(m->a, said)};
    return true;
}
