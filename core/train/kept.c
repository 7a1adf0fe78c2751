/* SPDX-License-Identifier: MIT */
/* kept.c: renames generations to keep them, and restores their names. */
#include "kept.h"

#include "train/checkpoint.h"
#include "train/generation.h"

static const char mark[] = ".kept-", why_name[] = "why";

int64_t kept_step(const char *name)
{
    char generation[GENERATION_NAME];
    const char *end = strstr(name, mark);
    if (!end || end - name >= GENERATION_NAME)
        return -1;
    snprintf(generation, sizeof(generation), "%.*s", (int)(end - name), name);
    return generation_step(generation);
}

static peat_status copy_file(const char *from, const char *to, struct error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    peat_status status = file_read(from, 0, &bytes, &n, err);
    if (status == PEAT_OK)
        status = file_write_own(to, bytes, n, err);
    free(bytes);
    return status;
}

/* ---- keeping ---- */

/* An existing copy is not replaced: it was made with this generation, and the run's own file may
 * belong to another one by now. */
peat_status kept_put_curve(const char *generation, const char *curve, struct error *err)
{
    const struct file_path copy = path_in(generation, path_name(curve));
    peat_status status =
        file_exists(copy.text) || !file_exists(curve) ? PEAT_OK : copy_file(curve, copy.text, err);
    return status;
}

peat_status kept_take_curve(const char *generation, const char *curve, struct error *err)
{
    return copy_file(path_in(generation, path_name(curve)).text, curve, err);
}

static peat_status put_reason(const char *generation, int64_t from, const char *why,
                              struct arena *a, struct error *err)
{
    const char *text = arena_printf(a,
                                    "started again from step %" PRId64
                                    ", as the checkpoint of step %" PRId64 " is not used: %s",
                                    from, generation_step(path_name(generation)), why);
    return file_write_own(arena_printf(a, "%s/%s", generation, why_name), text, strlen(text), err);
}

peat_status kept_put(const char *dir, const char *name, const char *curve, int64_t from,
                     const char *why, struct error *err)
{
    struct arena a;
    char hex[HASH_HEX];
    arena_init(&a, "kept", 4096);
    const char *generation = arena_printf(&a, "%s/%s", dir, name);
    peat_status status =
        hash_file(arena_printf(&a, "%s/%s", generation, GENERATION_STATE), hex, err);
    if (status == PEAT_OK && curve)
        status = kept_put_curve(generation, curve, err);
    if (status == PEAT_OK)
        status = put_reason(generation, from, why, &a, err);
    if (status == PEAT_OK)
        status =
            generation_publish(dir, arena_printf(&a, "%s%s%.8s", name, mark, hex), generation, err);
    arena_release(&a);
    return status;
}

peat_status kept_take_back(const char *dir, const char *name, const char *curve, struct error *err)
{
    struct arena a;
    char generation[GENERATION_NAME];
    arena_init(&a, "kept", 4096);
    generation_name(kept_step(name), generation);
    const char *from = arena_printf(&a, "%s/%s", dir, name);
    peat_status status = curve ? kept_take_curve(from, curve, err) : PEAT_OK;
    if (status == PEAT_OK)
        status = generation_publish(dir, generation, from, err);
    arena_release(&a);
    return status;
}

const char *checkpoint_kept(const char *dir, struct arena *a)
{
    enum { MOST = 4096 };
    char **name, *why = NULL;
    const char *newest = NULL, *text = NULL;
    int n;
    size_t length;
    dir_list(dir, &name, &n, NULL);
    for (int i = 0; i < n; i++)
        if (kept_step(name[i]) >= 0)
            newest = name[i];
    if (newest && file_read(arena_printf(a, "%s/%s/%s", dir, newest, why_name), MOST, &why, &length,
                            NULL) == PEAT_OK)
        text = arena_strdup(a, why);
    free(why);
    names_free(name, n);
    return text;
}
