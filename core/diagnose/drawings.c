/* SPDX-License-Identifier: MIT */
/* drawings.c: draws the schemes of a grid in another process, unless their drawings are kept. */
#include "diagnose/drawings.h"

#include "diagnose/celltables.h"
#include "inspect/describe.h"
#include "process/apart.h"
#include "tensor/gemm.h"

enum { POSITIONS_MAX = 256, HEADS_MAX = 8 };

/* A scheme with its parameters, as some cell has it. */
struct shown_scheme {
    struct scheme_drawing drawing; /* its fields that need no code of the scheme */
    struct scheme_request request;
    const struct cell_files *cell; /* a finished cell with the scheme; NULL: none */
    int scheme;                    /* index of the scheme in the cell                */
};

/* ---- listing schemes ---- */

/* " base=500", in the form that a person would write. */
static void add_parameter(struct strbuf *out, const char *key, const struct value *item)
{
    strbuf_addf(out, " %s=", key);
    if (item->kind == VALUE_TEXT)
        strbuf_add(out, item->text);
    else
        json_print(item, JSON_CANONICAL, out);
}

/* Sets the parameters, and the title, which contains them. */
static void read_parameters(const struct value *scheme, struct arena *a, struct shown_scheme *look)
{
    struct json given = json_map(a);
    struct strbuf title = STRBUF_NEW;
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
    look->drawing.title = strbuf_keep(&title, a);
}

