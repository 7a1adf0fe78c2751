/* SPDX-License-Identifier: MIT */
/*
 * test_formats.c: docs/formats.md lists what the program checks when it reads a file, with its
 * type, and every key that it writes; and nothing else.
 */
#include "cell/cellfiles.h"
#include "cell/cellmetrics.h"
#include "experiment/plan.h"
#include "grid/bundle.h"
#include "grid/claimfile.h"
#include "grid/lookfile.h"
#include "grid/rundir.h"
#include "support/shell.h"
#include "support/support.h"
#include "train/generation.h"

enum { KEY_ROOM = 160, PATH_ROOM = 512, ROWS = 128 };

/* ---- the document ---- */

struct row {
    char key[KEY_ROOM], type[64];
    bool seen; /* checked by the program, or written */
};

/* "## name" with its table. */
struct section {
    const char *name;
    int n;
    struct row row[ROWS];
};

static char *document;

static void open_document(void)
{
    size_t n;
    struct error err = {0};
    shell_open();
    char *path = path_join(getenv("PEAT_SOURCE"), "docs/formats.md");
    ck_assert_msg(file_read(path, 0, &document, &n, &err) == PEAT_OK, "%s", err.text);
    free(path);
}

static void close_document(void)
{
    free(document);
    shell_close();
}

static void read_section(struct section *s, const char *name)
{
    char head[64];
    *s = (struct section){.name = name};
    snprintf(head, sizeof(head), "\n## %s\n", name);
    const char *line = strstr(document, head);
    ck_assert_msg(line, "docs/formats.md has no section '%s'", name);
    const char *end = strstr(line + 1, "\n## ");
    for (line++; (line = strstr(line, "\n| `")) && (!end || line < end); line++) {
        struct row *row = &s->row[s->n++];
        ck_assert_int_lt(s->n, ROWS);
        ck_assert_msg(sscanf(line, "\n| `%159[^`]` | %63[^|]", row->key, row->type) == 2,
                      "%s: no type in:%.80s", name, line);
        row->type[strlen(row->type) - 1] = '\0';
    }
    ck_assert_int_gt(s->n, 0);
}

static struct row *find(struct section *s, const char *prefix, const char *key)
{
    char path[2 * PATH_ROOM];
    snprintf(path, sizeof(path), "%s%s", prefix, key);
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->row[i].key, path) == 0) {
            s->row[i].seen = true;
            return &s->row[i];
        }
    return NULL;
}

/* A list of maps is called "key[]". */
static struct row *find_any(struct section *s, const char *prefix, const char *key)
{
    char list[PATH_ROOM];
    snprintf(list, sizeof(list), "%s[]", key);
    struct row *row = find(s, prefix, key);
    row = row ? row : find(s, prefix, list);
    return row ? row : find(s, prefix, "*");
}

static void nothing_else(const struct section *s)
{
    for (int i = 0; i < s->n; i++)
        ck_assert_msg(s->row[i].seen || !strcmp(s->row[i].type, "any"),
                      "%s: the program knows no '%s'", s->name, s->row[i].key);
}

/* ---- what is checked ---- */

