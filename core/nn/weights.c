/* SPDX-License-Identifier: MIT */
/* weights.c: declaring, laying out and initialising trainable tensors. */
#include "nn/weights.h"

#include <fnmatch.h>

#include "autograd/ops.h"

/* Tensors start on a 64-byte boundary in F32 too. */
enum { WEIGHT_ALIGN = 16 };

void weights_init(struct weights *w, struct arena *arena, peat_dtype dtype)
{
    *w = (struct weights){.arena = arena, .dtype = dtype};
}

static double *copied_values(struct arena *a, const double *value, int64_t n)
{
    double *copy = ARENA_TRY_ARRAY(a, n, double);
    if (copy)
        memcpy(copy, value, (size_t)n * sizeof(*copy));
    return copy;
}

/* NULL: the name is taken, or memory ran out. */
static struct weight *weight_new(const struct weights *w, const char *name, int rank,
                                 const int64_t *dim, peat_init init, uint32_t use)
{
    if (weights_find(w, name))
        return NULL;
    struct weight *x = ARENA_NEW(w->arena, struct weight);
    x->name = arena_strdup(w->arena, name);
    x->value = tensor_shape(w->dtype, rank, dim);
    x->grad = x->value;
    x->init = init;
    x->frozen = (use & PEAT_FROZEN) != 0;
    x->decay = rank >= 2 && !(use & PEAT_NO_DECAY);
    int64_t n = tensor_count(&x->value);
    if (n >= 0 && init.kind == PEAT_INIT_VALUES)
        x->init.values = copied_values(w->arena, init.values, n);
    return n < 0 || (init.kind == PEAT_INIT_VALUES && !x->init.values) ? NULL : x;
}

struct weight *weights_add(struct weights *w, const char *name, int rank, const int64_t *dim,
                           peat_init init, uint32_t use)
{
    struct weight *x = weight_new(w, name, rank, dim, init, use);
    if (x)
        *ARENA_APPEND(w->arena, w->item, w->n, w->room) = x;
    w->incomplete = w->incomplete || !x;
    return x;
}

static double eye_value(const struct tensor *t, int64_t flat, double a)
{
    int64_t columns = t->dim[t->rank - 1];
    int64_t rows = t->rank > 1 ? t->dim[t->rank - 2] : 1;
    return flat / columns % rows == flat % columns ? a : 0.0;
}

static double initial_value(const struct weight *x, uint64_t stream, int64_t i)
{
    const peat_init *init = &x->init;
    switch (init->kind) {
    case PEAT_INIT_ZERO:
        return 0.0;
    case PEAT_INIT_CONSTANT:
        return init->a;
    case PEAT_INIT_NORMAL:
        return init->a + init->b * rng_normal(stream, (uint64_t)i);
    case PEAT_INIT_UNIFORM:
        return init->a + (init->b - init->a) * rng_uniform(stream, (uint64_t)i);
    case PEAT_INIT_EYE:
        return eye_value(&x->value, i, init->a);
    case PEAT_INIT_VALUES:
        return init->values[i];
    }
    BUG("no such initialiser: %d", (int)init->kind);
}

static void initialise(struct weight *x, uint64_t seed)
{
    uint64_t stream = rng_stream(seed, "init", x->name);
    int64_t n = tensor_count(&x->value);
    for (int64_t i = 0; i < n; i++)
        tensor_set(&x->value, i, initial_value(x, stream, i));
}

/* ---- freezing ---- */

static bool freeze_like(struct weights *w, const char *pattern)
{
    bool found = false;
    for (int i = 0; i < w->n; i++) {
        struct weight *x = w->item[i];
        if (fnmatch(pattern, x->name, 0) != 0)
            continue;
        found = x->frozen = x->apart = true;
    }
    return found;
}

const char *weights_freeze(struct weights *w, const peat_strings *pattern)
{
    const char *misfit = NULL;
    for (int64_t i = 0; i < pattern->n; i++)
        if (!freeze_like(w, pattern->item[i]) && !misfit)
            misfit = pattern->item[i];
    return misfit;
}

/* Adds a pattern for each prefix of a name that ends in a dot: "block.*", "block.0.*". */
static int add_starts(struct arena *a, const char *name, const char **start, int n)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        start[n++] = arena_printf(a, "%.*s*", (int)(dot + 1 - name), name);
    return n;
}

peat_status weights_none_called(const struct weights *w, const char *name, struct error *err)
{
    struct arena a;
    int n = 0, room = 0;
    error_set(err, PEAT_REFUSED, "no parameter of the model is called '%s'", name);
    arena_init(&a, "names", 1 << 12);
    for (int i = 0; i < w->n; i++)
        room += (int)strlen(w->item[i]->name);
    const char **near = ARENA_ARRAY(&a, room + 1, const char *);
    for (int i = 0; i < w->n; i++)
        if (strpbrk(name, "*?["))
            n = add_starts(&a, w->item[i]->name, near, n);
        else
            near[n++] = w->item[i]->name;
    error_add_nearest(err, name, near, n);
    arena_release(&a);
    return PEAT_REFUSED;
}

/* ---- memory ---- */

