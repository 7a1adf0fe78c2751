/* SPDX-License-Identifier: MIT */
/* test_plugin_names.c: what a plugin given by path is called, everywhere the same. */
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

static const char settings[] = "version: 1\n"
                               "name: e\n"
                               "defaults:\n"
                               "  task: {plugin: copy, symbols: 4}\n"
                               "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                               "  train: {steps: 2, batch: 2, seq_len: 7}\n"
                               "  eval: {tokens: 64}\n";

static void write_experiment(const char *name, const char *rest)
{
    struct strbuf yaml;
    strbuf_init(&yaml);
    strbuf_addf(&yaml, "%s%s", settings, rest);
    shell_write(name, yaml.text);
    strbuf_release(&yaml);
}

/* Files whose names say nothing of what is in them. */
static void open_plugins(void)
{
    shell_open();
    shell_expect(0, "mkdir a b && cd \"$PEAT_BUILD\"/lib/peat/plugins-*/scheme &&"
                    " cp rotary.so \"$OLDPWD\"/a/one.so && cp alibi.so \"$OLDPWD\"/a/two.so &&"
                    " cp rotary.so \"$OLDPWD\"/b/three.so");
    write_experiment("e.yaml", "matrix:\n"
                               "  position.scheme:\n"
                               "    - none\n"
                               "    - {plugin: ./a/one.so, base: 500}\n"
                               "    - {plugin: ./a/two.so, label: slopes}\n"
                               "    - [./a/one.so, {plugin: learned, label: table}]\n");
}

TEST(a_plugin_by_path_has_the_name_of_its_descriptor_everywhere)
{
    shell_expect(0, "peat run e.yaml -o run");
    shell_expect(0, "ls run/cells");
    assert_printed("rotary-base=500.-.s0-");
    assert_printed("slopes.-.s0-");
    assert_printed("rotary+table.sum.s0-");
    static const char *const shows[] = {"results run", "results run -f md", "results run -f csv",
                                        "results run -f json", "compare run slopes none"};
    for (int i = 0; i < 5; i++) {
        shell_run("peat %s", shows[i]);
        assert_lacks(shell.printed.text, ".so");
        assert_printed(i == 4 ? "slopes" : "rotary(base=500)");
    }
    shell_expect(0, "peat report run -o r.html && grep -q 'rotary(base=500)' r.html");
    shell_expect(0, "peat status run");
    assert_lacks(shell.printed.text, ".so");
    shell_says(0, "1 cell", "peat run e.yaml -o other --only 'slopes.*'");
    shell_expect(0, "test $(ls other/cells/*/result.json | wc -l) = 1");
}

TEST(a_task_by_path_is_called_by_its_name_too)
{
    shell_expect(0, "cp \"$PEAT_BUILD\"/lib/peat/plugins-*/task/reverse.so a/four.so");
    write_experiment("t.yaml", "matrix:\n"
                               "  task.plugin: [copy, ./a/four.so]\n"
                               "  position.scheme: [none]\n");
    shell_expect(0, "peat run t.yaml -o t 2>/dev/null && ls t/cells");
    assert_printed("none.-.reverse.s0-");
    assert_lacks(shell.printed.text, ".so");
}

/* As in tables and as in names of cells, and the path that stands in the file. */
TEST(labels_may_be_spelled_in_either_way)
{
    shell_expect(0, "peat run e.yaml -o run");
    shell_expect(0, "peat compare run 'rotary(base=500)' none >one");
    shell_expect(0, "peat compare run rotary-base=500 none >two && diff one two");
    shell_expect(0, "peat compare run scheme=rotary-base=500 scheme=none >two && diff one two");
    shell_expect(0, "peat diagnose run 'rotary(base=500).-.s0' >one");
    shell_expect(0, "peat diagnose run 'rotary-base=500.-.s0' >two && diff one two");
    shell_expect(0, "peat run e.yaml -o a --only 'rotary(base=500).*'");
    shell_expect(0, "peat run e.yaml -o b --only 'rotary-base=500.*'");
    shell_expect(0, "test $(ls a/cells/*/result.json b/cells/*/result.json | wc -l) = 2");
    static const char *const ways[] = {"rotary(base=500)", "rotary-base=500",
                                       "./a/one.so(base=500)", "{plugin: ./a/one.so, base: 500}"};
    for (int i = 0; i < 4; i++) {
        struct strbuf yaml;
        strbuf_init(&yaml);
        strbuf_addf(&yaml,
                    "matrix:\n"
                    "  position.scheme: [none, {plugin: ./a/one.so, base: 500}]\n"
                    "  exclude: {position.scheme: %s%s%s}\n",
                    i < 3 ? "'" : "", ways[i], i < 3 ? "'" : "");
        write_experiment("x.yaml", yaml.text);
        shell_expect(0, "peat plan x.yaml");
        assert_lacks(shell.printed.text, "500");
        strbuf_release(&yaml);
    }
}

