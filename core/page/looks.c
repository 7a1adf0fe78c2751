/* SPDX-License-Identifier: MIT */
/*
 * looks.c: the schemes of a grid, and their tables.
 *
 * Tables come from the schemes' own code, which runs in a process of its own: a plugin that is
 * gone, crashes or never returns costs its picture, not the report.
 */
#include "looks.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "inspect/describe.h"
#include "process/apart.h"
#include "tensor/gemm.h"

enum { POSITIONS_MAX = 256, HEADS_MAX = 8 };

/* ---- which schemes ---- */

/* Parameters by themselves, and in the title as a person would write them. */
static void read_parameters(const struct value *scheme, struct arena *a, struct look *look)
{
    struct json given = json_map(a);
    struct strbuf title;
    strbuf_init(&title);
    strbuf_add(&title, look->request.scheme);
    for (int i = 0; i < scheme->n; i++) {
        const char *key = scheme->key[i];
        struct value *item = scheme->item[i];
        if (strcmp(key, "plugin") == 0 || strcmp(key, "where") == 0 || strcmp(key, "share") == 0)
            continue;
        json_put(given, key, item);
        strbuf_addf(&title, " %s=", key);
        if (item->kind == VALUE_TEXT)
            strbuf_add(&title, item->text);
        else
            json_print(item, JSON_CANONICAL, &title);
    }
    look->request.given = given.v;
    look->title = arena_strdup(a, title.text);
    strbuf_release(&title);
}

static bool read_look(const struct value *config, const struct value *scheme, struct arena *a,
                      struct look *look)
{
    const struct value *model = value_get(config, "model");
    int64_t T = json_get_int(value_get(config, "train"), "seq_len", 0);
    int64_t heads = json_get_int(model, "n_head", 1);
    *look = (struct look){.request = {.scheme = json_get_text(scheme, "plugin"),
                                      .d = json_get_int(model, "d_model", 0),
                                      .T = T < POSITIONS_MAX ? T : POSITIONS_MAX,
                                      .heads = heads}};
    if (!look->request.scheme || look->request.d <= 0 || T <= 0 || heads <= 0 ||
        strcmp(look->request.scheme, "none") == 0)
        return false;
    read_parameters(scheme, a, look);
    return true;
}

int looks_list(const struct results *r, struct arena *a, struct look look[LOOKS_MAX])
{
    int n = 0;
    for (int i = 0; i < r->n_cell; i++) {
        const struct value *config = r->cell[i].config;
        const struct value *schemes = value_get(value_get(config, "position"), "scheme");
        for (int k = 0; k < json_get_count(value_get(config, "position"), "scheme"); k++) {
            struct look one;
            bool seen = n == LOOKS_MAX || !read_look(config, schemes->item[k], a, &one);
            for (int m = 0; m < n && !seen; m++)
                seen = strcmp(look[m].title, one.title) == 0;
            if (!seen)
                look[n++] = one;
        }
    }
    return n;
}

/* ---- a table from another process ---- */

/* Before its values. */
struct message {
    char what[1024];
    int64_t heads, rows, columns;
    int64_t text_bytes; /* behind the values */
};

/* The first heads, and what describes them. */
static void add_message(const struct look *look, struct scheme_table *t, const struct team *team,
                        struct arena *a, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text);
    int64_t heads = t->heads;
    t->heads = heads > HEADS_MAX ? HEADS_MAX : heads;
    if (describe_page(team, t, look->request.scheme, &text, a, NULL) != PEAT_OK)
        strbuf_clear(&text);
    struct message m = {"", heads, t->rows, t->columns, (int64_t)text.n};
    int64_t n = (t->heads ? t->heads : 1) * t->rows * t->columns;
    snprintf(m.what, sizeof(m.what), "%s", t->what);
    strbuf_add_bytes(out, &m, sizeof(m));
    strbuf_add_bytes(out, t->value, (size_t)n * sizeof(*t->value));
    strbuf_add_bytes(out, text.text, text.n);
    strbuf_release(&text);
}

static peat_status send_table(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct look *look = ctx;
    struct scheme_request request = look->request;
    struct arena a;
    struct scheme_table t;
    struct team team = {1, NULL};
    request.trail = trail;
    request.team = &team;
    arena_init(&a, "scheme", 1 << 20);
    parallel_start();
    peat_status status = gemm_start(&team, "auto", err);
    if (status == PEAT_OK)
        status = scheme_table_make(&t, &request, &a, err);
    if (status == PEAT_OK)
        add_message(look, &t, &team, &a, out);
    arena_release(&a);
    return status;
}

static void read_message(const struct strbuf *sent, struct arena *a, struct scheme_look *seen)
{
    struct message m;
    memcpy(&m, sent->text, sizeof(m));
    const char *value = sent->text + sizeof(m);
    size_t bytes = sent->n - sizeof(m) - (size_t)m.text_bytes;
    *seen = (struct scheme_look){
        .heads = m.heads,
        .table = {arena_strdup(a, m.what), m.heads > HEADS_MAX ? HEADS_MAX : m.heads, m.rows,
                  m.columns, arena_alloc(a, bytes)},
        .numbers = arena_printf(a, "%.*s", (int)m.text_bytes, value + bytes)};
    memcpy(seen->table.value, value, bytes);
}

bool look_see(struct look *look, struct arena *a, struct scheme_look *seen, const char **why)
{
    struct strbuf sent;
    struct error err = {0};
    strbuf_init(&sent);
    peat_status status =
        apart_run(send_table, look, apart_seconds(), APART_SILENT, &sent, NULL, &err);
    if (status == PEAT_OK)
        read_message(&sent, a, seen);
    else
        *why = arena_strdup(a, err.text);
    strbuf_release(&sent);
    return status == PEAT_OK;
}
