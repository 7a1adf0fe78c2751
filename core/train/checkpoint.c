/* SPDX-License-Identifier: MIT */
/* checkpoint.c: writing generations and keeping two of them. */
#include "train/checkpoint.h"

#include "kept.h"
#include "train/generation.h"

/* A checkpoint that is being written. The first error is kept. */
struct writing {
    const char *dir;            /* the directory of all generations */
    char name[GENERATION_NAME]; /* the generation that is written */
    const char *temporary;      /* its path until it is whole */
    struct arena a;
    struct error err;
};

/* owner: a text for the temporary name; NULL: no other process writes in the directory. */
static void checkpoint_begin(struct writing *c, const char *dir, const struct trainer *t,
                             const char *owner)
{
    *c = (struct writing){.dir = dir};
    arena_init(&c->a, "checkpoint", 4096);
    generation_name(t->step, c->name);
    c->temporary = owner ? arena_printf(&c->a, "%s/%s.%s.tmp", dir, c->name, owner)
                         : arena_printf(&c->a, "%s/%s.tmp", dir, c->name);
}

static peat_status checkpoint_end(struct writing *c, struct error *err)
{
    arena_release(&c->a);
    return error_copy(err, &c->err);
}

static bool write_tensors(struct writing *c, const char *file, const struct weights *w,
                          const struct adamw *o)
{
    int n;
    const struct named_tensor *t = generation_tensors(w, o, &c->a, &n);
    const char *path = arena_printf(&c->a, "%s/%s", c->temporary, file);
    return safetensors_write(path, t, n, NULL, &c->err) == PEAT_OK;
}

/* curve: NULL, or a file that is copied into the generation. Leaves nothing where it fails. */
static bool write_files(struct writing *c, const struct trainer *t, const struct value *identity,
                        bool final, const char *curve)
{
    const struct weights *w = &t->model->weights;
    bool ok = dir_make(c->temporary, &c->err) == PEAT_OK &&
              write_tensors(c, GENERATION_MODEL, w, NULL) &&
              (final || write_tensors(c, GENERATION_OPTIMISER, w, &t->adamw)) &&
              generation_write_state(c->temporary, t, identity, final, &c->err) &&
              dir_sync(c->temporary, &c->err) == PEAT_OK &&
              (!curve || kept_put_curve(c->temporary, curve, &c->err));
    if (!ok)
        dir_remove(c->temporary, NULL);
    return ok;
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

/* Keeps the generation of `step` and, unless that is final, the one before it and those of kept.h.
 * Generations of later steps are removed: the run went back before them. Names are sorted. */
static void remove_others(struct writing *c, int64_t step, bool final)
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
            ok = generation_remove(c->dir, name[i], &c->err);
    }
    names_free(name, n);
}

/* Processes that reach a step at the same time have the same bits, so either state may stay. */
static void publish_shared(struct writing *c)
{
    struct error why = {0};
    if (generation_publish(c->dir, c->name, c->temporary, &why))
        return;
    dir_remove(c->temporary, NULL);
    if (!dir_has(c->dir, c->name))
        c->err = why;
}

peat_status checkpoint_leave(const char *dir, const struct trainer *t, const struct value *identity,
                             const char *curve, const char *owner, struct error *err)
{
    struct writing c;
    checkpoint_begin(&c, dir, t, owner);
    if (dir_make(dir, &c.err) == PEAT_OK && dir_remove(c.temporary, &c.err) == PEAT_OK &&
        write_files(&c, t, identity, false, curve))
        publish_shared(&c);
    return checkpoint_end(&c, err);
}

peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err)
{
    struct writing c;
    checkpoint_begin(&c, dir, t, NULL);
    if (dir_make(dir, &c.err) == PEAT_OK && remove_leftovers(&c) &&
        write_files(&c, t, identity, final, NULL) &&
        generation_publish(dir, c.name, c.temporary, &c.err))
        remove_others(&c, t->step, final);
    return checkpoint_end(&c, err);
}
