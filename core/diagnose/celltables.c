/* SPDX-License-Identifier: MIT */
/* celltables.c: collects tables from one forward pass. */
#include "diagnose/celltables.h"

#include "rounded.h"
#include "tables.h"

enum { WINDOWS_MAX = 64 };

struct list {
    struct cell_diagnosis *d;
    struct arena *a;
    int n, room;
    struct cell_table *item;
};

/* ---- the list ---- */

static bool is_same(const struct scheme_table *x, const struct scheme_table *y)
{
    return strcmp(x->what, y->what) == 0 && x->heads == y->heads && x->rows == y->rows &&
           x->columns == y->columns && y->value &&
           memcmp(x->value, y->value, (size_t)scheme_table_values(x) * sizeof(*x->value)) == 0;
}

static bool has_name(const struct list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->item[i].name, name) == 0)
            return true;
    return false;
}

/* Adds a number to the name of the later of two tables with one name. */
static void add_table(struct list *l, const char *name, const char *meaning, struct scheme_table t)
{
    const char *own = name;
    if (!t.value) {
        error_set(&l->d->subject.err, PEAT_NOMEM, "out of memory for the tables of cell '%s'",
                  l->d->cell->label);
        return;
    }
    for (int k = 1; has_name(l, own); k++)
        own = arena_printf(l->a, "%s.%d", name, k);
    *ARENA_APPEND(l->a, l->item, l->n, l->room) = (struct cell_table){own, meaning, t};
}

/* On the first window, where windows differ. */
static void add_streams(struct list *l, const struct trace *t)
{
    const struct positional *p = &l->d->assembly.positional;
    for (int i = 0; i < p->n_scheme; i++) {
        const peat_node *x = t->position[i];
        if (!x || x->value.rank != 3)
            continue;
        const char *id = p->scheme[i].part.id;
        add_table(l, id, arena_printf(l->a, "the vector that %s gives each position", id),
                  scheme_table_try("stream", 0, x->value.dim[1], x->value.dim[2], &x->value, l->a));
    }
}

/* ---- at the input ---- */

static struct scheme_table table_of_matrix(const char *what, const struct matrix *m)
{
    return (struct scheme_table){.what = what,
                                 .rows = m->rows,
                                 .columns = m->columns,
                                 .value = (float *)(uintptr_t)m->x,
                                 .column_name = "dimension"};
}

static const char *const *token_labels(struct list *l, const struct tables *t)
{
    const char **label = ARENA_ARRAY(l->a, t->token.rows, const char *);
    for (int64_t i = 0; i < t->token.rows; i++) {
        const char *text = task_token_text(&l->d->assembly.task, (int32_t)t->token_id[i], l->a);
        label[i] = text ? arena_printf(l->a, "‘%s’", shown_text(l->a, text))
                        : arena_printf(l->a, "%lld", (long long)t->token_id[i]);
    }
    return label;
}

static void add_input(struct list *l)
{
    const struct tables *t = tables_find(&l->d->subject);
    if (!t || t->missing)
        return;
    struct scheme_table token = table_of_matrix("token", &t->token);
    token.row_name = "token";
    token.row_label = token_labels(l, t);
    add_table(l, "position", "each position in the model's input",
              table_of_matrix("position", &t->position));
    add_table(l, "token", "each token in the model's input, in the order of the windows", token);
}

/* Adds the biases of one layer, whose head groups follow each other. */
static void add_bias(struct list *l, const struct trace *t, int64_t layer)
{
    const peat_dims *dims = &l->d->assembly.model.dims;
    int64_t T = t->in.T;
    struct scheme_table table = {.what = "bias", .heads = dims->H, .rows = T, .columns = T};
    bool any = false;
    table.value = ARENA_ARRAY(l->a, dims->H * T * T, float);
    for (int i = 0; i < t->n_seen; i++) {
        const struct attention_seen *seen = &t->seen[i];
        if (seen->layer != layer || !seen->bias)
            continue;
        const int64_t dim[] = {t->in.B, seen->end - seen->begin, T, T};
        const double *x = node_spread(seen->bias, 4, dim, &l->d->subject.work);
        for (int64_t k = 0; k < dim[1] * T * T; k++)
            table.value[seen->begin * T * T + k] = (float)x[k];
        any = true;
    }
    if (any && !(l->n && is_same(&l->item[l->n - 1].table, &table)))
        add_table(l, arena_printf(l->a, "bias.%lld", (long long)layer),
                  "what schemes add to the logits, by query and key", table);
}