static bool read_look(const struct value *config, const struct value *scheme, struct arena *a,
                      struct shown_scheme *look)
{
    const struct value *model = value_get(config, "model");
    int64_t T = json_get_int(value_get(config, "train"), "seq_len", 0);
    int64_t heads = json_get_int(model, "n_head", 1);
    *look = (struct shown_scheme){
        .drawing = {.width = json_get_int(model, "d_model", 0), .model_heads = heads},
        .request = {.scheme = json_get_text(scheme, "plugin"),
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

/* The first finished cell that has the scheme becomes its example. */
static int add_look(struct shown_scheme *look, int n, const struct shown_scheme *one)
{
    for (int m = 0; m < n; m++)
        if (strcmp(look[m].drawing.title, one->drawing.title) == 0) {
            if (!look[m].cell)
                look[m] = *one;
            return n;
        }
    if (n < DRAWINGS_MAX)
        look[n++] = *one;
    return n;
}

static bool differs(const struct shown_scheme *x, const struct shown_scheme *y, const char *key)
{
    const struct value *a = value_get(x->request.given, key), *b = value_get(y->request.given, key);
    return strcmp(x->request.scheme, y->request.scheme) == 0 && !(a && b && value_equal(a, b));
}

static void name_look(const struct shown_scheme *all, int n, struct shown_scheme *one,
                      struct arena *a)
{
    struct strbuf name = STRBUF_NEW;
    strbuf_add(&name, one->request.scheme);
    const struct value *given = one->request.given;
    for (int i = 0; i < given->n; i++) {
        bool varies = false;
        for (int m = 0; m < n; m++)
            varies = varies || differs(one, &all[m], given->key[i]);
        if (varies)
            add_parameter(&name, given->key[i], given->item[i]);
    }
    one->drawing.name = strbuf_keep(&name, a);
}

static void name_cell(struct shown_scheme *one, const struct cell_files *cell)
{
    one->cell = cell;
    one->drawing.id = cell->id;
    one->drawing.label = cell->label;
    one->drawing.weights = json_get_text(cell->result, "weights_hash");
}

/* Lists each scheme once, at the sizes of the first cell that has it. */
static int list_looks(const struct rundir *r, struct arena *a,
                      struct shown_scheme look[DRAWINGS_MAX])
{
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        const struct cell_files *cell = &r->cell[i];
        const struct value *position = value_get(cell->config, "position"), *scheme;
        for (int k = 0; cell->planned && (scheme = json_get_item(position, "scheme", k)); k++) {
            struct shown_scheme one;
            if (!read_look(cell->config, scheme, a, &one))
                continue;
            one.scheme = k;
            if (cell->state == CELL_DONE)
                name_cell(&one, cell);
            n = add_look(look, n, &one);
        }
    }
    for (int i = 0; i < n; i++)
        name_look(look, n, &look[i], a);
    return n;
}

/* ---- computing a table in another process ---- */

/* Keeps the first heads, and positions from 0 on, for which the page has room. */
static void cut(struct scheme_table *t, struct arena *a)
{
    bool square = strcmp(t->what, "bias") == 0;
    int64_t rows = t->rows, columns = t->columns, sheets = t->heads ? t->heads : 1;
    while (sheets * rows * columns > DRAWING_VALUES_MAX) {
        columns = square || rows == 1 ? columns / 2 : columns;
        rows = rows > 1 ? rows / 2 : 1;
    }
    float *kept = ARENA_ARRAY(a, sheets * rows * columns, float);
    for (int64_t i = 0; i < sheets * rows; i++)
        memcpy(kept + i * columns, t->value + (i / rows * t->rows + i % rows) * t->columns,
               (size_t)columns * sizeof(*kept));
    t->value = kept;
    t->rows = rows;
    t->columns = columns;
}

/* before: NULL, or of the same shape */
static void add_drawing(const struct shown_scheme *look, const struct scheme_table *t,
                        const struct scheme_table *before, const struct team *team, struct arena *a,
                        struct scheme_drawing *d)
{
    struct scheme_table shown = *t, earlier = before ? *before : *t;
    struct strbuf text = STRBUF_NEW;
    shown.heads = earlier.heads = t->heads > HEADS_MAX ? HEADS_MAX : t->heads;
    if (describe_page(team, &shown, look->request.scheme, &text, a, NULL) != PEAT_OK)
        strbuf_clear(&text);
    cut(&shown, a);
    cut(&earlier, a);
    d->what = arena_strdup(a, t->what);
    d->numbers = strbuf_keep(&text, a);
    d->all_heads = t->heads;
    d->heads = shown.heads;
    d->rows = shown.rows;
    d->columns = shown.columns;
    d->value = shown.value;
    d->before = before ? earlier.value : NULL;
}

/* The scheme's table: its stream, or a node that it names, or its bias. NULL: the cell has no such
 * table, or has failed. */
static const struct cell_table *own_table(const struct shown_scheme *look, struct cell_diagnosis *d)
{
    struct cell_table *list;
    int n;
    if (!subject_is_well(&d->subject) || cell_tables(d, &list, &n, NULL) != PEAT_OK)
        return NULL;
    const char *id = d->assembly.positional.scheme[look->scheme].part.id;
    size_t length = strlen(id);
    for (int i = 0; i < n; i++)
        if (strncmp(list[i].name, id, length) == 0 &&
            (list[i].name[length] == '\0' || list[i].name[length] == '.'))
            return &list[i];
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].name, "bias.0") == 0 && d->assembly.positional.n_scheme == 1)
            return &list[i];
    return NULL;
}

/* Draws how training changed the scheme, if the cell shows it. */
static peat_status draw_trained(const struct shown_scheme *look, const struct team *team,
                                struct arena *a, struct scheme_drawing *d)
{
    struct cell_diagnosis start, now;
    struct trail *trail = look->request.trail;
    cell_diagnosis_open_start(&start, look->cell, team, trail, NULL);
    const struct cell_table *x = own_table(look, &start), *y;
    peat_status status = subject_status(&start.subject, NULL);
    if (x) {
        cell_diagnosis_open(&now, look->cell, 1, team, trail, NULL);
        y = own_table(look, &now);
        status = subject_status(&now.subject, NULL);
        if (y && table_change(&x->table, &y->table) > 0.0)
            add_drawing(look, &y->table, &x->table, team, a, d);
        cell_diagnosis_close(&now);
    }
    cell_diagnosis_close(&start);
    return status;
}