static void type_text(unsigned flags, char text[64])
{
    static const struct {
        unsigned flag;
        const char *text;
    } kinds[] = {{FIELD_TEXT, "text"},        {FIELD_NUMBER, "number"},
                 {FIELD_INT, "whole number"}, {FIELD_BOOL, "true or false"},
                 {FIELD_LIST, "list"},        {FIELD_MAP, "map"},
                 {FIELD_NULL, "null"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if ((flags & kinds[i].flag) != kinds[i].flag)
            continue;
        flags &= ~kinds[i].flag;
        strcat(text, text[0] ? " or " : "");
        strcat(text, kinds[i].text);
    }
    strcat(text, flags & FIELD_NEEDED ? ", needed" : "");
}

static void has_type(const struct section *s, const struct row *row, unsigned flags,
                     const char *prefix, const char *key)
{
    char type[64];
    type_text(flags, type);
    ck_assert_msg(row, "%s: '%s%s' is not in docs/formats.md", s->name, prefix, key);
    ck_assert_msg(strcmp(row->type, type) == 0, "%s: '%s' is '%s' in docs/formats.md, and '%s'",
                  s->name, row->key, row->type, type);
}

static void has_fields(struct section *s, const struct field *f, const char *prefix)
{
    char inside[PATH_ROOM];
    for (; f->key; f++) {
        if (!*f->key)
            continue;
        struct row *row = find_any(s, prefix, f->key);
        bool map = (f->flags & FIELD_MAP) && !(f->flags & FIELD_LIST);
        has_type(s, row, f->flags, prefix, f->key);
        snprintf(inside, sizeof(inside), "%s%s", row->key, map && f->items ? ".*." : ".");
        if (map && f->items)
            has_type(s, find(s, row->key, ".*"), f->items, row->key, ".*");
        if (f->inside)
            has_fields(s, f->inside, inside);
    }
}

/* ---- what is written ---- */

static bool may_be(const char *type, enum value_kind kind)
{
    static const char *const word[] = {
        [VALUE_NULL] = "null",   [VALUE_BOOL] = "true or false", [VALUE_INT] = "number",
        [VALUE_REAL] = "number", [VALUE_TEXT] = "text",          [VALUE_LIST] = "list",
        [VALUE_MAP] = "map"};
    bool whole = strstr(type, "whole number") != NULL;
    return strstr(type, word[kind]) && !(whole && kind == VALUE_REAL);
}

static void lists_keys(struct section *s, const struct value *v, const char *prefix)
{
    char inside[PATH_ROOM];
    for (int i = 0; i < v->n; i++) {
        const struct value *item = v->item[i];
        if (v->kind == VALUE_LIST) {
            lists_keys(s, item, prefix);
            continue;
        }
        struct row *row = find_any(s, prefix, v->key[i]);
        ck_assert_msg(row, "%s: '%s%s' is written and not in docs/formats.md", s->name, prefix,
                      v->key[i]);
        if (strcmp(row->type, "any") == 0)
            continue;
        ck_assert_msg(may_be(row->type, item->kind), "%s: '%s' is written, and not as '%s'",
                      s->name, row->key, row->type);
        bool named = strstr(row->key, "[]") != NULL && row->key[strlen(row->key) - 1] == ']';
        snprintf(inside, sizeof(inside), "%s%s.", row->key,
                 item->kind == VALUE_LIST && !named ? "[]" : "");
        lists_keys(s, item, inside);
    }
}

/* Each line that the command prints is an object. */
static void lists_printed(struct section *s, const char *command)
{
    struct arena a;
    arena_init(&a, "json", 1 << 16);
    shell_expect(0, "%s", command);
    for (char *rest = shell.printed.text, *line; (line = strtok_r(rest, "\x1e", &rest));) {
        if (strcmp(line, "\n") == 0)
            continue;
        const struct value *v = json_parse(&a, line, strlen(line), s->name, NULL);
        ck_assert_msg(v, "no JSON: %s", line);
        lists_keys(s, v, "");
    }
    arena_release(&a);
}

static void run_all(void)
{
    shell_write("e.yaml", "version: 1\n"
                          "name: e\n"
                          "defaults:\n"
                          "  task: {plugin: copy, symbols: 3}\n"
                          "  model: {d_model: 8, n_layer: 1, n_head: 2, freeze: token.*}\n"
                          "  train: {steps: 20, batch: 2, seq_len: 9, patience: 3}\n"
                          "  eval: {every: 10, lengths: [4], tokens: 64}\n"
                          "matrix:\n"
                          "  position.scheme: [none, learned]\n"
                          "  train.lr: [1e-3, 1e-2]\n"
                          "seeds: 3\n"
                          "report:\n"
                          "  best_over: {axes: train.lr, choose: [0]}\n"
                          "  baseline: {position.scheme: none}\n"
                          "  contrasts: [{factor: position.scheme, of: [learned, none]}]\n"
                          "claims:\n"
                          "  - name: less\n"
                          "    rows: [{position.scheme: learned}, {position.scheme: none}]\n"
                          "    direction: less\n");
    shell_expect(0, "peat run e.yaml -o run -q");
    shell_expect(0, "peat run e.yaml -o looks -q train.steps=400 train.patience=0 "
                    "'seeds={from: 2, at_most: 4, until: claims}'");
    shell_expect(0, "peat bundle looks -o b.tar.gz && tar xf b.tar.gz");
}

/* ---- the tests ---- */

/* files: what the shell expands in a run directory. */
static const struct {
    const char *name, *files;
    const struct record *record;
} formats[] = {
    {"plan.json", "run/plan.json", &plan_record},
    {"config.json", "run/cells/*/config.json", &config_record},
    {"meta.json", "run/cells/*/meta.json", &meta_record},
    {"metrics.jsonl", "run/cells/*/metrics.jsonl", &line_record},
    {"result.json", "run/cells/*/result.json", &result_record},
    {"end.json", NULL, &end_record},
    {"stale.json", NULL, &stale_record},
    {"claims.json", "run/claims.json", &claims_record},
    {"looks.json", "looks/looks.json", &looks_record},
    {"state.json", "run/cells/*/ckpt/*/state.json", &state_record},
    {"bundle.json", "e/bundle.json", &bundle_record},
    {"thinned.json", "e/cells/*/thinned.json", &thinned_record},
};
enum { FORMATS = sizeof(formats) / sizeof(*formats) };

TEST(each_format_lists_what_is_checked_and_written)
{
    struct section s;
    char command[256];
    run_all();
    for (int i = 0; i < FORMATS; i++) {
        read_section(&s, formats[i].name);
        find(&s, "",
             formats[i].record && formats[i].record->number ? formats[i].record->number : "format");
        find(&s, "", "check");
        if (formats[i].record)
            has_fields(&s, formats[i].record->field, "");
        bool lines = strcmp(formats[i].name, "metrics.jsonl") == 0;
        snprintf(command, sizeof(command), "for f in %s; do sed '%s$s/$/\\x1e/' $f; done",
                 formats[i].files, lines ? "s/$/\\x1e/;" : "");
        if (formats[i].files)
            lists_printed(&s, command);
        nothing_else(&s);
    }
}

/* The columns that are always there, then those of axes. */
TEST(csv_has_the_columns_of_the_document)
{
    struct section s;
    read_section(&s, "csv");
    run_all();
    shell_expect(0, "peat results run --format csv | head -n 1");
    for (char *rest = shell.printed.text, *name; (name = strtok_r(rest, ",\n", &rest));)
        ck_assert_msg(find(&s, "", name) || strcmp(name, "train.lr") == 0,
                      "the column '%s' is not in docs/formats.md", name);
    /* Only where another program trained a cell: integration.torch. */
    ck_assert_msg(find(&s, "", "trained_by"), "'trained_by' is not in docs/formats.md");
    /* Only where something changed after the first step. */
    shell_says(0, ",registration,",
               "peat run e.yaml -o run -q seeds=2 && "
               "peat results run --format csv | head -n 1");
    ck_assert_msg(find(&s, "", "registration"), "'registration' is not in docs/formats.md");
    nothing_else(&s);
}

int main(void)
{
    return run_tests((struct tests){"formats", open_document, close_document, .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE tar"});
}