/* ---- probes ---- */

/* One number for each place: windows down, positions across. */
static struct scheme_table table_of_places(struct list *l, const peat_node *x, const char *what)
{
    int64_t B = x->value.dim[0], rows = B < WINDOWS_MAX ? B : WINDOWS_MAX;
    struct scheme_table t = scheme_table_try(what, 0, rows, x->value.dim[1], &x->value, l->a);
    t.row_name = "window";
    t.column_name = "position";
    return t;
}

/* The last two axes of the first window; those between as heads. */
static struct scheme_table table_of_node(struct list *l, const peat_node *x, const char *what)
{
    const struct tensor *v = &x->value;
    int64_t heads = 1;
    for (int i = 1; i < v->rank - 2; i++)
        heads *= v->dim[i];
    return scheme_table_try(what, heads > 1 ? heads : 0, v->dim[v->rank - 2], v->dim[v->rank - 1],
                            v, l->a);
}

static void add_probe(struct list *l, const struct trace *t, int i)
{
    const struct probe *from = &t->pass.probe[i];
    const peat_node *x = from->node;
    const struct tensor *v = &x->value;
    if (v->rank < 2)
        return;
    const char *what = arena_strdup(l->a, x->name);
    const char *name = arena_printf(l->a, "%s.%s", from->plugin, what);
    if (from->layer > 0)
        name = arena_printf(l->a, "%s.%lld", name, (long long)from->layer);
    bool places = v->rank == 3 && v->dim[2] == 1 && v->dim[1] == t->in.T && v->dim[0] > 1;
    struct scheme_table table = places ? table_of_places(l, x, what) : table_of_node(l, x, what);
    for (int k = 0; k < l->n; k++)
        if (is_same(&l->item[k].table, &table))
            return;
    add_table(l, name, arena_printf(l->a, "%s names it for inspection", from->plugin), table);
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct list *l = ctx;
    struct trace t;
    struct subject *s = &l->d->subject;
    const struct trace_options o = {.attention = true, .probes = true};
    if (trace_run(&t, s, b, &o)) {
        add_streams(l, &t);
        add_input(l);
        for (int64_t layer = 0; layer < s->model->dims.L; layer++)
            add_bias(l, &t, layer);
        for (int i = 0; i < t.pass.n_probe; i++)
            add_probe(l, &t, i);
    }
    trace_end(&t);
}

peat_status cell_tables(struct cell_diagnosis *d, struct cell_table **list, int *n,
                        struct error *err)
{
    struct list l = {.d = d, .a = &d->subject.arena};
    subject_each(&d->subject, 1, add_batch, &l);
    *list = l.item;
    *n = l.n;
    return subject_status(&d->subject, err);
}

double table_size(const struct scheme_table *x)
{
    double squares = 0.0;
    int64_t n = scheme_table_values(x);
    for (int64_t i = 0; i < n; i++)
        squares += (double)x->value[i] * (double)x->value[i];
    return n > 0 ? sqrt(squares / (double)n) : (double)NAN;
}

double table_change(const struct scheme_table *x, const struct scheme_table *y)
{
    int64_t n = scheme_table_values(x);
    double squares = 0.0;
    if (x->heads != y->heads || x->rows != y->rows || x->columns != y->columns)
        return (double)NAN;
    for (int64_t i = 0; i < n; i++) {
        double off = (double)y->value[i] - (double)x->value[i];
        squares += off * off;
    }
    return ratio(n > 0 ? sqrt(squares / (double)n) : 0.0, table_size(x));
}
