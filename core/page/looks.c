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
#include "diagnose/celltables.h"
#include "inspect/describe.h"
#include "process/apart.h"
#include "tensor/gemm.h"

enum { POSITIONS_MAX = 256, HEADS_MAX = 8 };

/* ---- which schemes ---- */

/* " base=500", as a person would write it. */
static void add_parameter(struct strbuf *out, const char *key, const struct value *item)
{
    strbuf_addf(out, " %s=", key);
    if (item->kind == VALUE_TEXT)
        strbuf_add(out, item->text);
    else
        json_print(item, JSON_CANONICAL, out);
}

/* Parameters by themselves, and in the title. */
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
        add_parameter(&title, key, item);
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
                                      .alone = true,
                                      .d = json_get_int(model, "d_model", 0),
                                      .T = T < POSITIONS_MAX ? T : POSITIONS_MAX,
                                      .heads = heads}};
    if (!look->request.scheme || look->request.d <= 0 || T <= 0 || heads <= 0 ||
        strcmp(look->request.scheme, "none") == 0)
        return false;
    read_parameters(scheme, a, look);
    return true;
}

static const struct cell_files *files_of(const struct results *r, const struct result_cell *c)
{
    for (int d = 0; result_counts(c) && d < r->n_dir; d++)
        for (int i = 0; i < r->dir[d].n; i++)
            if (c->dir && strcmp(r->dir[d].cell[i].dir, c->dir) == 0)
                return &r->dir[d].cell[i];
    return NULL;
}

/* The first finished cell that has it is its example. */
static int add_look(struct look *look, int n, const struct look *one)
{
    for (int m = 0; m < n; m++)
        if (strcmp(look[m].title, one->title) == 0) {
            if (!look[m].cell)
                look[m] = *one;
            return n;
        }
    if (n < LOOKS_MAX)
        look[n++] = *one;
    return n;
}

static bool differs(const struct look *x, const struct look *y, const char *key)
{
    const struct value *a = value_get(x->request.given, key), *b = value_get(y->request.given, key);
    return strcmp(x->request.scheme, y->request.scheme) == 0 && !(a && b && value_equal(a, b));
}

static void name_look(const struct look *all, int n, struct look *one, struct arena *a)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_add(&name, one->request.scheme);
    const struct value *given = one->request.given;
    for (int i = 0; i < given->n; i++) {
        bool varies = false;
        for (int m = 0; m < n; m++)
            varies = varies || differs(one, &all[m], given->key[i]);
        if (varies)
            add_parameter(&name, given->key[i], given->item[i]);
    }
    one->name = arena_strdup(a, name.text);
    strbuf_release(&name);
}

int looks_list(const struct results *r, struct arena *a, struct look look[LOOKS_MAX])
{
    int n = 0;
    for (int i = 0; i < r->n_cell; i++) {
        const struct value *config = r->cell[i].config;
        const struct value *schemes = value_get(value_get(config, "position"), "scheme");
        for (int k = 0; k < json_get_count(value_get(config, "position"), "scheme"); k++) {
            struct look one;
            if (!read_look(config, schemes->item[k], a, &one))
                continue;
            one.cell = files_of(r, &r->cell[i]);
            one.scheme = k;
            n = add_look(look, n, &one);
        }
    }
    for (int i = 0; i < n; i++)
        name_look(look, n, &look[i], a);
    return n;
}

/* ---- a table from another process ---- */

/* Before its values, twice those where there is a table before training. */
struct message {
    char what[256];
    int64_t heads, rows, columns;
    int64_t text_bytes; /* behind the values */
    bool trained;
};

/* The first heads, and what describes them. before: NULL, or of the same shape. */
static void add_message(const struct look *look, struct scheme_table *t,
                        const struct scheme_table *before, const struct team *team, struct arena *a,
                        struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text);
    int64_t heads = t->heads;
    t->heads = heads > HEADS_MAX ? HEADS_MAX : heads;
    if (describe_page(team, t, look->request.scheme, &text, a, NULL) != PEAT_OK)
        strbuf_clear(&text);
    struct message m = {"", heads, t->rows, t->columns, (int64_t)text.n, before != NULL};
    size_t bytes = (size_t)scheme_table_values(t) * sizeof(*t->value);
    snprintf(m.what, sizeof(m.what), "%s", t->what);
    strbuf_add_bytes(out, &m, sizeof(m));
    strbuf_add_bytes(out, t->value, bytes);
    if (before)
        strbuf_add_bytes(out, before->value, bytes);
    strbuf_add_bytes(out, text.text, text.n);
    strbuf_release(&text);
}

