/* SPDX-License-Identifier: MIT */
/*
 * test_border.c: whose code each verb runs.
 *
 * A run directory names a plugin whose constructor leaves a file: by path, and by an id that is
 * found in a folder beside it. What only reads the directory leaves no such file.
 */
#include "support/shell.h"
#include "support/support.h"

/* In a run directory. */
static const struct {
    const char *verb; /* as in the table of docs/reliability.md */
    bool loads;
    const char *command;
} row[] = {
    {"bench", true,
     "bench step --d 16 --layers 1 --T 8 -B 1 --steps 1 --warmup 0 --scheme "
     "marked"},
    {"bundle", false, "bundle . -o ../b.tar.gz"},
    {"cell", true, "cell . 4"},
    {"compare", false, "compare . none marked"},
    {"diagnose", true, "diagnose . 1"},
    {"diagnose --kept", false, "diagnose . '*' --kept"},
    {"export", true, "export . 1 --start -o ../w.safetensors"},
    {"help", false, "help"},
    {"inspect", true, "inspect . 1"},
    {"logs", false, "logs . 1"},
    {"new", false, "new fresh"},
    {"plan", true, "plan experiment.yaml"},
    {"plot", false, "plot . --kind bars -o ../bars.svg"},
    {"plugins build", false, "plugins build ../x.c"},
    {"plugins cflags", false, "plugins cflags"},
    {"plugins check", true, "plugins check marked --only finite"},
    {"plugins info", true, "plugins info ./mark.so"},
    {"plugins list", true, "plugins list"},
    {"plugins new", false, "plugins new fresh --kind scheme -o .."},
    {"report", false, "report . -o ../page.html"},
    {"results", false, "results ."},
    {"run", true, "run . -q"},
    {"runs", false, "runs"},
    {"schema", true, "schema -o ../schema.json"},
    {"status", false, "status ."},
    {"tokenize", false, "tokenize --help"},
    {"validate", true, "validate experiment.yaml"},
    {"verify", false, "verify ."},
    {"verify --retrain", true, "verify . --retrain 9"},
};
enum { ROWS = sizeof(row) / sizeof(*row) };

/* A copy of the run: with the absolute path that the cell was trained with, with a relative one, as
 * an archive would bring it, and with that and the seal of the absolute one. */
static const struct {
    const char *name, *change;
} copy[] = {
    {"absolute", "true"},
    {"relative",
     "sed -i -z 's|\"/[^\"]*mark.so\"|\"./mark.so\"|; s/,\\n  \"check\": \"[0-9a-f]*\"//' "
     "cells/*/config.json"},
    {"broken", "sed -i 's|\"/[^\"]*mark.so\"|\"./mark.so\"|' cells/*/config.json"},
};
enum { COPIES = sizeof(copy) / sizeof(*copy) };

static void open_run(void)
{
    shell_open();
    shell_expect(0, "mkdir beside && ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC "
                    "-fvisibility=hidden -DON_LOAD=MARK -DMARK_PATH=\"\\\"$PWD/mark\\\"\" "
                    "-I\"$PEAT_SOURCE/include\" "
                    "\"$PEAT_SOURCE/tests/isolation/evil_scheme.c\" -o mark.so -lm && "
                    "cp mark.so beside/marked.so && echo 'int x;' >x.c");
    shell_write("e.yaml", "version: 1\nname: border\ndefaults:\n  task: {plugin: copy}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 3, batch: 2, seq_len: 16}\n"
                          "  eval: {tokens: 64}\n"
                          "matrix:\n  position.scheme: [none, ./mark.so, marked]\nseeds: 2\n");
    shell_expect(0, "export PEAT_PLUGIN_PATH=$PWD/beside:$PEAT_PLUGIN_PATH; "
                    "peat run e.yaml -q -o whole --only '*s0' && cp mark.so whole && "
                    "peat diagnose whole '*' --save >said && peat inspect whole");
}

/* In a fresh copy; true: the plugin's constructor has run. */
static bool leaves_mark(const char *command, int which, int *code)
{
    *code = shell_run("export PEAT_PLUGIN_PATH=$PWD/beside:$PEAT_PLUGIN_PATH; "
                      "rm -rf mark fresh %s && cp -r whole %s && cd %s && %s && peat %s",
                      copy[which].name, copy[which].name, copy[which].name, copy[which].change,
                      command);
    return shell_has("mark");
}

/* ---- the list of verbs ---- */

static bool has_row(const char *verb)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(row[i].verb, verb) == 0)
            return true;
    return false;
}

/* What completion offers after this group. */
static void assert_rows_of(const char *group)
{
    struct strbuf offers;
    strbuf_init(&offers);
    shell_expect(0, "peat help --complete -- %s ''", group);
    strbuf_add(&offers, shell.printed.text);
    int n = 0;
    for (char *rest = NULL, *name = strtok_r(offers.text, "\n", &rest); name;
         name = strtok_r(NULL, "\n", &rest)) {
        char verb[64];
        snprintf(verb, sizeof(verb), "%s%s%s", group, *group ? " " : "", name);
        bool is_verb = *name != '-' && strcmp(verb, "plugins") && strcmp(verb, "plugins help");
        ck_assert_msg(!is_verb || has_row(verb), "'peat %s' has no row", verb);
        n += is_verb;
    }
    ck_assert_int_ge(n, 4);
    strbuf_release(&offers);
}

