/* SPDX-License-Identifier: MIT */
/* cases.c: cases as text and back, and simpler ones. */
#include "check/cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const property_names[CASE_PROPERTIES] = {
    "finite",          "causality",       "batch", "padding", "packing",   "prefix", "storable",
    "shift-invariant", "norm-preserving", "paths", "purity",  "gradients", "batches"};

static const struct number {
    const char *name;
    size_t offset;
    int64_t least;
} numbers[] = {
    {"length", offsetof(struct check_case, length), 1},
    {"rows", offsetof(struct check_case, rows), 1},
    {"heads", offsetof(struct check_case, heads), 1},
    {"width", offsetof(struct check_case, width), 1},
    {"place", offsetof(struct check_case, place), 0},
    {"shift", offsetof(struct check_case, shift), 0},
    {"seed", offsetof(struct check_case, seed), 0},
};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]), SHRUNK = NUMBERS - 1 };

static int64_t *number_of(struct check_case *c, const struct number *n)
{
    return (int64_t *)(void *)((char *)c + n->offset);
}

const char *case_text(const struct check_case *c, struct arena *a)
{
    struct check_case copy = *c;
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "%s %s", property_names[c->property], c->encoder ? "encoder" : "decoder");
    for (int i = 0; i < NUMBERS; i++)
        strbuf_addf(&out, " %s=%" PRId64, numbers[i].name, *number_of(&copy, &numbers[i]));
    strbuf_add(&out, c->training ? " training" : "");
    const char *text = arena_strdup(a, out.text);
    strbuf_release(&out);
    return text;
}

/* One word; false: it is none of a case's. */
static bool parse_word(struct check_case *c, const char *word)
{
    for (int i = 0; i < CASE_PROPERTIES; i++)
        if (strcmp(word, property_names[i]) == 0) {
            c->property = i;
            return true;
        }
    if (strcmp(word, "encoder") == 0 || strcmp(word, "decoder") == 0) {
        c->encoder = word[0] == 'e';
        return true;
    }
    if (strcmp(word, "training") == 0)
        return c->training = true;
    for (int i = 0; i < NUMBERS; i++) {
        size_t n = strlen(numbers[i].name);
        char *end;
        if (strncmp(word, numbers[i].name, n) != 0 || word[n] != '=')
            continue;
        int64_t value = strtoll(word + n + 1, &end, 10);
        *number_of(c, &numbers[i]) = value;
        return end > word + n + 1 && !*end && value >= numbers[i].least && value <= INT32_MAX;
    }
    return false;
}

peat_status case_parse(struct check_case *c, const char *text, struct error *err)
{
    enum { LARGEST = 64 };
    char copy[256], *rest = copy, *word;
    *c = (struct check_case){.property = -1, .width = 4, .heads = 2, .rows = 1, .length = 6};
    if (strlen(text) >= sizeof(copy))
        return error_set(err, PEAT_INVALID, "'%.40s...' is no case", text);
    strcpy(copy, text);
    while ((word = strsep(&rest, " ")))
        if (*word && !parse_word(c, word))
            return error_set(err, PEAT_INVALID, "'%s' is no part of a case, in '%s'", word, text);
    bool sound = c->property >= 0 && c->place < c->length && c->length <= LARGEST &&
                 c->rows <= LARGEST && c->heads <= LARGEST && c->width <= LARGEST;
    return sound ? PEAT_OK : error_set(err, PEAT_INVALID, "'%s' is no case", text);
}

/* The least value of a number, half of it, one less; then what is said in a word. */
bool case_smaller(const struct check_case *c, int k, struct check_case *smaller)
{
    enum { WAYS = 3 };
    *smaller = *c;
    if (k < WAYS * SHRUNK) {
        const struct number *n = &numbers[k / WAYS];
        int64_t *x = number_of(smaller, n), way = k % WAYS;
        *x = way == 0 ? n->least : way == 1 ? *x / 2 : *x - 1;
        if (*x < n->least)
            *x = n->least;
    } else if (k == WAYS * SHRUNK) {
        smaller->training = false;
    } else if (k == WAYS * SHRUNK + 1) {
        smaller->encoder = false;
    } else {
        return false;
    }
    if (smaller->place >= smaller->length)
        smaller->place = smaller->length - 1;
    return true;
}
