/* SPDX-License-Identifier: MIT */
/* restore.c: reads generations back; changes nothing before everything is verified. */

#include "kept.h"
#include "train/checkpoint.h"
#include "train/generation.h"

/* The tensors of a file, and those in memory that get their values. */
struct tensors {
    struct named_tensor *from, *to;
    int n_from, n_to;
};

static bool read_tensors(const char *dir, const char *file, struct arena *a, struct tensors *t,
                         struct error *err)
{
    return safetensors_read(arena_printf(a, "%s/%s", dir, file), a, &t->from, &t->n_from, NULL,
                            err) == PEAT_OK;
}

/* Checks that the file has exactly the names, dtypes and shapes of the model. */
static bool check_tensors(const struct tensors *t, struct error *err)
{
    for (int i = 0; i < t->n_to; i++) {
        const struct tensor *want = &t->to[i].tensor;
        const char *name = t->to[i].name;
        const struct named_tensor *found = safetensors_find(t->from, t->n_from, name);
        const struct tensor *has = found ? &found->tensor : NULL;
        char one[128], other[128];
        if (!has)
            error_set(err, PEAT_INVALID, "tensor '%s' is missing", name);
        else if (has->dtype != want->dtype || !tensor_same_shape(has, want))
            error_set(err, PEAT_INVALID, "tensor '%s' is %s %s, the model has %s %s", name,
                      dtype_name(has->dtype), tensor_shape_text(has, one, sizeof(one)),
                      dtype_name(want->dtype), tensor_shape_text(want, other, sizeof(other)));
        else
            continue;
        return false;
    }
    if (t->n_from != t->n_to)
        error_set(err, PEAT_INVALID, "%d tensors, the model has %d", t->n_from, t->n_to);
    return t->n_from == t->n_to;
}

static void copy_tensors(const struct tensors *t)
{
    for (int i = 0; i < t->n_to; i++)
        memcpy(t->to[i].tensor.data,
               safetensors_find(t->from, t->n_from, t->to[i].name)->tensor.data,
               tensor_bytes(&t->to[i].tensor));
}

/* kept: the folder of a generation of kept.h; NULL: it is one of the run's own. */
static bool pass_gate(const struct checkpoint_gate *gate, const struct value *state,
                      const char *kept, struct error *err)
{
    return !gate || gate->accept(gate->ctx, value_get(state, "identity"), kept, err) == PEAT_OK;
}

/* Reads into a copy of the trainer, whose arrays are written only after all checks. */
static bool restore_tensors(const char *dir, struct arena *a, const struct value *state,
                            const struct trainer *t, struct error *err)
{
    struct tensors model, moments = {0};
    bool has_moments = value_get(value_get(state, "files"), GENERATION_OPTIMISER) != NULL;
    model.to = generation_tensors(&t->model->weights, NULL, a, &model.n_to);
    if (has_moments)
        moments.to = generation_tensors(&t->model->weights, &t->adamw, a, &moments.n_to);
    /* A run that has ended keeps only its weights. */
    if (!has_moments && !trainer_has_ended(t))
        return error_fail(err, PEAT_INVALID, "it has no optimiser state to go on from");
    if (!read_tensors(dir, GENERATION_MODEL, a, &model, err) || !check_tensors(&model, err))
        return false;
    if (has_moments && !(read_tensors(dir, GENERATION_OPTIMISER, a, &moments, err) &&
                         check_tensors(&moments, err)))
        return false;
    copy_tensors(&model);
    copy_tensors(&moments);
    t->model->weights.step = t->step;
    return true;
}

static bool restore_generation(const char *dir, const struct checkpoint_gate *gate,
                               const char *kept, struct trainer *t, struct error *err)
{
    struct arena a;
    arena_init(&a, "restore", 1 << 16);
    struct value *state;
    struct trainer restored = *t;
    bool ok = generation_read_state(dir, &a, &state, err) == PEAT_OK &&
              generation_apply_state(state, &restored, err) == PEAT_OK &&
              pass_gate(gate, state, kept, err) && restore_tensors(dir, &a, state, &restored, err);
    if (ok)
        *t = restored;
    arena_release(&a);
    return ok;
}

/* The names in a directory, sorted. */
struct generations {
    const char *dir;
    char **name;
    int n;
    struct error *why; /* [n] why each generation is not used */
    int used;          /* -1: no generation */
};

