/* SPDX-License-Identifier: MIT */
/*
 * generation.c: state.json.
 *
 *   {"version", "step", "first_loss", "above", "updates", "diverged": null | {"step", "what"},
 *    "patience": {"best", "bad", "stopped"} where train.patience is set,
 *    "seconds", "median_step_ms", "steps_timed", "identity": {...},
 *    "files": {name: SHA-256}, "check": SHA-256 of all else in canonical form}
 */
#include "train/generation.h"

enum { STATE_LIMIT = 1 << 20 };

static const struct field diverged_fields[] = {
    {"step", FIELD_INT | FIELD_NEEDED}, {"what", FIELD_TEXT | FIELD_NEEDED}, {NULL}};

enum { NUMBER = FIELD_NUMBER | FIELD_NULL | FIELD_SIGNED, NEEDED = FIELD_NEEDED };
static const struct field patience_fields[] = {
    {"best", NUMBER | NEEDED, MEMBER(struct patience, best)},
    {"bad", FIELD_INT | NEEDED, MEMBER(struct patience, bad)},
    {"stopped", FIELD_BOOL, MEMBER(struct patience, stopped)},
    {NULL},
};
enum { PATIENCE_FIELDS = 3 };

/* Seconds are negative where the clock was set back meanwhile. Checkpoints of earlier programs lack
 * eval_seconds. */
static const struct field state_fields[] = {
    {"step", FIELD_INT | NEEDED, MEMBER(struct trainer, step)},
    {"first_loss", NUMBER | NEEDED, MEMBER(struct trainer, first_loss)},
    {"above", FIELD_INT | NEEDED, MEMBER(struct trainer, above)},
    {"updates", FIELD_INT | NEEDED, MEMBER(struct trainer, adamw.t)},
    {"seconds", NUMBER | NEEDED, MEMBER(struct trainer, train_seconds)},
    {"eval_seconds", NUMBER, MEMBER(struct trainer, eval_seconds)},
    {"median_step_ms", NUMBER | NEEDED, MEMBER(struct trainer, median_step_ms)},
    {"steps_timed", FIELD_INT | NEEDED, MEMBER(struct trainer, steps_timed)},
    {"diverged", FIELD_MAP | FIELD_NULL | NEEDED, 0, diverged_fields},
    {"patience", FIELD_MAP, 0, patience_fields},
    {"identity", FIELD_MAP},
    {"files", FIELD_MAP, FIELD_TEXT},
    {NULL},
};
enum { TRAINER_FIELDS = 8 };
const struct record state_record = {GENERATION_STATE, "version", 1, false, state_fields};

void generation_name(int64_t step, char name[GENERATION_NAME])
{
    snprintf(name, GENERATION_NAME, "step-%08" PRId64, step);
}

int64_t generation_step(const char *name)
{
    char again[GENERATION_NAME];
    if (strncmp(name, "step-", 5) != 0)
        return -1;
    int64_t step = strtoll(name + 5, NULL, 10);
    generation_name(step, again);
    return step >= 0 && !strcmp(name, again) ? step : -1;
}

static struct named_tensor moment(const struct weight *w, const char *which, void *block,
                                  struct arena *a)
{
    struct tensor t = w->value;
    t.data = (char *)block + (size_t)w->offset * dtype_bytes(t.dtype);
    return (struct named_tensor){arena_printf(a, "opt.%s.%s", which, w->name), t};
}

struct named_tensor *generation_tensors(const struct weights *w, const struct adamw *o,
                                        struct arena *a, int *n)
{
    struct named_tensor *t = ARENA_ARRAY(a, 2 * w->n, struct named_tensor);
    *n = 0;
    for (int i = 0; i < w->n; i++) {
        const struct weight *one = w->item[i];
        if (!o) {
            t[(*n)++] = (struct named_tensor){one->name, one->value};
        } else if (!one->frozen) {
            t[(*n)++] = moment(one, "m", o->m, a);
            t[(*n)++] = moment(one, "v", o->v, a);
        }
    }
    return t;
}

peat_status generation_fill(struct weights *w, const struct named_tensor *t, int n,
                            const char *path, struct error *err)
{
    for (int i = 0; i < w->n; i++) {
        struct tensor *to = &w->item[i]->value;
        const struct named_tensor *from = safetensors_find(t, n, w->item[i]->name);
        if (!from || from->tensor.dtype == PEAT_I32 || !tensor_same_shape(&from->tensor, to))
            return error_set(err, PEAT_CORRUPT, "%s: tensor '%s' is %s", path, w->item[i]->name,
                             from ? "of another shape than the model's" : "missing");
        tensor_copy(to, &from->tensor);
    }
    return PEAT_OK;
}

static bool hash_beside(const char *dir, const char *name, char hex[HASH_HEX], struct error *err)
{
    return hash_file(path_in(dir, name).text, hex, err) == PEAT_OK;
}

