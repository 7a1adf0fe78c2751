/* SPDX-License-Identifier: MIT */
/* json_file.c: reads and writes whole JSON files, and checksums inside JSON. */

#include "base/base.h"

/* ---- seals ---- */

enum { LINE_DIGITS = 8 };

static const char line_key[] = ",\"" SEAL_KEY "\":\"", line_end[] = "\"}";
enum { LINE_SEAL = sizeof(line_key) - 1 + LINE_DIGITS + sizeof(line_end) - 1 };

static struct value *without_seal(struct arena *a, const struct value *map)
{
    struct value *rest = value_map(a, NOWHERE);
    for (int i = 0; i < map->n; i++)
        if (strcmp(map->key[i], SEAL_KEY) != 0)
            value_set(a, rest, map->key[i], NOWHERE, map->item[i]);
    return rest;
}

static void seal_of(const struct value *map, char hex[HASH_HEX])
{
    struct arena a;
    arena_init(&a, "seal", 4096);
    json_hash(without_seal(&a, map), hex);
    arena_release(&a);
}

struct value *sealed(struct arena *a, const struct value *map)
{
    char hex[HASH_HEX];
    struct value *copy = without_seal(a, map);
    seal_of(map, hex);
    value_set(a, copy, SEAL_KEY, NOWHERE, value_text(a, NOWHERE, hex));
    return copy;
}

enum seal seal_check(const struct value *map)
{
    char hex[HASH_HEX];
    const struct value *said = value_get(map, SEAL_KEY);
    if (!said)
        return SEAL_ABSENT;
    seal_of(map, hex);
    return said->kind == VALUE_TEXT && !strcmp(said->text, hex) ? SEAL_GOOD : SEAL_BROKEN;
}

void seal_line(struct strbuf *line)
{
    char hex[HASH_HEX];
    BUG_UNLESS(line->n > 1 && line->text[line->n - 1] == '}');
    line->text[--line->n] = '\0';
    hash_bytes(line->text, line->n, hex);
    strbuf_addf(line, "%s%.*s%s", line_key, LINE_DIGITS, hex, line_end);
}

enum seal seal_check_line(const char *line, size_t n)
{
    char hex[HASH_HEX];
    if (n < LINE_SEAL || memcmp(line + n - LINE_SEAL, line_key, sizeof(line_key) - 1) != 0)
        return SEAL_ABSENT;
    hash_bytes(line, n - LINE_SEAL, hex);
    const char *digits = line + n - LINE_SEAL + sizeof(line_key) - 1;
    bool good = !memcmp(digits, hex, LINE_DIGITS) &&
                !memcmp(digits + LINE_DIGITS, line_end, sizeof(line_end) - 1);
    return good ? SEAL_GOOD : SEAL_BROKEN;
}

/* ---- files ---- */

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
