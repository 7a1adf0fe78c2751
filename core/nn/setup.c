/* SPDX-License-Identifier: MIT */
/* setup.c: the beginning and end of a plugin's setup, and the engine functions that it may call. */
#include "nn/setup.h"

#include "services.h"

void setup_init(struct setup *s, const peat_host *host, struct arena *arena,
                struct weights *weights, struct part *part, const peat_dims *dims,
                struct error *err)
{
    *s = (struct setup){
        .base = {.size = sizeof(s->base), .host = host, .dims = *dims},
        .arena = arena,
        .weights = weights,
        .part = part,
        .heads = dims->H,
        .tokens = token_table(dims->D, 0.0),
        .err = err,
    };
}

peat_status setup_end(const struct setup *s, peat_status status)
{
    if (s->status != PEAT_OK)
        return s->status;
    if (status == PEAT_OK)
        return PEAT_OK;
    return error_set(s->err, status, "'%s' failed while it was set up: %s", s->part->id,
                     status_text(status));
}

/* base is the first member */
static struct setup *setup_of(peat_setup *s)
{
    return (struct setup *)s;
}

static peat_status setup_fail(struct setup *s, peat_status status, const char *fmt, ...)
{
    if (s->status != PEAT_OK)
        return s->status;
    va_list args;
    va_start(args, fmt);
    error_set_args(s->err, status, fmt, args);
    va_end(args);
    return s->status = status;
}

static peat_scope scope_of(const struct setup *s, peat_scope scope)
{
    if (scope == PEAT_PER_USER)
        return s->where ? s->where->share : PEAT_ONCE;
    return scope;
}

/* "position.0.rotary.freq" or "position.0.rotary.layer.3.freq" */
static struct weight *add_weight(struct setup *s, const char *name, int64_t layer, int rank,
                                 const int64_t *dim, peat_init init, uint32_t use)
{
    const char *full = layer < 0 ? arena_printf(s->arena, "%s.%s", s->part->prefix, name)
                                 : arena_printf(s->arena, "%s.layer.%lld.%s", s->part->prefix,
                                                (long long)layer, name);
    struct weight *w = weights_add(s->weights, full, rank, dim, init, use);
    if (!w)
        setup_fail(s, PEAT_FAILED,
                   "'%s' could not register '%s': the name is taken or there is no "
                   "memory",
                   s->part->id, name);
    return w;
}

static bool legal_shape(struct setup *s, const char *name, int rank, const int64_t *dim,
                        int64_t *out)
{
    if (rank < 1 || rank > PEAT_MAX_RANK) {
        setup_fail(s, PEAT_FAILED, "'%s' registers '%s' with rank %d", s->part->id, name, rank);
        return false;
    }
    for (int i = 0; i < rank; i++) {
        out[i] = dim[i] == PEAT_HEADS ? s->heads : dim[i];
        s->part->per_head = s->part->per_head || dim[i] == PEAT_HEADS;
        if (out[i] > 0)
            continue;
        setup_fail(s, PEAT_FAILED, "'%s' registers '%s' with a dimension of %lld", s->part->id,
                   name, (long long)dim[i]);
        return false;
    }
    return true;
}

int32_t service_param(peat_setup *base, const char *name, int32_t rank, const int64_t *dim,
                      peat_init init, peat_scope scope, uint32_t use)
{
    struct setup *s = setup_of(base);
    struct part *part = s->part;
    int64_t shape[PEAT_MAX_RANK];
    scope = scope_of(s, scope);
    if (!s->weights || (scope == PEAT_PER_LAYER && !s->where)) {
        setup_fail(s, PEAT_FAILED, "'%s' cannot register '%s': %s", part->id, name,
                   s->weights ? "a combine has no layers" : "a task has no trainable tensors");
        return -1;
    }
    if ((int)init.kind < PEAT_INIT_ZERO || init.kind > PEAT_INIT_VALUES) {
        setup_fail(s, PEAT_FAILED,
                   "'%s' registers '%s' with initial values of kind %d, which is not a "
                   "peat_init_kind",
                   part->id, name, (int)init.kind);
        return -1;
    }
    if (part->n_weight == (int)(sizeof(part->weight) / sizeof(*part->weight))) {
        setup_fail(s, PEAT_FAILED, "'%s' registers more than %d tensors", part->id, part->n_weight);
        return -1;
    }
    if (s->status != PEAT_OK || !legal_shape(s, name, rank, dim, shape))
        return -1;
    int64_t n = scope == PEAT_PER_LAYER ? s->base.dims.L : 1;
    part->per_layer = part->per_layer || scope == PEAT_PER_LAYER;
    struct scheme_weight *sw = &part->weight[part->n_weight];
    *sw = (struct scheme_weight){arena_strdup(s->arena, name), scope,
                                 ARENA_ARRAY(s->arena, n, struct weight *)};
    for (int64_t l = 0; l < n; l++)
        if (scope != PEAT_PER_LAYER || where_acts(s->where, l))
            sw->layer[l] =
                add_weight(s, name, scope == PEAT_PER_LAYER ? l : -1, rank, shape, init, use);
    return s->status == PEAT_OK ? part->n_weight++ : -1;
}

