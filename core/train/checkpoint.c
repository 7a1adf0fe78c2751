/* SPDX-License-Identifier: MIT */
/* checkpoint.c: writing generations and keeping two of them. */
#include "train/checkpoint.h"

#include "kept.h"
#include "train/generation.h"

/* A checkpoint that is being written. The first error is kept. */
struct writing {
    const char *dir; /* the directory of all generations */
    struct arena a;
    struct error err;
};

static bool write_tensors(struct writing *c, const char *dir, const char *file,
                          const struct weights *w, const struct adamw *o)
{
    int n;
    const struct named_tensor *t = generation_tensors(w, o, &c->a, &n);
    const char *path = arena_printf(&c->a, "%s/%s", dir, file);
    return safetensors_write(path, t, n, NULL, &c->err) == PEAT_OK;
}

static bool write_files(struct writing *c, const char *dir, const struct trainer *t,
                        const struct value *identity, bool final)
{
    const struct weights *w = &t->model->weights;
    return dir_make(dir, &c->err) == PEAT_OK && write_tensors(c, dir, GENERATION_MODEL, w, NULL) &&
           (final || write_tensors(c, dir, GENERATION_OPTIMISER, w, &t->adamw)) &&
           generation_write_state(dir, t, identity, final, &c->err) == PEAT_OK &&
           dir_sync(dir, &c->err) == PEAT_OK;
}

static bool is_leftover(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".tmp");
}

static bool remove_leftovers(struct writing *c)
{
    char **name;
    int n;
    bool ok = dir_list(c->dir, &name, &n, &c->err) == PEAT_OK;
    for (int i = 0; ok && i < n; i++)
        if (is_leftover(name[i]))
            ok = dir_remove(arena_printf(&c->a, "%s/%s", c->dir, name[i]), &c->err) == PEAT_OK;
    names_free(name, n);
    return ok;
}

void checkpoint_tidy(const char *dir)
{
    struct writing c = {.dir = dir};
    arena_init(&c.a, "checkpoint", 4096);
    if (file_exists(dir))
        remove_leftovers(&c);
    arena_release(&c.a);
}

static peat_status move(const char *from, const char *to, struct error *err)
{
    if (rename(from, to) == 0)
        return PEAT_OK;
    return error_set(err, PEAT_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

peat_status generation_remove(const char *dir, const char *name, struct error *err)
{
    struct arena a;
    arena_init(&a, "checkpoint", 4096);
    const char *aside = arena_printf(&a, "%s/%s.old.tmp", dir, name);
    peat_status status = move(arena_printf(&a, "%s/%s", dir, name), aside, err);
    if (status == PEAT_OK)
        status = dir_remove(aside, err);
    arena_release(&a);
    return status;
}

/* Keeps the generation of `step` and, unless that is final, the one before it and those of kept.h.
 * Generations of later steps are removed: the run went back before them. Names are sorted. */
static bool remove_others(struct writing *c, int64_t step, bool final)
{
    char **name;
    int n;
    bool ok = dir_list(c->dir, &name, &n, &c->err) == PEAT_OK, keep_one = !final;
    for (int i = n - 1; ok && i >= 0; i--) {
        int64_t other = generation_step(name[i]);
        bool kept = kept_step(name[i]) >= 0;
        if (kept ? !final : other < 0 || other == step)
            continue;
        if (!kept && other < step && keep_one)
            keep_one = false;
        else
            ok = generation_remove(c->dir, name[i], &c->err) == PEAT_OK;
    }
    names_free(name, n);
    return ok;
}

peat_status generation_publish(const char *dir, const char *name, const char *temporary,
                               struct error *err)
{
    const struct file_path path = path_in(dir, name);
    peat_status status = file_exists(path.text) ? generation_remove(dir, name, err) : PEAT_OK;
    if (status == PEAT_OK)
        status = move(temporary, path.text, err);
    if (status == PEAT_OK)
        status = dir_sync(dir, err);
    return status;
}

/* Processes that reach a step at the same time have the same bits, so either state may stay. */
static bool publish_shared(struct writing *c, const char *name, const char *temporary)
{
    if (generation_publish(c->dir, name, temporary, &c->err) == PEAT_OK)
        return true;
    dir_remove(temporary, NULL);
    return file_exists(arena_printf(&c->a, "%s/%s", c->dir, name));
}

peat_status checkpoint_leave(const char *dir, const struct trainer *t, const struct value *identity,
                             const char *curve, const char *owner, struct error *err)
{
    struct writing c = {.dir = dir};
    char name[GENERATION_NAME];
    arena_init(&c.a, "checkpoint", 4096);
    generation_name(t->step, name);
    const char *temporary = arena_printf(&c.a, "%s/%s.%s.tmp", dir, name, owner);
    bool ok = dir_make(dir, &c.err) == PEAT_OK && dir_remove(temporary, &c.err) == PEAT_OK &&
              write_files(&c, temporary, t, identity, false) &&
              kept_put_curve(temporary, curve, &c.err) == PEAT_OK;
    if (!ok)
        dir_remove(temporary, NULL);
    ok = ok && publish_shared(&c, name, temporary);
    arena_release(&c.a);
    return ok ? PEAT_OK : error_set(err, c.err.status, "%s", c.err.text);
}

peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err)
{
    struct writing c = {.dir = dir};
    char name[GENERATION_NAME];
    arena_init(&c.a, "checkpoint", 4096);
    generation_name(t->step, name);
    const char *temporary = arena_printf(&c.a, "%s/%s.tmp", dir, name);
    bool ok = dir_make(dir, &c.err) == PEAT_OK && remove_leftovers(&c) &&
              write_files(&c, temporary, t, identity, final);
    if (!ok)
        dir_remove(temporary, NULL);
    ok = ok && generation_publish(dir, name, temporary, &c.err) == PEAT_OK &&
         remove_others(&c, t->step, final);
    arena_release(&c.a);
    return ok ? PEAT_OK : error_set(err, c.err.status, "%s", c.err.text);
}
