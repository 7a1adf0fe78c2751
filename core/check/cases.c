/* SPDX-License-Identifier: MIT */
/* cases.c: writes cases as text, reads them back, and makes simpler ones. */
#include "cases.h"

#include "property.h"

static const char *const arch_words[] = {
    [PEAT_DECODER] = "decoder", [PEAT_ENCODER] = "encoder", [PEAT_SEQ2SEQ] = "seq2seq"};
enum { ARCHS = sizeof(arch_words) / sizeof(arch_words[0]) };

/* In the order of enum case_flag. */
static const char *const flag_words[] = {"training",  "f32",     "moved",      "padded",
                                         "packed",    "guarded", "llama",      "some-heads",
                                         "some-dims", "wider",   "fractional", "across-only"};
enum { FLAGS = sizeof(flag_words) / sizeof(flag_words[0]) };

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
    {"streams", offsetof(struct check_case, streams), 0},
    {"layers", offsetof(struct check_case, layers), 0},
    {"step", offsetof(struct check_case, step), 0},
    {"stride", offsetof(struct check_case, stride), 0},
    {"seed", offsetof(struct check_case, seed), 0},
};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]), SHRUNK = NUMBERS - 1, ALWAYS = 7 };

static int64_t *number_of(struct check_case *c, const struct number *n)
{
    return (int64_t *)(void *)((char *)c + n->offset);
}

const char *arch_name(peat_arch arch)
{
    return arch_words[arch];
}

struct check_case case_usual(const struct property *p)
{
    return (struct check_case){.property = p, .length = RIG_T, .rows = 3, .heads = 2, .width = 8};
}

void case_padding(const struct check_case *c, int64_t b, int64_t *from, int64_t *to,
                  const char **side)
{
    static const char *const sides[] = {"after", "before", "around"};
    int64_t hidden = (c->place + b) % c->length, which = c->seed % 3;
    *from = which == 0 ? 0 : which == 1 ? hidden : hidden / 2;
    *to = *from + c->length - hidden;
    *side = sides[which];
}

/* ---- text ---- */

const char *case_text(const struct check_case *c, struct arena *a)
{
    struct check_case copy = *c;
    struct strbuf out = STRBUF_NEW;
    strbuf_addf(&out, "%s %s", property_name(c->property), arch_words[c->arch]);
    for (int i = 0; i < NUMBERS; i++)
        if (i < ALWAYS || i == SHRUNK || *number_of(&copy, &numbers[i]) > 0)
            strbuf_addf(&out, " %s=%" PRId64, numbers[i].name, *number_of(&copy, &numbers[i]));
    for (int i = 0; i < FLAGS; i++)
        if (c->flags >> i & 1)
            strbuf_addf(&out, " %s", flag_words[i]);
    return strbuf_keep(&out, a);
}

/* False: the word is not the name of a number with its value, as "length=7". */
static bool read_number(struct check_case *c, const char *word)
{
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

static bool read_word(struct check_case *c, const char *word)
{
    const struct property *p = property_find(word);
    int arch = name_index(arch_words, ARCHS, word), flag = name_index(flag_words, FLAGS, word);
    if (p)
        c->property = p;
    if (arch >= 0)
        c->arch = (peat_arch)arch;
    if (flag >= 0)
        c->flags |= 1u << flag;
    return p || arch >= 0 || flag >= 0 || read_number(c, word);
}

peat_status case_read(struct check_case *c, const char *text, size_t n, struct error *err)
{
    enum { LARGEST = 64, LONGEST = 512, FARTHEST = 1 << 20 };
    char copy[256], *rest = copy, *word;
    if (n >= sizeof(copy))
        return error_set(err, PEAT_INVALID, "'%.40s...' is not a case", text);
    memcpy(copy, text, n);
    copy[n] = '\0';
    while ((word = strsep(&rest, " ")))
        if (*word && !read_word(c, word))
            return error_set(err, PEAT_INVALID, "'%s' is not a part of a case, in '%.*s'", word,
                             (int)n, text);
    bool sound = c->property && c->place < c->length && c->length <= LONGEST &&
                 c->layers <= CASE_LAYERS && c->length * c->stride <= FARTHEST &&
                 c->rows <= LARGEST && c->heads <= LARGEST && c->width <= LARGEST &&
                 c->streams <= LARGEST;
    return sound ? PEAT_OK : error_set(err, PEAT_INVALID, "'%.*s' is not a case", (int)n, text);
}

peat_status case_parse(struct check_case *c, const char *text, struct error *err)
{
    *c = case_usual(NULL);
    return case_read(c, text, strlen(text), err);
}

static void shrink_number(struct check_case *c, int k)
{
    const struct number *n = &numbers[k / 3];
    int64_t *x = number_of(c, n);
    *x = k % 3 == 0 ? n->least : k % 3 == 1 ? *x / 2 : *x - 1;
    if (*x < n->least)
        *x = n->least;
    if (c->place >= c->length)
        c->place = c->length - 1;
}

/* The k-th simpler case has a smaller number, then a flag less, then a decoder. */
bool case_smaller(const struct check_case *c, int k, struct check_case *smaller)
{
    *smaller = *c;
    if (k < 3 * SHRUNK)
        shrink_number(smaller, k);
    else if (k < 3 * SHRUNK + FLAGS)
        smaller->flags &= ~(1u << (k - 3 * SHRUNK));
    else if (k == 3 * SHRUNK + FLAGS && c->property->archs & ARCH_DECODER)
        smaller->arch = PEAT_DECODER;
    else
        return k == 3 * SHRUNK + FLAGS;
    return true;
}