TEST(words_of_options_take_dash_and_underscore_alike)
{
    shell_expect(0, "peat run e.yaml -o run seeds=2");
    shell_expect(0, "peat compare run slopes none --test sign-flip >one");
    shell_expect(0, "peat compare run slopes none --test sign_flip >two && diff one two");
    shell_expect(0, "peat plan e.yaml model.activation=gelu-tanh");
    shell_says(2, "must be one of sign-flip, wilcoxon, t", "peat compare run a b --test signs");
}

TEST(two_files_with_one_name_are_told_apart)
{
    write_experiment("x.yaml", "matrix: {position.scheme: [./a/one.so, ./b/three.so]}\n");
    shell_expect(0, "peat plan x.yaml --ids");
    assert_printed("a-one.so.-.s0");
    assert_printed("b-three.so.-.s0");
    write_experiment("x.yaml", "matrix: {position.scheme: [rotary, ./b/three.so]}\n");
    shell_expect(0, "peat plan x.yaml --ids");
    assert_printed("b-three.so.-.s0");
    write_experiment("x.yaml", "matrix: {position.scheme: [{plugin: ./a/one.so, label: x},"
                               " {plugin: ./b/three.so, label: x}]}\n");
    shell_says(2, "axis 'position.scheme' has the value 'x' twice", "peat plan x.yaml");
}

TEST(a_label_names_a_scheme_or_combination_and_is_no_setting)
{
    shell_expect(0, "peat run e.yaml -o run --only 'slopes.*'");
    shell_expect(0, "! grep -q slopes run/cells/slopes*/config.json ||"
                    " grep -c slopes run/cells/slopes*/config.json");
    write_experiment("x.yaml", "matrix: {position.scheme: [{plugin: alibi, label: x},"
                               " {plugin: alibi, label: y}]}\n");
    shell_says(2, "has the value 'x' twice", "peat plan x.yaml");
    write_experiment("x.yaml", "matrix: {position.scheme: [{plugin: alibi, label: 3}, none]}\n");
    shell_says(2, "'label' of a scheme must be a text", "peat plan x.yaml");
    write_experiment("x.yaml", "matrix: {position.scheme: [learned], position.combine:"
                               " [sum, {plugin: gate_scalar, label: gated}]}\n");
    shell_says(0, "gated", "peat plan x.yaml");
    write_experiment("x.yaml", "matrix: {position.scheme: [none]}\n");
    shell_expect(0, "peat plan x.yaml 'position.scheme={plugin: alibi, label: mine}'");
    assert_printed("mine");
}

/* The directory that an older program made calls its cells by the path. */
TEST(cells_keep_the_names_that_a_directory_has_for_them)
{
    static const char plain[] = "matrix: {position.scheme: [none, ./a/one.so]}\n";
    write_experiment("x.yaml", plain);
    shell_expect(0, "peat run x.yaml -o run");
    shell_expect(0, "mv run/cells/rotary.-.s0-* run/cells/$(basename run/cells/rotary.-.s0-* |"
                    " sed s/rotary/a-one.so/)");
    shell_expect(0, "peat run x.yaml -o run >out && ls run/cells");
    assert_printed("a-one.so.-.s0-");
    assert_lacks(shell.printed.text, "rotary");
    shell_says(0, "rotary", "peat results run");
    write_experiment("x.yaml",
                     "matrix: {position.scheme: [none, {plugin: ./a/one.so, label: z}]}\n");
    shell_expect(0, "peat run x.yaml -o run && test $(ls run/cells | wc -l) = 2");
}

/* A run directory is run again by what it has, wherever it is called from. */
TEST(a_run_directory_keeps_its_labels_when_it_is_run_again)
{
    shell_expect(0, "peat run e.yaml -o run && ls run/cells >one");
    shell_expect(0, "cd / && peat run \"$OLDPWD\"/run && ls \"$OLDPWD\"/run/cells |"
                    " diff \"$OLDPWD\"/one -");
}

TEST(a_plugin_that_cannot_be_loaded_is_refused_where_it_stands)
{
    shell_expect(0, "echo no >a/bad.so && chmod +x a/bad.so");
    write_experiment("x.yaml", "matrix:\n  position.scheme:\n    - none\n    - ./a/bad.so\n");
    shell_says(2, "x.yaml:11:7: ", "peat plan x.yaml");
    write_experiment("x.yaml", "matrix:\n  position.scheme:\n    - none\n    - ./a/away.so\n");
    shell_says(2, "x.yaml:11:7: ", "peat plan x.yaml");
}

TEST(the_nearest_row_is_suggested)
{
    shell_expect(0, "peat run e.yaml -o run");
    shell_says(2, "no row is called 'slope'; did you mean 'slopes'?",
               "peat compare run slope none");
    shell_says(2, "no row is called 'table'; did you mean 'rotary+table'?",
               "peat compare run table none");
}

int main(void)
{
    return run_tests((struct tests){.subject = "plugin_names",
                                    .open = open_plugins,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_BUILD"});
}
