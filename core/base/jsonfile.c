/* SPDX-License-Identifier: MIT */
/* jsonfile.c: JSON files of a run directory. */
#include "base/jsonfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/seal.h"

static const struct place nowhere = {NULL, 0, 0};

/* The seal is not part of what the file says. */
static void drop_seal(struct value *v)
{
    if (v->kind == VALUE_MAP && v->n && !strcmp(v->key[v->n - 1], SEAL_KEY))
        v->n--;
}

static peat_status parse(const char *path, const char *text, size_t n, struct arena *a,
                         struct value **v, struct error *err)
{
    struct error why = {0};
    *v = value_from_json(a, text, n, path, &why);
    if (!*v)
        return error_set(err, PEAT_CORRUPT, "%s", why.text);
    if (seal_check(*v) == SEAL_BROKEN) {
        *v = NULL;
        return error_set(err, PEAT_CORRUPT,
                         "'%s' is damaged: its checksum is not that of what it says", path);
    }
    drop_seal(*v);
    return PEAT_OK;
}

peat_status jsonfile_read(const char *dir, const char *name, struct arena *a, struct value **v,
                          struct error *err)
{
    char *path = path_join(dir, name), *text = NULL;
    size_t n = 0;
    peat_status status = file_read(path, 0, &text, &n, err);
    const char *kept = status == PEAT_OK ? arena_strdup(a, path) : NULL;
    if (status == PEAT_OK)
        status = kept ? parse(kept, text, n, a, v, err)
                      : error_set(err, PEAT_NOMEM, "out of memory for '%s'", path);
    free(text);
    free(path);
    return status;
}

static bool file_holds(const char *path, const struct strbuf *text)
{
    char *bytes = NULL;
    size_t n = 0;
    bool same = file_read(path, 0, &bytes, &n, NULL) == PEAT_OK && n == text->n &&
                memcmp(bytes, text->text, n) == 0;
    free(bytes);
    return same;
}

peat_status jsonfile_write(const char *dir, const char *name, const struct value *v,
                           struct error *err)
{
    struct arena a;
    struct strbuf text;
    arena_init(&a, "json file", 4096);
    strbuf_init(&text);
    value_to_json(sealed(&a, v), false, 2, &text);
    strbuf_add(&text, "\n");
    char *path = path_join(dir, name);
    peat_status status = PEAT_OK;
    if (!file_holds(path, &text))
        status = file_write(path, text.text, text.n, err);
    free(path);
    strbuf_release(&text);
    arena_release(&a);
    return status;
}

const char *member_text(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_TEXT ? v->text : NULL;
}

int64_t member_integer(const struct value *map, const char *key, int64_t otherwise)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_INT ? v->integer : otherwise;
}

void member_set_text(struct arena *a, struct value *map, const char *key, const char *text)
{
    value_set(a, map, key, nowhere, text ? value_text(a, nowhere, text) : value_null(a, nowhere));
}

void member_set_integer(struct arena *a, struct value *map, const char *key, int64_t integer)
{
    value_set(a, map, key, nowhere, value_int(a, nowhere, integer));
}

void member_set_real(struct arena *a, struct value *map, const char *key, double real)
{
    value_set(a, map, key, nowhere,
              isfinite(real) ? value_real(a, nowhere, real) : value_null(a, nowhere));
}

void member_set(struct arena *a, struct value *map, const char *key, struct value *item)
{
    value_set(a, map, key, nowhere, item ? item : value_null(a, nowhere));
}
