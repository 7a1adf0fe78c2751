/* SPDX-License-Identifier: MIT */
/* jsonfile.c: JSON files of a run directory. */
#include "experiment/jsonfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const struct place nowhere = {NULL, 0, 0};

peat_status jsonfile_read(const char *dir, const char *name, struct arena *a, struct value **v,
                          struct error *err)
{
    char *path = path_join(dir, name), *text = NULL;
    size_t n = 0;
    peat_status status = file_read(path, 0, &text, &n, err);
    if (status == PEAT_OK) {
        *v = value_from_json(a, text, n, arena_strdup(a, path), err);
        status = *v ? PEAT_OK : PEAT_CORRUPT;
    }
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
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(v, false, 2, &text);
    strbuf_add(&text, "\n");
    char *path = path_join(dir, name);
    peat_status status = PEAT_OK;
    if (!file_holds(path, &text))
        status = file_write(path, text.text, text.n, err);
    free(path);
    strbuf_release(&text);
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
