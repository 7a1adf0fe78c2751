/* SPDX-License-Identifier: MIT */
/* restore.c: reading generations back; nothing is changed before everything was verified. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kept.h"
#include "model/safetensors.h"
#include "train/checkpoint.h"
#include "train/generation.h"

struct tensors {
    struct named_tensor *item;
    int n;
};

static peat_status read_tensors(const char *dir, const char *file, struct arena *a,
                                struct tensors *t, struct error *err)
{
    char *path = path_join(dir, file);
    peat_status status = safetensors_read(path, a, &t->item, &t->n, NULL, err);
    free(path);
    return status;
}

/* The tensor called prefix + name, of the weight's dtype and shape; NULL: err says why. */
static const struct named_tensor *find_like(const struct tensors *t, const char *prefix,
                                            const struct weight *w, struct error *err)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s%s", prefix, w->name);
    const struct named_tensor *found = safetensors_find(t->item, t->n, name.text);
    if (!found) {
        error_set(err, PEAT_INVALID, "tensor '%s' is missing", name.text);
    } else if (found->tensor.dtype != w->value.dtype ||
               !tensor_same_shape(&found->tensor, &w->value)) {
        char has[128], wants[128];
        error_set(err, PEAT_INVALID, "tensor '%s' is %s %s, the model has %s %s", name.text,
                  dtype_name(found->tensor.dtype),
                  tensor_shape_text(&found->tensor, has, sizeof(has)), dtype_name(w->value.dtype),
                  tensor_shape_text(&w->value, wants, sizeof(wants)));
        found = NULL;
    }
    strbuf_release(&name);
    return found;
}

static peat_status check_weights(const struct tensors *t, const struct weights *w,
                                 struct error *err)
{
    struct error own = {0};
    for (int i = 0; i < w->n; i++)
        if (!find_like(t, "", w->item[i], &own))
            return error_set(err, own.status, "%s", own.text);
    if (t->n != w->n)
        return error_set(err, PEAT_INVALID, "%d tensors, the model has %d", t->n, w->n);
    return PEAT_OK;
}

static void copy_weights(const struct tensors *t, struct weights *w)
{
    for (int i = 0; i < w->n; i++) {
        struct tensor *value = &w->item[i]->value;
        memcpy(value->data, find_like(t, "", w->item[i], NULL)->tensor.data, tensor_bytes(value));
    }
}

static peat_status check_moments(const struct tensors *t, const struct weights *w,
                                 struct error *err)
{
    for (int i = 0; i < w->n; i++) {
        if (w->item[i]->frozen)
            continue;
        if (!find_like(t, "opt.m.", w->item[i], err) || !find_like(t, "opt.v.", w->item[i], err))
            return PEAT_INVALID;
    }
    return PEAT_OK;
}

static void copy_moments(const struct tensors *t, const struct weights *w, struct adamw *o)
{
    for (int i = 0; i < w->n; i++) {
        const struct weight *one = w->item[i];
        if (one->frozen)
            continue;
        size_t at = (size_t)one->offset * dtype_bytes(w->dtype), bytes = tensor_bytes(&one->value);
        memcpy((char *)o->m + at, find_like(t, "opt.m.", one, NULL)->tensor.data, bytes);
        memcpy((char *)o->v + at, find_like(t, "opt.v.", one, NULL)->tensor.data, bytes);
    }
}

peat_status checkpoint_load_weights(const char *path, struct weights *w, struct error *err)
{
    struct arena a;
    arena_init(&a, "restore", 1 << 16);
    struct tensors t;
    peat_status status = safetensors_read(path, &a, &t.item, &t.n, NULL, err);
    if (status == PEAT_OK) {
        status = check_weights(&t, w, err);
        if (status == PEAT_OK)
            copy_weights(&t, w);
        else
            error_prefix(err, "%s", path);
    }
    arena_release(&a);
    return status;
}

/* kept: the folder of one that was kept; NULL: one of the run's own. */
static peat_status pass_gate(const struct checkpoint_gate *gate, const struct value *state,
                             const char *kept, struct error *err)
{
    return gate ? gate->accept(gate->ctx, value_get(state, "identity"), kept, err) : PEAT_OK;
}

/* Into a copy of the trainer, whose arrays are written to only at the very end. */
static peat_status restore_tensors(const char *dir, struct arena *a, const struct value *state,
                                   struct trainer *t, struct error *err)
{
    struct tensors model, moments = {0};
    struct weights *w = &t->model->weights;
    bool has_moments = value_get(value_get(state, "files"), GENERATION_OPTIMISER) != NULL;
    /* Only the weights are kept when a run ended: there is nothing to go on from. */
    if (!has_moments && !trainer_has_ended(t))
        return error_set(err, PEAT_INVALID, "it has no optimiser state to go on from");
    peat_status status = read_tensors(dir, GENERATION_MODEL, a, &model, err);
    if (status == PEAT_OK)
        status = check_weights(&model, w, err);
    if (status == PEAT_OK && has_moments)
        status = read_tensors(dir, GENERATION_OPTIMISER, a, &moments, err);
    if (status == PEAT_OK && has_moments)
        status = check_moments(&moments, w, err);
    if (status != PEAT_OK)
        return status;
    copy_weights(&model, w);
    if (has_moments)
        copy_moments(&moments, w, &t->adamw);
    return PEAT_OK;
}