/* ---- writing ---- */

static bool put_checksum(struct json files, const char *dir, const char *name, struct error *err)
{
    char hex[HASH_HEX];
    bool ok = hash_beside(dir, name, hex, err);
    if (ok)
        json_put_text(files, name, hex);
    return ok;
}

static void put_divergence(struct json state, const struct divergence *d)
{
    json_put(state, "diverged", NULL);
    if (!d->step)
        return;
    struct json map = json_put_map(state, "diverged");
    json_put_int(map, "step", d->step);
    json_put_text(map, "what", d->what);
}

/* Written only with train.patience, so that other checkpoints do not change. */
static void put_patience(struct json state, const struct trainer *t)
{
    if (t->train->patience)
        fields_put(json_put_map(state, "patience"), patience_fields, PATIENCE_FIELDS, &t->patience);
}

bool generation_write_state(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err)
{
    struct arena a;
    arena_init(&a, "state", 4096);
    struct json state = json_map(&a);
    json_put_int(state, state_record.number, state_record.format);
    fields_put(state, state_fields, TRAINER_FIELDS, t);
    put_divergence(state, &t->diverged);
    put_patience(state, t);
    json_put(state, "identity", identity ? identity : json_map(&a).v);
    struct json files = json_put_map(state, "files");
    bool ok = put_checksum(files, dir, GENERATION_MODEL, err) &&
              (final || put_checksum(files, dir, GENERATION_OPTIMISER, err)) &&
              json_write_file(dir, GENERATION_STATE, state.v, err) == PEAT_OK;
    arena_release(&a);
    return ok;
}

/* ---- reading ---- */

static peat_status not_whole(struct error *err, const char *what)
{
    return error_set(err, PEAT_CORRUPT, "%s %s", GENERATION_STATE, what);
}

static bool verify_file(const char *dir, const char *name, const struct value *files,
                        struct error *err)
{
    char hex[HASH_HEX];
    return hash_beside(dir, name, hex, err) &&
           (json_text_is(files, name, hex) ||
            error_fail(err, PEAT_CORRUPT, "%s does not have the checksum that %s gives", name,
                       GENERATION_STATE));
}

peat_status generation_read_state(const char *dir, struct arena *a, struct value **state,
                                  struct error *err)
{
    struct error why = {0};
    if (json_read(path_in(dir, GENERATION_STATE).text, GENERATION_STATE, STATE_LIMIT, a, state,
                  &why) != PEAT_OK)
        return error_copy(err, &why);
    if ((*state)->kind != VALUE_MAP)
        return not_whole(err, "is not a map");
    if (seal_check(*state) != SEAL_GOOD)
        return not_whole(err, "does not have its own checksum");
    const struct value *files = value_get(*state, "files");
    if (record_check(&state_record, *state, GENERATION_STATE, &why) == PEAT_OK &&
        verify_file(dir, GENERATION_MODEL, files, &why) && value_get(files, GENERATION_OPTIMISER))
        verify_file(dir, GENERATION_OPTIMISER, files, &why);
    return error_copy(err, &why);
}

peat_status generation_apply_state(const struct value *state, struct trainer *t, struct error *err)
{
    const struct value *diverged = value_get(state, "diverged");
    const struct value *patience = value_get(state, "patience");
    fields_get(state, state_fields, t);
    t->train_seconds = fmax(t->train_seconds, 0.0);
    t->eval_seconds = fmax(t->eval_seconds, 0.0);
    t->diverged = (struct divergence){.step = json_get_int(diverged, "step", 0)};
    snprintf(t->diverged.what, sizeof(t->diverged.what), "%s", json_text_or(diverged, "what", ""));
    t->patience = (struct patience){.last = (double)NAN, .best = (double)NAN};
    if (t->train->patience && !patience)
        return not_whole(err, "lacks an entry");
    if (t->train->patience)
        fields_get(patience, patience_fields, &t->patience);
    return PEAT_OK;
}

/* ---- its place ---- */

static bool move(const char *from, const char *to, struct error *err)
{
    return rename(from, to) == 0 ||
           error_fail(err, PEAT_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

bool generation_remove(const char *dir, const char *name, struct error *err)
{
    struct arena a;
    arena_init(&a, "checkpoint", 4096);
    const char *aside = arena_printf(&a, "%s/%s.old.tmp", dir, name);
    bool ok =
        move(arena_printf(&a, "%s/%s", dir, name), aside, err) && dir_remove(aside, err) == PEAT_OK;
    arena_release(&a);
    return ok;
}

bool generation_publish(const char *dir, const char *name, const char *temporary, struct error *err)
{
    const struct file_path path = path_in(dir, name);
    return (!file_exists(path.text) || generation_remove(dir, name, err)) &&
           move(temporary, path.text, err) && dir_sync(dir, err) == PEAT_OK;
}