TEST(every_verb_has_a_row_here_and_in_the_documents)
{
    assert_rows_of("");
    assert_rows_of("plugins");
    shell_expect(0, "sed -n '/^## What runs whose code/,/^## Isolation/p' "
                    "\"$PEAT_SOURCE/docs/reliability.md\" >section");
    for (int i = 0; i < ROWS; i++)
        shell_expect(row[i].loads ? 1 : 0,
                     "grep '^| `%s` | ' section >line && grep '| nothing' line", row[i].verb);
    char count[16];
    snprintf(count, sizeof(count), "%d\n", ROWS);
    shell_says(0, count, "grep -c '^| `' section");
}

/* ---- what they load ---- */

TEST(reading_runs_no_code_of_a_run_directory)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COPIES && !row[i].loads; k++) {
            int code;
            bool mark = leaves_mark(row[i].command, k, &code);
            ck_assert_msg(!mark, "'peat %s' has loaded the plugin: %s", row[i].command,
                          copy[k].name);
            ck_assert_msg(k == 0 ? code == 0 : code <= 2, "'peat %s' of %s: exit status %d: %s",
                          row[i].command, copy[k].name, code, shell.printed.text);
        }
}

/* Else the test above would see nothing. */
TEST(what_trains_and_computes_loads_what_is_named)
{
    for (int i = 0; i < ROWS; i++) {
        int code;
        if (row[i].loads)
            ck_assert_msg(leaves_mark(row[i].command, 0, &code), "'peat %s': exit status %d: %s",
                          row[i].command, code, shell.printed.text);
    }
}

/* ---- what a page needs of a scheme ---- */

TEST(drawings_are_kept_checked_and_made_again)
{
    static const struct {
        const char *damage, *says;
        int verified;
    } bad[] = {
        {"rm schemes.json", "it has no drawings of its schemes; `peat inspect` with this directory",
         0},
        {"sed -i 's/\"rows\": 16/\"rows\": 15/' schemes.json", "schemes.json&#39; is damaged: its",
         1},
        {"sed -i -z 's/\"rows\": 16/\"rows\": 15/; s/,\\n  \"check\": \"[0-9a-f]*\"//' "
         "schemes.json",
         "schemes.json&#39; is damaged: schemes[0] has no table of its size", 1},
        {"sed -i -z 's/\"rows\": 16/\"rows\": 4611686018427387904/; "
         "s/,\\n  \"check\": \"[0-9a-f]*\"//' schemes.json",
         "schemes.json&#39; is damaged: schemes[0] has no table of its size", 1},
    };
    shell_expect(0, "peat report whole -o page.html && grep 'marked in numbers' page.html && "
                    "! grep 'Not shown' page.html");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        shell_expect(0,
                     "rm -rf r && cp -r whole r && cd r && %s && ! cmp -s schemes.json "
                     "../whole/schemes.json",
                     bad[i].damage);
        shell_expect(0, "peat report r -o page.html && ! grep 'in numbers' page.html");
        shell_says(0, bad[i].says, "cat page.html");
        shell_expect(bad[i].verified, "peat verify r");
        shell_expect(0, "PEAT_PLUGIN_PATH=$PWD/beside:$PEAT_PLUGIN_PATH peat inspect r && "
                        "cmp r/schemes.json whole/schemes.json");
    }
}

TEST(run_without_a_scheme_has_nothing_to_draw)
{
    shell_expect(0, "peat run e.yaml position.scheme=none -q -o n && peat report n -o page.html && "
                    "! grep -e 'What the schemes look like' -e 'has no drawings' page.html");
}

TEST(drawing_of_other_weights_is_left_out)
{
    shell_write("t.yaml", "version: 1\nname: trained\ndefaults:\n  task: {plugin: copy}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 3, batch: 2, seq_len: 16}\n  eval: {tokens: 64}\n"
                          "matrix:\n  position.scheme: [learned]\n");
    shell_expect(0, "peat run t.yaml -q -o t && peat inspect t && peat report t -o page.html && "
                    "grep 'in the cell learned.* before training and after it' page.html");
    shell_expect(0, "sed -i 's/\"weights_hash\": \"../\"weights_hash\": \"zz/; /\"check\"/d' "
                    "t/schemes.json && sed -i -z 's/,\\n}/\\n}/' t/schemes.json && "
                    "peat report t -o page.html");
    shell_expect(0, "grep 'it was drawn from weights that the cell no longer has' page.html && "
                    "! grep 'in the cell learned.* before training and after it' page.html");
}

int main(void)
{
    return run_tests((struct tests){"border", open_run, shell_close, .seconds = 240,
                                    .needs = "PEAT_SOURCE PEAT cc"});
}