void service_bound(peat_setup *base, int32_t handle, double lo, double hi)
{
    struct setup *s = setup_of(base);
    if (handle < 0 || handle >= s->part->n_weight) {
        setup_fail(s, PEAT_FAILED, "'%s' bounds a tensor it has not registered", s->part->id);
        return;
    }
    const struct scheme_weight *sw = &s->part->weight[handle];
    int64_t n = sw->scope == PEAT_PER_LAYER ? s->base.dims.L : 1;
    for (int64_t l = 0; l < n; l++) {
        if (!sw->layer[l])
            continue;
        sw->layer[l]->bounded = true;
        sw->layer[l]->lo = lo;
        sw->layer[l]->hi = hi;
    }
}

peat_status service_refuse(peat_setup *base, const char *fmt, ...)
{
    struct error why = {0};
    va_list args;
    va_start(args, fmt);
    error_set_args(&why, PEAT_REFUSED, fmt, args);
    va_end(args);
    return setup_fail(setup_of(base), PEAT_REFUSED, "%s", why.text);
}

peat_token_table token_table(int64_t d_model, double embed_scale)
{
    double root = sqrt((double)d_model);
    return (peat_token_table){.size = sizeof(peat_token_table),
                              .std = d_model > 0 ? 1.0 / root : 0.0,
                              .factor = embed_scale > 0.0 ? embed_scale : root};
}

peat_token_table service_token_table(peat_setup *base)
{
    return setup_of(base)->tokens;
}

void *service_alloc(peat_setup *base, size_t bytes)
{
    return arena_try_zalloc(setup_of(base)->arena, bytes);
}

static struct value *number_of(struct arena *a, double x)
{
    return x == (double)(int64_t)x ? value_int(a, NOWHERE, (int64_t)x) : value_real(a, NOWHERE, x);
}

static void resolve(struct setup *s, const char *key, struct value *v)
{
    if (!s->part->resolved)
        s->part->resolved = value_map(s->arena, NOWHERE);
    value_set(s->arena, s->part->resolved, key, NOWHERE, v);
}

void service_resolved(peat_setup *base, const char *key, double value)
{
    struct setup *s = setup_of(base);
    resolve(s, key, number_of(s->arena, value));
}

void service_resolved_list(peat_setup *base, const char *key, peat_reals value)
{
    struct setup *s = setup_of(base);
    struct value *list = value_list(s->arena, NOWHERE);
    for (int64_t i = 0; i < value.n; i++)
        value_append(s->arena, list, number_of(s->arena, value.item[i]));
    resolve(s, key, list);
}

const unsigned char *service_read_file(peat_setup *base, const char *path, int64_t *bytes)
{
    struct setup *s = setup_of(base);
    struct data_files none = {.a = s->arena}, *files = s->part->files ? s->part->files : &none;
    struct error err = {0};
    const unsigned char *byte = NULL;
    size_t n = 0;
    if (s->part->files && !data_is_known(files, path)) {
        setup_fail(s, PEAT_INVALID,
                   "'%s' reads '%s', which no parameter with PEAT_PATH names: a change of the "
                   "file would go unnoticed",
                   s->part->id, path);
        return NULL;
    }
    if (data_read(files, path, s->arena, &byte, &n, &err) != PEAT_OK) {
        setup_fail(s, err.status, "%s", err.text);
        return NULL;
    }
    *bytes = (int64_t)n;
    return byte;
}

const char *service_file_kind(const unsigned char *byte, int64_t n)
{
    return file_kind(byte, (size_t)n);
}

const int32_t *service_npy_ids(peat_setup *base, const char *path, const unsigned char *byte,
                               int64_t bytes, int64_t *n)
{
    struct setup *s = setup_of(base);
    struct error err = {0};
    struct npy f;
    const int32_t *id = NULL;
    *n = npy_is(byte, (size_t)bytes) ? 0 : -1;
    if (*n < 0)
        return NULL;
    peat_status status = npy_open(&f, byte, (size_t)bytes, path, &err);
    if (status == PEAT_OK)
        status = npy_ids(&f, s->arena, &id, &err);
    if (status != PEAT_OK) {
        setup_fail(s, status == PEAT_INVALID ? PEAT_REFUSED : status, "%s", err.text);
        return NULL;
    }
    *n = f.n;
    return id;
}

bool service_is_folder(peat_setup *base, const char *path)
{
    (void)base;
    return path_is_directory(path);
}
