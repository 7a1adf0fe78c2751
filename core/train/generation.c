/* SPDX-License-Identifier: MIT */
/*
 * generation.c: state.json.
 *
 *   {"version", "step", "first_loss", "above", "updates", "diverged": null | {"step", "what"},
 *    "seconds", "median_step_ms", "steps_timed", "identity": {...},
 *    "files": {name: SHA-256}, "check": SHA-256 of all else in canonical form}
 */
#include "train/generation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/seal.h"

enum { STATE_VERSION = 1, STATE_LIMIT = 1 << 20 };

static const struct place nowhere = {.file = NULL};

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

static void set(struct arena *a, struct value *map, const char *key, struct value *item)
{
    value_set(a, map, key, nowhere, item);
}

static void set_int(struct arena *a, struct value *map, const char *key, int64_t x)
{
    set(a, map, key, value_int(a, nowhere, x));
}

static void set_real(struct arena *a, struct value *map, const char *key, double x)
{
    set(a, map, key, value_real(a, nowhere, x));
}

static struct value *divergence_value(struct arena *a, const struct divergence *d)
{
    if (!d->step)
        return value_null(a, nowhere);
    struct value *map = value_map(a, nowhere);
    set_int(a, map, "step", d->step);
    set(a, map, "what", value_text(a, nowhere, d->what));
    return map;
}

static peat_status add_checksum(struct arena *a, struct value *files, const char *dir,
                                const char *name, struct error *err)
{
    char hex[HASH_HEX], *path = path_join(dir, name);
    peat_status status = hash_file(path, hex, err);
    if (status == PEAT_OK)
        set(a, files, name, value_text(a, nowhere, hex));
    free(path);
    return status;
}

static struct value *state_value(struct arena *a, const struct trainer *t,
                                 const struct value *identity, const struct value *files)
{
    struct value *state = value_map(a, nowhere);
    set_int(a, state, "version", STATE_VERSION);
    set_int(a, state, "step", t->step);
    set_real(a, state, "first_loss", t->first_loss);
    set_int(a, state, "above", t->above);
    set_int(a, state, "updates", t->adamw.t);
    set(a, state, "diverged", divergence_value(a, &t->diverged));
    set_real(a, state, "seconds", t->train_seconds);
    set_real(a, state, "median_step_ms", t->median_step_ms);
    set_int(a, state, "steps_timed", t->steps_timed);
    set(a, state, "identity", identity ? (struct value *)identity : value_map(a, nowhere));
    set(a, state, "files", (struct value *)files);
    return sealed(a, state);
}

static peat_status write_json(const char *dir, const struct value *state, struct error *err)
{
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(state, false, 2, &text);
    strbuf_add(&text, "\n");
    char *path = path_join(dir, GENERATION_STATE);
    peat_status status = file_write(path, text.text, text.n, err);
    free(path);
    strbuf_release(&text);
    return status;
}

peat_status generation_write_state(const char *dir, const struct trainer *t,
                                   const struct value *identity, bool final, struct error *err)
{
    struct arena a;
    arena_init(&a, "state", 4096);
    struct value *files = value_map(&a, nowhere);
    peat_status status = add_checksum(&a, files, dir, GENERATION_MODEL, err);
    if (status == PEAT_OK && !final)
        status = add_checksum(&a, files, dir, GENERATION_OPTIMISER, err);
    if (status == PEAT_OK)
        status = write_json(dir, state_value(&a, t, identity, files), err);
    arena_release(&a);
    return status;
}

static peat_status not_whole(struct error *err, const char *what)
{
    return error_set(err, PEAT_CORRUPT, "%s %s", GENERATION_STATE, what);
}

static peat_status parse_state(const char *dir, struct arena *a, struct value **state,
                               struct error *err)
{
    char *bytes, *path = path_join(dir, GENERATION_STATE);
    size_t n;
    peat_status status = file_read(path, STATE_LIMIT, &bytes, &n, err);
    if (status == PEAT_OK) {
        *state = value_from_json(a, bytes, n, GENERATION_STATE, err);
        status = *state ? PEAT_OK : PEAT_CORRUPT;
        free(bytes);
    }
    free(path);
    return status;
}

static bool is_text(const struct value *v, const char *text)
{
    return v && v->kind == VALUE_TEXT && !strcmp(v->text, text);
}

static peat_status verify_file(const char *dir, const char *name, const struct value *stored,
                               struct error *err)
{
    char hex[HASH_HEX], *path = path_join(dir, name);
    peat_status status = hash_file(path, hex, err);
    if (status == PEAT_OK && !is_text(stored, hex))
        status = error_set(err, PEAT_CORRUPT, "%s does not have the checksum that %s gives", name,
                           GENERATION_STATE);
    free(path);
    return status;
}

peat_status generation_read_state(const char *dir, struct arena *a, struct value **state,
                                  struct error *err)
{
    peat_status status = parse_state(dir, a, state, err);
    if (status != PEAT_OK)
        return status;
    if ((*state)->kind != VALUE_MAP)
        return not_whole(err, "is not a map");
    if (seal_check(*state) != SEAL_GOOD)
        return not_whole(err, "does not have its own checksum");
    const struct value *version = value_get(*state, "version"), *files = value_get(*state, "files");
    if (!version || version->integer != STATE_VERSION)
        return not_whole(err, "is of another version");
    status = verify_file(dir, GENERATION_MODEL, value_get(files, GENERATION_MODEL), err);
    const struct value *optimiser = value_get(files, GENERATION_OPTIMISER);
    if (status == PEAT_OK && optimiser)
        status = verify_file(dir, GENERATION_OPTIMISER, optimiser, err);
    return status;
}

/* NaN is written as null. */
static bool get_real(const struct value *map, const char *key, double *x)
{
    const struct value *v = value_get(map, key);
    if (!v || (v->kind != VALUE_NULL && v->kind != VALUE_INT && v->kind != VALUE_REAL))
        return false;
    *x = v->kind == VALUE_NULL ? (double)NAN : v->real;
    return true;
}

static bool get_int(const struct value *map, const char *key, int64_t *x)
{
    const struct value *v = value_get(map, key);
    if (!v || v->kind != VALUE_INT || v->integer < 0)
        return false;
    *x = v->integer;
    return true;
}

static bool get_divergence(const struct value *state, struct divergence *d)
{
    const struct value *map = value_get(state, "diverged"), *what = value_get(map, "what");
    *d = (struct divergence){0};
    if (map && map->kind == VALUE_NULL)
        return true;
    if (!get_int(map, "step", &d->step) || !what || what->kind != VALUE_TEXT)
        return false;
    snprintf(d->what, sizeof(d->what), "%s", what->text);
    return true;
}

peat_status generation_apply_state(const struct value *state, struct trainer *t, struct error *err)
{
    bool good = get_int(state, "step", &t->step) && get_real(state, "first_loss", &t->first_loss) &&
                get_int(state, "above", &t->above) && get_int(state, "updates", &t->adamw.t) &&
                get_divergence(state, &t->diverged) &&
                get_real(state, "seconds", &t->train_seconds) &&
                get_real(state, "median_step_ms", &t->median_step_ms) &&
                get_int(state, "steps_timed", &t->steps_timed);
    return good ? PEAT_OK : not_whole(err, "lacks an entry");
}
