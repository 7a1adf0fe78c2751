/* SPDX-License-Identifier: MIT */
/* seal.c: checksums inside JSON. */

#include "base/base.h"

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
