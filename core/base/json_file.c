/* SPDX-License-Identifier: MIT */
/* json_file.c: reads and writes whole JSON files. */

#include "base/base.h"

peat_status json_read(const char *path, const char *name, size_t limit, struct arena *a,
                      struct value **v, struct error *err)
{
    char *text = NULL;
    size_t n = 0;
    struct error why = {0};
    peat_status status = file_read(path, limit, &text, &n, err);
    if (status != PEAT_OK)
        return status;
    *v = json_parse(a, text, n, arena_strdup(a, name), &why);
    free(text);
    return *v ? PEAT_OK : error_set(err, PEAT_CORRUPT, "%s", why.text);
}

static void drop_seal(struct value *v)
{
    if (v->kind == VALUE_MAP && v->n && !strcmp(v->key[v->n - 1], SEAL_KEY))
        v->n--;
}

peat_status json_read_file(const char *dir, const char *name, struct arena *a, struct value **v,
                           struct error *err)
{
    const struct file_path path = path_in(dir, name);
    peat_status status = json_read(path.text, path.text, RUN_FILE_MOST, a, v, err);
    if (status == PEAT_OK && seal_check(*v) == SEAL_BROKEN) {
        *v = NULL;
        status = error_set(err, PEAT_CORRUPT,
                           "'%s' is damaged: its checksum does not match its content", path.text);
    }
    if (status == PEAT_OK)
        drop_seal(*v);
    return status;
}

bool json_lacks_seal(const char *dir, const char *name)
{
    struct arena a;
    struct value *v;
    arena_init(&a, "json file", 4096);
    const struct file_path path = path_in(dir, name);
    bool lacks = json_read(path.text, path.text, RUN_FILE_MOST, &a, &v, NULL) == PEAT_OK &&
                 seal_check(v) == SEAL_ABSENT;
    arena_release(&a);
    return lacks;
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

peat_status json_write_file(const char *dir, const char *name, const struct value *map,
                            struct error *err)
{
    struct arena a;
    struct strbuf text = STRBUF_NEW;
    arena_init(&a, "json file", 4096);
    json_print(sealed(&a, map), JSON_INDENTED, &text);
    const struct file_path path = path_in(dir, name);
    peat_status status = PEAT_OK;
    if (!file_holds(path.text, &text))
        status = file_write_own(path.text, text.text, text.n, err);
    strbuf_release(&text);
    arena_release(&a);
    return status;
}
