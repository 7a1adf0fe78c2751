/* SPDX-License-Identifier: MIT */
/*
 * test_matrix.c: every scheme in every kind of model: it trains two steps there, or plan refuses it
 * with a reason. docs/reference/architectures.md is the table that comes out.
 */
#include "support/shell.h"
#include "support/support.h"

enum { SCHEMES_MAX = 128, NAME_MAX_LENGTH = 64, REASON = 400 };

static const struct architecture {
    const char *name, *task, *model, *seq_len;
    bool across;
} architectures[] = {
    {"decoder", "order", "arch: decoder", "16", false},
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

/* The scheme as the experiment names it. */
static const char *use_of(const char *name, bool across, char *text, size_t n)
{
    const char *where = across ? ", where: {across: true}" : "";
    for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
        if (strcmp(name, uses[i][0]) == 0) {
            char with[200];
            snprintf(with, sizeof(with), "%s", uses[i][1]);
            char *at = strstr(with, "%s");
            snprintf(text, n, "%.*s%s%s", (int)(at - with), with, where, at + 2);
            return text;
        }
    snprintf(text, n, "{plugin: %s%s}", name, where);
    return text;
}

static void write_experiment(const struct architecture *a, const char *schemes)
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
                "matrix:\n  position.scheme:\n%s",
                a->task, a->model, a->seq_len, schemes);
    shell_write("matrix.yaml", text.text);
    strbuf_release(&text);
}

/* What plan says after "peat: matrix.yaml:12:3: "; one line. */
static void keep_reason(char *reason)
{
    const char *from = strstr(shell.printed.text, "peat: ");
    ck_assert_msg(from, "%s", shell.printed.text);
    const char *place = strstr(from, "matrix.yaml:");
    from = place ? strstr(place, ": ") + 2 : from + 6;
    size_t n = strcspn(from, "\n");
    ck_assert_msg(n > 10 && n < REASON, "%s", shell.printed.text);
    memcpy(reason, from, n);
    reason[n] = '\0';
}

/* Plans each scheme alone, then trains all that are not refused in one grid. */
static void try_all(int k)
{
    const struct architecture *a = &architectures[k];
    struct strbuf all;
    char use[256], line[300];
    int n = 0;
    strbuf_init(&all);
    for (int i = 0; i < table.n; i++) {
        struct row *row = &table.row[i];
        snprintf(line, sizeof(line), "    - %s\n", use_of(row->name, a->across, use, sizeof(use)));
        write_experiment(a, line);
        int status = shell_run("peat plan matrix.yaml 2>&1");
        ck_assert_msg(status == 0 || status == 2, "%s in %s: %s", row->name, a->name,
                      shell.printed.text);
        if (status == 2) {
            keep_reason(row->reason[k]);
            continue;
        }
        strbuf_add(&all, line);
        n++;
    }
    write_experiment(a, all.text);
    shell_expect(0, "peat run matrix.yaml -o %s -t 1 -j 2", a->name);
    shell_expect(0, "test $(grep -l '\"done\"' %s/cells/*/result.json | wc -l) = %d", a->name, n);
    strbuf_release(&all);
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
              "there. `conv` is an encoder and\n`rnn` a decoder of another mixer than attention.\n"
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

START_TEST(every_scheme_trains_or_is_refused_with_a_reason_in_every_model)
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
END_TEST

int main(void)
{
    return run_list((struct tests){"matrix", shell_open, shell_close, .seconds = 800,
                                   .needs = "PEAT_SOURCE PEAT PEAT_BUILD"},
                    TESTS(every_scheme_trains_or_is_refused_with_a_reason_in_every_model));
}
