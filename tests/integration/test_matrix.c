/* SPDX-License-Identifier: MIT */
/*
 * test_matrix.c: every scheme in every kind of model: it trains two steps there, or plan refuses it
 * with a reason. docs/reference/architectures.md is the table that comes out.
 */
#include "base/json.h"
#include "support/shell.h"
#include "support/support.h"

enum { SCHEMES_MAX = 128, NAME_MAX_LENGTH = 64, REASON = 400 };

static const struct architecture {
    const char *name, *task, *model, *seq_len;
    bool across;
} architectures[] = {
    {"decoder", "order", "arch: decoder", "16", false},
    {"llama", "copy", "arch: decoder, block: llama, qk_norm: rms", "16", false},
    {"encoder", "order", "arch: encoder", "16", false},
    {"ViT", "{plugin: images, side: 4, pool: 2}", "arch: encoder, input: patches, head: class",
     "17", false},
    {"seq2seq", "copy", "arch: seq2seq", "16", false},
    {"across", "copy", "arch: seq2seq", "16", true},
    {"conv", "order", "arch: encoder, mixer: conv", "16", false},
    {"rnn", "order", "arch: decoder, mixer: rnn", "16", false},
};
enum { ARCHITECTURES = sizeof(architectures) / sizeof(*architectures) };

/* Schemes that do nothing alone, and those with parameters that must be given. */
static const char *const uses[][2] = {
    {"abacus", "{plugin: abacus, digits: [3, 4, 5]%s}"},
    {"bipe", "{plugin: bipe, separators: 4%s}"},
    {"dape", "[kerple, {plugin: dape%s}]"},
    {"drope", "{plugin: drope, after: 1%s}"},
    {"randomized", "[{plugin: randomized%s}, {plugin: learned, max_len: 2048}]"},
};

struct row {
    char name[NAME_MAX_LENGTH];
    char reason[ARCHITECTURES][REASON]; /* "": it trains */
};

static struct table {
    int n;
    struct row row[SCHEMES_MAX];
} table;

/* The names of all schemes, in the order of their bytes. */
static void list_schemes(void)
{
    shell_expect(0, "ls \"$PEAT_SOURCE\"/plugins/scheme | grep -v '[.]' | LC_ALL=C sort");
    for (char *name = strtok(shell.printed.text, "\n"); name; name = strtok(NULL, "\n")) {
        ck_assert_int_lt(table.n, SCHEMES_MAX);
        struct row *row = &table.row[table.n++];
        *row = (struct row){.name = ""};
        snprintf(row->name, sizeof(row->name), "%s", name);
    }
    ck_assert_int_gt(table.n, 30);
}

/* A row of the experiment's matrix, named after the scheme. */
static void add_point(struct strbuf *out, const char *name, bool across)
{
    const char *where = across ? ", where: {across: true}" : "";
    char use[256];
    snprintf(use, sizeof(use), "{plugin: %s%s}", name, where);
    for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
        const char *at = strstr(uses[i][1], "%s");
        if (strcmp(name, uses[i][0]) == 0)
            snprintf(use, sizeof(use), "%.*s%s%s", (int)(at - uses[i][1]), uses[i][1], where,
                     at + 2);
    }
    strbuf_addf(out, "    %s: {position.scheme: %s}\n", name, use);
}

static void write_experiment(const struct architecture *a)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text,
                "version: 1\nname: matrix\nseeds: 1\n"
                "defaults:\n"
                "  task: %s\n"
                "  model: {%s, d_model: 16, n_layer: 1, n_head: 2}\n"
                "  train: {steps: 2, batch: 2, seq_len: %s}\n"
                "  eval: {tokens: 8}\n"
                "matrix:\n  use:\n",
                a->task, a->model, a->seq_len);
    for (int i = 0; i < table.n; i++)
        add_point(&text, table.row[i].name, a->across);
    shell_write("matrix.yaml", text.text);
    strbuf_release(&text);
}

static struct row *row_of_label(const char *label)
{
    char end[NAME_MAX_LENGTH + 8];
    for (int i = 0; i < table.n; i++) {
        snprintf(end, sizeof(end), "%s.s0", table.row[i].name);
        if (strcmp(label, end) == 0)
            return &table.row[i];
    }
    ck_abort_msg("'%s' names no scheme", label);
}