/* The scheme's own table: its stream, else what it names, else the bias where it is alone. */
static const struct cell_table *own_table(const struct look *look, const struct cell_diagnosis *d,
                                          const struct cell_table *list, int n)
{
    const char *id = d->assembly.positional.scheme[look->scheme].part.id;
    size_t length = strlen(id);
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].name, id) == 0 ||
            (strncmp(list[i].name, id, length) == 0 && list[i].name[length] == '.'))
            return &list[i];
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].name, "bias.0") == 0 && d->assembly.positional.n_scheme == 1)
            return &list[i];
    return NULL;
}

/* False: the cell does not show how training changed the scheme. */
static bool send_trained(const struct look *look, const struct team *team, struct arena *a,
                         struct strbuf *out)
{
    struct cell_diagnosis start, now = {.cell = NULL};
    struct cell_table *before, *after;
    const struct cell_table *x = NULL, *y = NULL;
    int n;
    peat_status status =
        cell_diagnosis_open_start(&start, look->cell, 1, team, look->request.trail, NULL);
    if (status == PEAT_OK)
        status = cell_tables(&start, &before, &n, NULL);
    if (status == PEAT_OK)
        x = own_table(look, &start, before, n);
    if (x)
        status = cell_diagnosis_open(&now, look->cell, 1, team, look->request.trail, NULL);
    if (x && status == PEAT_OK && cell_tables(&now, &after, &n, NULL) == PEAT_OK)
        y = own_table(look, &now, after, n);
    bool moved = y && table_change(&x->table, &y->table) > 0.0;
    if (moved) {
        struct scheme_table last = y->table;
        add_message(look, &last, &x->table, team, a, out);
    }
    if (now.cell)
        cell_diagnosis_close(&now);
    cell_diagnosis_close(&start);
    return moved;
}

static peat_status send_table(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    struct look look = *(const struct look *)ctx;
    struct scheme_request *request = &look.request;
    struct arena a;
    struct scheme_table t;
    struct team team = {1, NULL};
    request->trail = trail;
    request->team = &team;
    arena_init(&a, "scheme", 1 << 20);
    parallel_start();
    peat_status status = gemm_start(&team, "auto", err);
    if (status == PEAT_OK && !(look.cell && send_trained(&look, &team, &a, out))) {
        status = scheme_table_make(&t, request, &a, err);
        if (status == PEAT_OK)
            add_message(&look, &t, NULL, &team, &a, out);
    }
    arena_release(&a);
    return status;
}

static void read_message(const struct strbuf *sent, struct arena *a, struct scheme_look *seen)
{
    struct message m;
    memcpy(&m, sent->text, sizeof(m));
    const char *value = sent->text + sizeof(m);
    struct scheme_table t = {.what = arena_strdup(a, m.what),
                             .heads = m.heads > HEADS_MAX ? HEADS_MAX : m.heads,
                             .rows = m.rows,
                             .columns = m.columns};
    size_t bytes = (size_t)scheme_table_values(&t) * sizeof(*t.value);
    t.value = memcpy(arena_alloc(a, bytes), value, bytes);
    *seen = (struct scheme_look){.heads = m.heads, .table = t};
    value += bytes;
    if (m.trained) {
        struct scheme_table *before = ARENA_NEW(a, struct scheme_table);
        *before = t;
        before->value = memcpy(arena_alloc(a, bytes), value, bytes);
        seen->before = before;
        value += bytes;
    }
    seen->numbers = arena_printf(a, "%.*s", (int)m.text_bytes, value);
}

static peat_status ask(const struct look *look, struct strbuf *sent, struct error *err)
{
    struct look own = *look;
    strbuf_clear(sent);
    return apart_run(send_table, &own, apart_seconds(), APART_SILENT, sent, NULL, err);
}

bool look_see(struct look *look, struct arena *a, struct scheme_look *seen, const char **why)
{
    struct strbuf sent;
    struct error err = {0};
    struct look alone = *look;
    alone.cell = NULL;
    strbuf_init(&sent);
    peat_status status = ask(look, &sent, &err);
    if (status != PEAT_OK && look->cell)
        status = ask(&alone, &sent, &err);
    if (status == PEAT_OK)
        read_message(&sent, a, seen);
    else
        *why = arena_strdup(a, err.text);
    strbuf_release(&sent);
    return status == PEAT_OK;
}