/* Restores the newest usable generation, the run's own or a kept one. */
static bool find_usable(struct generations *g, const struct checkpoint_gate *gate,
                        struct trainer *t, const struct log *log, struct error *err)
{
    for (int i = g->n - 1; i >= 0 && g->used < 0; i--) {
        bool kept = kept_step(g->name[i]) >= 0;
        if (!kept && generation_step(g->name[i]) < 0)
            continue;
        const struct file_path path = path_in(g->dir, g->name[i]);
        struct error *why = &g->why[i];
        if (restore_generation(path.text, gate, kept ? path.text : NULL, t, why))
            g->used = i;
        else if (why->status == PEAT_NOMEM || why->status == PEAT_MISMATCH)
            return error_fail(err, why->status, "%s", why->text);
        else
            log_line(log, "checkpoint '%s' is not used: %s", path.text, why->text);
    }
    return true;
}

/* Keeps the newest of the generations that the gate refused, and removes the one before it. */
static bool keep_newest(const struct generations *g, const char *curve, int64_t step,
                        const struct log *log, struct error *err)
{
    bool ok = true, kept = false;
    for (int i = g->n - 1; i >= 0 && ok; i--) {
        if (g->why[i].status != PEAT_REFUSED || kept_step(g->name[i]) >= 0)
            continue;
        if (kept) {
            ok = generation_remove(g->dir, g->name[i], err);
            continue;
        }
        ok = kept_put(g->dir, g->name[i], curve, step, g->why[i].text, err);
        log_line(log, "checkpoint '%s/%s' is kept until the cell is done", g->dir, g->name[i]);
        kept = true;
    }
    return ok;
}

/* Keeps the newest refused generation with its curve before the used one replaces them. */
static bool put_in_order(const struct generations *g, const char *curve, int64_t step,
                         const struct log *log, struct error *err)
{
    bool is_kept = g->used >= 0 && kept_step(g->name[g->used]) >= 0;
    return keep_newest(g, curve, step, log, err) &&
           (!is_kept || kept_take_back(g->dir, g->name[g->used], curve, err));
}

peat_status checkpoint_load(const char *dir, struct trainer *t, const struct checkpoint_gate *gate,
                            const struct log *log, bool *found, struct error *err)
{
    struct generations g = {.dir = dir, .used = -1};
    struct error why = {0};
    struct arena a;
    arena_init(&a, "generations", 4096);
    checkpoint_tidy(dir);
    bool ok = !file_exists(dir) || dir_list(dir, &g.name, &g.n, &why) == PEAT_OK;
    g.why = ARENA_ARRAY(&a, g.n + 1, struct error);
    ok = ok && find_usable(&g, gate, t, log, &why) &&
         put_in_order(&g, gate ? gate->curve : NULL, t->step, log, &why);
    *found = ok && g.used >= 0;
    names_free(g.name, g.n);
    arena_release(&a);
    return error_copy(err, &why);
}

/* The folder of one state. A state from a program of another version is not used. */
static bool branch_from(const char *dir, struct trainer *t, const struct checkpoint_gate *gate,
                        const struct log *log, bool *found, struct error *err)
{
    struct error why = {0};
    *found = restore_generation(dir, gate, dir, t, &why);
    if (*found)
        return kept_take_curve(dir, gate->curve, err);
    if (why.status == PEAT_NOMEM)
        return error_fail(err, why.status, "%s", why.text);
    log_line(log, "checkpoint '%s' is not used: %s", dir, why.text);
    return true;
}

peat_status checkpoint_branch(const char *dir, int64_t most, struct trainer *t,
                              const struct checkpoint_gate *gate, const struct log *log,
                              bool *found, struct error *err)
{
    struct error why = {0};
    char **name;
    int n;
    bool ok = true;
    *found = false;
    dir_list(dir, &name, &n, NULL);
    for (int i = n - 1; i >= 0 && ok && !*found; i--) {
        int64_t step = generation_step(name[i]);
        if (step <= most && step > t->step)
            ok = branch_from(path_in(dir, name[i]).text, t, gate, log, found, &why);
    }
    names_free(name, n);
    return error_copy(err, &why);
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
    dir_list(dir, &name, &n, NULL);
    for (int i = n - 1; !latest && i >= 0; i--) {
        if (generation_step(name[i]) >= 0 && is_good(path_in(dir, name[i]).text))
            latest = path_join(dir, name[i]);
    }
    names_free(name, n);
    return latest;
}