static peat_status restore_generation(const char *dir, const struct checkpoint_gate *gate,
                                      const char *kept, struct trainer *t, struct error *err)
{
    struct arena a;
    arena_init(&a, "restore", 1 << 16);
    struct value *state;
    struct trainer restored = *t;
    peat_status status = generation_read_state(dir, &a, &state, err);
    if (status == PEAT_OK)
        status = generation_apply_state(state, &restored, err);
    if (status == PEAT_OK)
        status = pass_gate(gate, state, kept, err);
    if (status == PEAT_OK)
        status = restore_tensors(dir, &a, state, &restored, err);
    if (status == PEAT_OK)
        *t = restored;
    arena_release(&a);
    return status;
}

/* No directory is no generations. */
static peat_status list_generations(const char *dir, char ***name, int *n, struct error *err)
{
    *name = NULL;
    *n = 0;
    return file_exists(dir) ? dir_list(dir, name, n, err) : PEAT_OK;
}

/* What is found in a directory: its names, sorted. */
struct generations {
    const char *dir;
    char **name;
    int n;
    struct error *why; /* of each: why it is not used */
    int used;          /* -1: none */
};

/* The newest first, whoever made them. */
static peat_status find_usable(struct generations *g, const struct checkpoint_gate *gate,
                               struct trainer *t, const struct log *log, struct error *err)
{
    for (int i = g->n - 1; i >= 0 && g->used < 0; i--) {
        bool kept = kept_step(g->name[i]) >= 0;
        if (!kept && generation_step(g->name[i]) < 0)
            continue;
        char *path = path_join(g->dir, g->name[i]);
        struct error *why = &g->why[i];
        peat_status status = restore_generation(path, gate, kept ? path : NULL, t, why);
        if (status == PEAT_OK)
            g->used = i;
        else if (status != PEAT_NOMEM && status != PEAT_MISMATCH)
            log_line(log, "checkpoint '%s' is not used: %s", path, why->text);
        free(path);
        if (status == PEAT_NOMEM || status == PEAT_MISMATCH)
            return error_set(err, status, "%s", why->text);
    }
    return PEAT_OK;
}

/* Of the run's own that another made, the newest is kept and the one before it is not needed. */
static peat_status keep_newest(const struct generations *g, const char *curve, int64_t step,
                               const struct log *log, struct error *err)
{
    peat_status status = PEAT_OK;
    bool kept = false;
    for (int i = g->n - 1; i >= 0 && status == PEAT_OK; i--) {
        if (g->why[i].status != PEAT_REFUSED || kept_step(g->name[i]) >= 0)
            continue;
        if (kept) {
            status = generation_remove(g->dir, g->name[i], err);
            continue;
        }
        status = kept_put(g->dir, g->name[i], curve, step, g->why[i].text, err);
        log_line(log, "checkpoint '%s/%s' is kept until the cell is done", g->dir, g->name[i]);
        kept = true;
    }
    return status;
}

/* The newest is kept with its curve before another's takes their places. */
static peat_status put_in_order(const struct generations *g, const char *curve, int64_t step,
                                const struct log *log, struct error *err)
{
    peat_status status = keep_newest(g, curve, step, log, err);
    if (status == PEAT_OK && g->used >= 0 && kept_step(g->name[g->used]) >= 0)
        status = kept_take_back(g->dir, g->name[g->used], curve, err);
    return status;
}

peat_status checkpoint_load(const char *dir, struct trainer *t, const struct checkpoint_gate *gate,
                            const struct log *log, bool *found, struct error *err)
{
    struct generations g = {.dir = dir, .used = -1};
    struct arena a;
    arena_init(&a, "generations", 4096);
    checkpoint_tidy(dir);
    peat_status status = list_generations(dir, &g.name, &g.n, err);
    g.why = ARENA_ARRAY(&a, g.n + 1, struct error);
    if (status == PEAT_OK)
        status = find_usable(&g, gate, t, log, err);
    if (status == PEAT_OK)
        status = put_in_order(&g, gate ? gate->curve : NULL, t->step, log, err);
    *found = status == PEAT_OK && g.used >= 0;
    names_free(g.name, g.n);
    arena_release(&a);
    return status;
}

static bool is_good(const char *dir)
{
    struct arena a;
    arena_init(&a, "restore", 1 << 16);
    struct value *state;
    bool good = generation_read_state(dir, &a, &state, NULL) == PEAT_OK;
    arena_release(&a);
    return good;
}

char *checkpoint_latest(const char *dir)
{
    char **name, *latest = NULL;
    int n;
    if (list_generations(dir, &name, &n, NULL) != PEAT_OK)
        return NULL;
    for (int i = n - 1; !latest && i >= 0; i--) {
        if (generation_step(name[i]) < 0)
            continue;
        char *path = path_join(dir, name[i]);
        if (is_good(path))
            latest = path;
        else
            free(path);
    }
    names_free(name, n);
    return latest;
}
