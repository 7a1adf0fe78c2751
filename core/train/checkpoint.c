/* SPDX-License-Identifier: MIT */
/* checkpoint.c: writing generations and keeping two of them. */
#include "train/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kept.h"
#include "model/safetensors.h"
#include "train/generation.h"

/* The moments of one weight as tensors over the optimiser's blocks. */
static struct tensor moment_tensor(const struct weight *w, void *block)
{
    struct tensor t = w->value;
    t.data = (char *)block + (size_t)w->offset * dtype_bytes(t.dtype);
    return t;
}

static peat_status write_named(const char *dir, const char *file, const struct named_tensor *t,
                               int n, struct error *err)
{
    char *path = path_join(dir, file);
    peat_status status = safetensors_write(path, t, n, NULL, err);
    free(path);
    return status;
}

static peat_status write_weights(const char *dir, const struct weights *w, struct arena *a,
                                 struct error *err)
{
    struct named_tensor *t = ARENA_ARRAY(a, w->n, struct named_tensor);
    for (int i = 0; i < w->n; i++)
        t[i] = (struct named_tensor){w->item[i]->name, w->item[i]->value};
    return write_named(dir, GENERATION_MODEL, t, w->n, err);
}

static peat_status write_optimiser(const char *dir, const struct weights *w, const struct adamw *o,
                                   struct arena *a, struct error *err)
{
    struct named_tensor *t = ARENA_ARRAY(a, 2 * w->n, struct named_tensor);
    int n = 0;
    for (int i = 0; i < w->n; i++) {
        const struct weight *one = w->item[i];
        if (one->frozen)
            continue;
        t[n++] =
            (struct named_tensor){arena_printf(a, "opt.m.%s", one->name), moment_tensor(one, o->m)};
        t[n++] =
            (struct named_tensor){arena_printf(a, "opt.v.%s", one->name), moment_tensor(one, o->v)};
    }
    return write_named(dir, GENERATION_OPTIMISER, t, n, err);
}

static peat_status write_files(const char *dir, const struct trainer *t,
                               const struct value *identity, bool final, struct error *err)
{
    struct arena a;
    arena_init(&a, "checkpoint", 4096);
    peat_status status = dir_make(dir, err);
    if (status == PEAT_OK)
        status = write_weights(dir, &t->model->weights, &a, err);
    if (status == PEAT_OK && !final)
        status = write_optimiser(dir, &t->model->weights, &t->adamw, &a, err);
    if (status == PEAT_OK)
        status = generation_write_state(dir, t, identity, final, err);
    if (status == PEAT_OK)
        status = dir_sync(dir, err);
    arena_release(&a);
    return status;
}

static bool is_leftover(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".tmp");
}

static peat_status remove_leftovers(const char *dir, struct error *err)
{
    char **name;
    int n;
    peat_status status = dir_list(dir, &name, &n, err);
    if (status != PEAT_OK)
        return status;
    for (int i = 0; status == PEAT_OK && i < n; i++) {
        if (!is_leftover(name[i]))
            continue;
        char *path = path_join(dir, name[i]);
        status = dir_remove(path, err);
        free(path);
    }
    names_free(name, n);
    return status;
}

void checkpoint_tidy(const char *dir)
{
    if (file_exists(dir))
        remove_leftovers(dir, NULL);
}

static peat_status move(const char *from, const char *to, struct error *err)
{
    if (rename(from, to) == 0)
        return PEAT_OK;
    return error_set(err, PEAT_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

peat_status generation_remove(const char *dir, const char *name, struct error *err)
{
    struct strbuf aside;
    strbuf_init(&aside);
    strbuf_addf(&aside, "%s/%s.old.tmp", dir, name);
    char *path = path_join(dir, name);
    peat_status status = move(path, aside.text, err);
    if (status == PEAT_OK)
        status = dir_remove(aside.text, err);
    free(path);
    strbuf_release(&aside);
    return status;
}

/* Names in dir are sorted, so the generation before `step` comes last among the earlier ones.
 * Those of later steps belong to a future that was given up when the run fell back. Kept ones stay
 * until the run is done. */
static peat_status remove_others(const char *dir, int64_t step, bool final, struct error *err)
{
    char **name;
    int n;
    peat_status status = dir_list(dir, &name, &n, err);
    if (status != PEAT_OK)
        return status;
    bool keep_one = !final;
    for (int i = n - 1; status == PEAT_OK && i >= 0; i--) {
        int64_t other = generation_step(name[i]);
        bool kept = kept_step(name[i]) >= 0;
        if (kept ? !final : other < 0 || other == step)
            continue;
        if (!kept && other < step && keep_one)
            keep_one = false;
        else
            status = generation_remove(dir, name[i], err);
    }
    names_free(name, n);
    return status;
}

peat_status generation_publish(const char *dir, const char *name, const char *temporary,
                               struct error *err)
{
    char *path = path_join(dir, name);
    peat_status status = file_exists(path) ? generation_remove(dir, name, err) : PEAT_OK;
    if (status == PEAT_OK)
        status = move(temporary, path, err);
    if (status == PEAT_OK)
        status = dir_sync(dir, err);
    free(path);
    return status;
}

peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err)
{
    char name[GENERATION_NAME];
    struct strbuf temporary;
    generation_name(t->step, name);
    strbuf_init(&temporary);
    strbuf_addf(&temporary, "%s/%s.tmp", dir, name);
    peat_status status = dir_make(dir, err);
    if (status == PEAT_OK)
        status = remove_leftovers(dir, err);
    if (status == PEAT_OK)
        status = write_files(temporary.text, t, identity, final, err);
    if (status == PEAT_OK)
        status = generation_publish(dir, name, temporary.text, err);
    else
        dir_remove(temporary.text, NULL);
    if (status == PEAT_OK)
        status = remove_others(dir, t->step, final, err);
    strbuf_release(&temporary);
    return status;
}