/* What plan says of a point after "matrix.yaml:12:3: ". */
static void keep_reason(const char *said, char *reason)
{
    const char *place = strstr(said, "matrix.yaml:");
    const char *from = place ? strstr(place, ": ") + 2 : said;
    ck_assert_msg(strlen(from) > 10 && strlen(from) < REASON && !strchr(from, '\n'), "%s", said);
    snprintf(reason, REASON, "%s", from);
}

/* Plans all schemes and trains those that are not refused. */
static void try_all(int k)
{
    const struct architecture *a = &architectures[k];
    const struct value *point;
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, "plan", 1 << 16);
    write_experiment(a);
    shell_expect(0, "peat plan matrix.yaml --json");
    const struct value *plan =
        json_parse(&arena, shell.printed.text, shell.printed.n, "plan", &err);
    ck_assert_msg(plan, "%s", err.text);
    int trained = json_get_count(plan, "cells"), n = 0;
    for (; (point = json_get_item(plan, "skipped", n)); n++)
        keep_reason(json_get_text(point, "reason"),
                    row_of_label(json_get_text(point, "label"))->reason[k]);
    ck_assert_int_eq(trained + n, table.n);
    shell_expect(n ? 1 : 0, "peat run matrix.yaml -o %s -t 1 -j 2", a->name);
    shell_expect(0, "test $(grep -l '\"done\"' %s/cells/*/result.json | wc -l) = %d", a->name,
                 trained);
    arena_release(&arena);
}

/* A scheme that says nothing across is refused there like any other, and does nothing unasked. */
static void add_cell(struct strbuf *out, const char *reason)
{
    if (strstr(reason, "is not defined across two sequences"))
        reason = "nothing";
    strbuf_add(out, *reason ? " " : " trains");
    for (; *reason; reason++)
        strbuf_addf(out, *reason == '|' ? "\\%c" : "%c", *reason);
    strbuf_add(out, " |");
}

static void write_page(void)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_add(
        &out, "# Schemes in every kind of model\n\n"
              "Which scheme serves which model unchanged, and why it is refused where it does not. "
              "`across`: in the\ncross-attention of `seq2seq`, where `where.across` asks for it; "
              "unasked, and where it says `nothing`, a scheme does nothing "
              "there. `llama` is a decoder\nof `block: llama` with `qk_norm: rms`, which answers "
              "token by token, `conv` an encoder and `rnn` a decoder of another\nmixer than "
              "attention.\n"
              "[decoder](decoder.md), [encoder](encoder.md), [ViT](vit.md), "
              "[seq2seq](seq2seq.md), [conv](conv.md) and [rnn](rnn.md)\nsay what each is.\n\n"
              "Made by the test `integration.matrix`, which trains each cell: do not edit.\n\n"
              "| scheme |");
    for (int k = 0; k < ARCHITECTURES; k++)
        strbuf_addf(&out, " %s |", architectures[k].name);
    strbuf_add(&out, "\n| --- |");
    for (int k = 0; k < ARCHITECTURES; k++)
        strbuf_add(&out, " --- |");
    strbuf_add(&out, "\n");
    for (int i = 0; i < table.n; i++) {
        strbuf_addf(&out, "| `%s` |", table.row[i].name);
        for (int k = 0; k < ARCHITECTURES; k++)
            add_cell(&out, table.row[i].reason[k]);
        strbuf_add(&out, "\n");
    }
    shell_write("architectures.md", out.text);
    strbuf_release(&out);
}

TEST(every_scheme_trains_or_is_refused_with_a_reason_in_every_model)
{
    table.n = 0;
    list_schemes();
    for (int k = 0; k < ARCHITECTURES; k++)
        try_all(k);
    write_page();
    shell_expect(
        0,
        "cp architectures.md \"$PEAT_BUILD\"; "
        "diff -u \"$PEAT_SOURCE\"/docs/reference/architectures.md architectures.md > page.diff || "
        "{ head -c 900 page.diff; echo \"cp $PEAT_BUILD/architectures.md docs/reference/\"; exit "
        "1; }");
}

int main(void)
{
    return run_tests((struct tests){"matrix", shell_open, shell_close, .seconds = 800,
                                    .needs = "PEAT_SOURCE PEAT PEAT_BUILD"});
}
