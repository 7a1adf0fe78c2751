/* SPDX-License-Identifier: MIT */
/* restore.c: reading generations back; nothing is changed before everything was verified. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
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

/* Who decides on a stored identity. */
struct gate {
    bool (*accept)(void *ctx, const struct value *identity, char *why, size_t n);
    void *ctx;
};

static peat_status pass_gate(const struct gate *gate, const struct value *state, struct error *err)
{
    char why[1000] = "its identity is another";
    if (!gate->accept || gate->accept(gate->ctx, value_get(state, "identity"), why, sizeof(why)))
        return PEAT_OK;
    return error_set(err, PEAT_REFUSED, "%s", why);
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

static peat_status restore_generation(const char *dir, const struct gate *gate, struct trainer *t,
                                      struct error *err)
{
    struct arena a;
    arena_init(&a, "restore", 1 << 16);
    struct value *state;
    struct trainer restored = *t;
    peat_status status = generation_read_state(dir, &a, &state, err);
    if (status == PEAT_OK)
        status = generation_apply_state(state, &restored, err);
    if (status == PEAT_OK)
        status = pass_gate(gate, state, err);
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

peat_status checkpoint_load(const char *dir, struct trainer *t,
                            bool (*accept)(void *ctx, const struct value *identity, char *why,
                                           size_t n),
                            void *ctx, const struct log *log, bool *found, struct error *err)
{
    const struct gate gate = {accept, ctx};
    char **name;
    int n;
    *found = false;
    checkpoint_tidy(dir);
    peat_status status = list_generations(dir, &name, &n, err);
    for (int i = n - 1; status == PEAT_OK && !*found && i >= 0; i--) {
        if (generation_step(name[i]) < 0)
            continue;
        struct error why = {0};
        char *path = path_join(dir, name[i]);
        peat_status one = restore_generation(path, &gate, t, &why);
        *found = one == PEAT_OK;
        if (one == PEAT_NOMEM || one == PEAT_MISMATCH)
            status = error_set(err, one, "%s", why.text);
        else if (one != PEAT_OK)
            log_line(log, "checkpoint '%s' is not used: %s", path, why.text);
        free(path);
    }
    names_free(name, n);
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