/* Whether another attempt would end the same way. */
static bool is_final(peat_status status)
{
    return status == PEAT_OK || status == PEAT_REFUSED || status == PEAT_INVALID;
}

static peat_status draw(const struct shown_scheme *look, const struct team *team, struct arena *a,
                        struct scheme_drawing *d, struct error *err)
{
    struct scheme_table t;
    d->again = look->cell && !is_final(draw_trained(look, team, a, d));
    if (d->value)
        return PEAT_OK;
    peat_status status = scheme_table_make(&t, &look->request, a, err);
    if (status == PEAT_OK)
        add_drawing(look, &t, NULL, team, a, d);
    return status;
}

static peat_status send_drawing(void *ctx, struct trail *trail, struct strbuf *out,
                                struct error *err)
{
    struct shown_scheme look = *(const struct shown_scheme *)ctx;
    struct scheme_drawing d = look.drawing;
    struct arena a;
    struct team team = {1, NULL};
    look.request.trail = trail;
    look.request.team = &team;
    arena_init(&a, "scheme", 1 << 20);
    parallel_start();
    peat_status status = gemm_start(&team, "auto", err);
    if (status == PEAT_OK)
        status = draw(&look, &team, &a, &d, err);
    if (status == PEAT_OK) {
        struct json map = json_map(&a);
        scheme_drawing_put(map, &d);
        json_print(map.v, JSON_DENSE, out);
    }
    arena_release(&a);
    return status;
}

static peat_status ask(const struct shown_scheme *look, struct strbuf *sent, struct error *err)
{
    struct shown_scheme own = *look;
    strbuf_clear(sent);
    return apart_run(send_drawing, &own, apart_seconds(), APART_SILENT, sent, NULL, err);
}

/* Where a cell ends the process, the scheme is drawn from initial weights. */
static const struct value *drawing_of(const struct shown_scheme *look, struct arena *a)
{
    struct strbuf sent = STRBUF_NEW;
    struct error err = {0};
    struct shown_scheme alone = *look;
    struct json missing = json_map(a);
    alone.cell = NULL;
    peat_status status = ask(look, &sent, &err);
    if (status == PEAT_FAILED && look->cell)
        status = ask(&alone, &sent, &err);
    const struct value *drawn =
        status == PEAT_OK ? json_parse(a, sent.text, sent.n, look->drawing.title, &err) : NULL;
    strbuf_release(&sent);
    if (drawn)
        return drawn;
    struct scheme_drawing d = look->drawing;
    d.why = err.text;
    d.again = !is_final(status);
    scheme_drawing_put(missing, &d);
    return missing.v;
}

/* ---- the file ---- */

static bool same_or_none(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

static bool is_kept(const char *dir, const struct shown_scheme *look, int n, struct arena *a)
{
    struct scheme_drawings kept;
    bool same = scheme_drawings_read(dir, &kept, a, NULL) == PEAT_OK && kept.n == n;
    for (int i = 0; same && i < n; i++) {
        const struct scheme_drawing *d = &look[i].drawing, *k = &kept.item[i];
        same = !k->again && strcmp(k->title, d->title) == 0 && strcmp(k->name, d->name) == 0 &&
               same_or_none(k->id, d->id) && same_or_none(k->weights, d->weights);
    }
    return same;
}

peat_status drawings_keep(const char *dir, struct error *err)
{
    struct shown_scheme look[DRAWINGS_MAX];
    struct arena a;
    struct rundir r;
    arena_init(&a, "drawings", 1 << 16);
    peat_status status = rundir_read(dir, &r, &a, err);
    int n = status == PEAT_OK ? list_looks(&r, &a, look) : 0;
    if (status == PEAT_OK && !is_kept(dir, look, n, &a)) {
        struct json list = json_list(&a);
        for (int i = 0; i < n; i++)
            json_add(list, drawing_of(&look[i], &a));
        status = scheme_drawings_write(dir, list, err);
    }
    arena_release(&a);
    return status;
}