static void lay_out_some(struct weights *w, bool apart)
{
    for (int i = 0; i < w->n; i++) {
        if (w->item[i]->apart != apart)
            continue;
        w->item[i]->offset = w->size;
        int64_t n = tensor_count(&w->item[i]->value);
        w->size += (n + WEIGHT_ALIGN - 1) / WEIGHT_ALIGN * WEIGHT_ALIGN;
    }
}

static void lay_out(struct weights *w)
{
    w->size = 0;
    lay_out_some(w, false);
    w->trained = w->size;
    lay_out_some(w, true);
}

peat_status weights_build(struct weights *w, uint64_t seed, bool shape_only, struct error *err)
{
    lay_out(w);
    if (shape_only)
        return PEAT_OK;
    w->value = arena_try_zalloc(w->arena, (size_t)w->size * dtype_bytes(w->dtype));
    w->grad = arena_try_zalloc(w->arena, (size_t)w->trained * dtype_bytes(w->dtype));
    if (!w->value || !w->grad)
        return error_set(err, PEAT_NOMEM, "no memory for %lld weights", (long long)w->size);
    for (int i = 0; i < w->n; i++) {
        struct weight *x = w->item[i];
        size_t at = (size_t)x->offset * dtype_bytes(w->dtype);
        x->value.data = (char *)w->value + at;
        x->grad.data = x->frozen ? NULL : (char *)w->grad + at;
        initialise(x, seed);
    }
    return PEAT_OK;
}

peat_status weights_fill(struct weights *w, uint64_t seed, bool (*keep)(const char *name),
                         struct error *err)
{
    for (int i = 0; i < w->n; i++) {
        struct weight *x = w->item[i];
        if (!keep(x->name))
            continue;
        x->value.data = arena_try_zalloc(w->arena, tensor_bytes(&x->value));
        if (!x->value.data)
            return error_set(err, PEAT_NOMEM, "no memory for weight '%s'", x->name);
        initialise(x, seed);
    }
    return PEAT_OK;
}

struct weight *weights_find(const struct weights *w, const char *name)
{
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->item[i]->name, name) == 0)
            return w->item[i];
    return NULL;
}

void weights_zero_grad(struct weights *w)
{
    memset(w->grad, 0, (size_t)w->trained * dtype_bytes(w->dtype));
}

peat_status weights_reached(const struct weights *w, peat_status status, struct error *err)
{
    for (int i = 0; i < w->n; i++) {
        const struct weight *one = w->item[i];
        if (!one->frozen && !(one->node && one->node->reached))
            return error_set(err, status,
                             "weight '%s' gets no gradient: nothing that is trained depends on it",
                             one->name);
    }
    return PEAT_OK;
}

int64_t weights_trainable(const struct weights *w)
{
    int64_t n = 0;
    for (int i = 0; i < w->n; i++)
        if (!w->item[i]->frozen)
            n += tensor_count(&w->item[i]->value);
    return n;
}

int64_t weights_frozen(const struct weights *w)
{
    int64_t n = 0;
    for (int i = 0; i < w->n; i++)
        if (w->item[i]->apart)
            n += tensor_count(&w->item[i]->value);
    return n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct weight *const *)a)->name, (*(struct weight *const *)b)->name);
}

static void add_values(struct strbuf *out, const struct weight *w)
{
    char one[HASH_HEX];
    hash_bytes(w->value.data, tensor_bytes(&w->value), one);
    strbuf_addf(out, "%s %s\n", one, w->name);
}

static void add_shape(struct strbuf *out, const struct weight *w)
{
    for (int i = 0; i < w->value.rank; i++)
        strbuf_addf(out, "%lld ", (long long)w->value.dim[i]);
    strbuf_addf(out, "%s\n", w->name);
}

/* The hash of the texts that `add` writes for the kept tensors, in name order. */
static void hash_by_name(const struct weights *w, bool (*keep)(const char *name),
                         void (*add)(struct strbuf *out, const struct weight *w), char hex[65])
{
    struct weight **sorted = mem_array((size_t)w->n, sizeof(*sorted), "the names of weights");
    struct strbuf all = STRBUF_NEW;
    int n = 0;
    for (int i = 0; i < w->n; i++)
        if (!keep || keep(w->item[i]->name))
            sorted[n++] = w->item[i];
    qsort(sorted, (size_t)n, sizeof(*sorted), by_name);
    for (int i = 0; i < n; i++)
        add(&all, sorted[i]);
    hash_bytes(all.text, all.n, hex);
    strbuf_release(&all);
    free(sorted);
}

void weights_hash(const struct weights *w, bool (*keep)(const char *name), char hex[65])
{
    hash_by_name(w, keep, add_values, hex);
}

void weights_shape_hash(const struct weights *w, bool (*keep)(const char *name), char hex[65])
{
    hash_by_name(w, keep, add_shape, hex);
}

void weights_begin(struct weights *w)
{
    for (int i = 0; i < w->n; i++)
        w->item[i]->node = NULL;
}

peat_node *weight_node(struct graph *g, struct weight *w)
{
    if (w && !w->node)
        w->node = graph_leaf(g, &w->value, w->frozen ? NULL : &w->grad, w->name);
    return w ? w->node : NULL;
}

peat_node *weight_rows(struct graph *g, struct weight *w, int64_t begin, int64_t end)
{
    return w ? op_slice(&g->base, weight_node(g, w), 0, begin, end) : NULL;
}
