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

static bool copy_file(const char *from, const char *to, struct error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    bool ok = file_read(from, 0, &bytes, &n, err) == PEAT_OK &&
              file_write_own(to, bytes, n, err) == PEAT_OK;
    free(bytes);
    return ok;
}

/* ---- keeping ---- */

/* An existing copy is not replaced: it was made with this generation, and the run's own file may
 * belong to another one by now. */
bool kept_put_curve(const char *generation, const char *curve, struct error *err)
{
    const struct file_path copy = path_in(generation, path_name(curve));
    return file_exists(copy.text) || !file_exists(curve) || copy_file(curve, copy.text, err);
}

bool kept_take_curve(const char *generation, const char *curve, struct error *err)
{
    return copy_file(path_in(generation, path_name(curve)).text, curve, err);
}

static bool put_reason(const char *generation, int64_t from, const char *why, struct arena *a,
                       struct error *err)
{
    const char *text = arena_printf(a,
                                    "started again from step %" PRId64
                                    ", as the checkpoint of step %" PRId64 " is not used: %s",
                                    from, generation_step(path_name(generation)), why);
    return file_write_own(path_in(generation, why_name).text, text, strlen(text), err) == PEAT_OK;
}

bool kept_put(const char *dir, const char *name, const char *curve, int64_t from, const char *why,
              struct error *err)
{
    struct arena a;
    char hex[HASH_HEX];
    arena_init(&a, "kept", 4096);
    const char *generation = arena_printf(&a, "%s/%s", dir, name);
    bool ok =
        hash_file(arena_printf(&a, "%s/%s", generation, GENERATION_STATE), hex, err) == PEAT_OK &&
        (!curve || kept_put_curve(generation, curve, err)) &&
        put_reason(generation, from, why, &a, err) &&
        generation_publish(dir, arena_printf(&a, "%s%s%.8s", name, mark, hex), generation, err);
    arena_release(&a);
    return ok;
}

bool kept_take_back(const char *dir, const char *name, const char *curve, struct error *err)
{
    char generation[GENERATION_NAME];
    const struct file_path from = path_in(dir, name);
    generation_name(kept_step(name), generation);
    return (!curve || kept_take_curve(from.text, curve, err)) &&
           generation_publish(dir, generation, from.text, err);
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
