/* SPDX-License-Identifier: MIT */
/* test_terminal.c: what others have written is printed without being obeyed. */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

/* In JSON: colour, a title, C1 in UTF-8, a turn of direction. */
#define HOSTILE "x\\u001b[31m\\u001b]0;t\\u0007\\u009b2J\\u202e\\r"

static struct run_maker m;

static void make_run(void)
{
    shell_open();
    run_maker_open(&m, "hostile");
    m.dropped = "[\"dropped " HOSTILE "\"]";
    m.report =
        "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":{\"position.scheme\":\"none\"}}";
    for (int seed = 0; seed < 2; seed++) {
        run_maker_done(&m, "none", "sum", seed, 2.5 + 0.1 * seed, 3);
        run_maker_done(&m, HOSTILE, "sum", seed, 2.1, 3);
    }
    run_maker_state(&m, HOSTILE, "sum", 2, "crashed");
    run_maker_file(&m, 4, "end.json",
                   "{\"state\":\"crashed\",\"reason\":\"reason " HOSTILE "\",\"signal\":null}");
    run_maker_file(&m, 4, "log.txt", "first\n\x1b[2Jlast \x1b[31m\x9b\xc2\x9b\r\n");
    run_maker_finish(&m);
}

static void remove_run(void)
{
    run_maker_close(&m);
    shell_close();
}

/* Nothing but whole characters that stand for themselves, and line ends. */
static void assert_harmless(const char *command)
{
    const unsigned char *s = (const unsigned char *)shell.printed.text;
    for (size_t at = 0, n; at < shell.printed.n; at += n) {
        uint32_t code = 0;
        n = utf8_read(s + at, shell.printed.n - at, &code);
        bool line_end =
            code == '\n' || code == '\t' || (code == '\r' && s[at + 1] == '\n'); /* a terminal's */
        ck_assert_msg(n && (line_end || !is_shown_as_code(code)), "%s: byte %zu of %zu is 0x%02x",
                      command, at, shell.printed.n, s[at]);
    }
}

static const char *const commands[] = {
    "peat results %s",
    "peat results %s -f md",
    "peat results %s -f tex",
    "peat results %s -f csv",
    "peat results %s -f json",
    "peat results %s -f jsonl",
    "peat results %s --cols scheme",
    "peat results %s --injection",
    "peat results %s --metric nosuch",
    "peat results %s -b nosuch",
    "peat status %s",
    "peat status %s --json",
    "peat compare %s 1 none.sum",
    "peat compare %s 'scheme=none' \"$(printf 'a\\033[31mb\\302\\233')\"",
    "peat logs %s \"$(printf 'a\\033[31mb\\302\\233')\"",
    "peat report %s -o report.html; cat report.html",
    "peat plot %s --kind bars -o bars.svg; cat bars.svg",
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
LOOP_TEST(labels_and_reasons_reach_no_terminal_raw, COMMANDS)
{
    shell_run(commands[_i], m.dir);
    ck_assert_uint_gt(shell.printed.n, 0);
    assert_harmless(commands[_i]);
}
#pragma GCC diagnostic pop

TEST(a_log_is_raw_in_a_pipe_and_shown_on_a_terminal)
{
    shell_expect(0, "peat logs %s 4", m.dir);
    assert_printed("\x1b[2Jlast \x1b[31m\x9b\xc2\x9b\r\n");
    shell_expect(0, "script -qec 'peat logs %s 4' /dev/null </dev/null", m.dir);
    assert_printed("\\x1b[2Jlast \\x1b[31m\\x9b\\u009b\\r");
    assert_harmless("logs");
}

TEST(names_of_files_and_words_of_experiments_reach_no_terminal_raw)
{
    static const char *const texts[] = {
        "version: 1\nname: x\ndefaults: {task: {plugin: \"a\\e[31mb\"}}\n",
        "version: 1\nname: x\n\"key\\e[31m\\x9b\": 1\n",
        "version: 1\nname: \"x\\e[31m\\N\\u202e\"\n",
        "version: 1\nname: x\ndefaults: {task: {plugin: text, path: \"a\\e[31m\\nb\"}}\n",
        "version: \x1b[31m 1\n",
        "version: 1\nname: \xff\x9b\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        shell_write("bad.yaml", texts[i]);
        shell_expect(2, "cp bad.yaml \"$(printf 'a\\033[31m\\302\\233\\377.yaml')\"; "
                        "peat validate a*.yaml");
        assert_harmless(texts[i]);
    }
    shell_expect(2, "peat \"$(printf 'verb\\033[31m\\302\\233\\377')\"");
    assert_harmless("peat VERB");
    shell_expect(2, "peat run \"$(printf -- '--option\\033[31m\\302\\233\\377')\"");
    assert_harmless("peat run --option");
    shell_run("peat plugins info \"$(printf './a\\033[31m\\302\\233\\377.so')\"");
    assert_harmless("peat plugins info");
}

TEST(a_running_grid_shows_labels_safely)
{
    shell_write(
        "t.yaml",
        "version: 1\nname: t\n"
        "defaults:\n  task: {plugin: copy}\n  model: {d_model: 8, n_layer: 1, n_head: 1}\n"
        "  train: {steps: 2, batch: 1, seq_len: 16}\n  eval: {tokens: 64}\n"
        "matrix: {axis: {\"a\\x9b31m\": {train.lr: 1e-3}, \"b\\u202e\": {train.lr: 2e-3}}}\n");
    shell_expect(0, "peat plan t.yaml");
    assert_harmless("plan");
    shell_expect(0, "peat plan t.yaml --json");
    assert_harmless("plan --json");
    shell_expect(0, "peat run t.yaml");
    assert_harmless("run");
    assert_printed("a\\u009b31m");
}

/* ---- width ---- */

static const char *const pages[] = {
    "peat results %s",        "peat compare %s 0 1",
    "peat status %s",         "peat plugins list",
    "peat plugins info tupe", "peat run --help",
    "peat plan w.yaml",       "peat plan w.yaml no=1",
    "peat tokenize --help",   "peat bench step --d 8 --layers 1 --T 16 --B 1 --steps 1",
};
enum { PAGES = sizeof(pages) / sizeof(*pages) };

/* No line is longer than the terminal is wide, and the words are those of a wide one: none is
 * broken. Heads and labels stand in each block of a table. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
LOOP_TEST(eighty_columns_break_between_words, PAGES)
{
    char command[128];
    snprintf(command, sizeof(command), pages[_i], m.dir);
    shell_write("w.yaml", "version: 1\nname: w\ndescription: sums and others\n"
                          "defaults: {task: {plugin: copy}, model: {d_model: 32}}\nmatrix:\n"
                          "  position.scheme: [none, learned, sinusoidal]\n"
                          "  position.combine: [sum, concat_split, gate_scalar]\n");
    shell_expect(0,
                 "export NO_COLOR=1 LC_ALL=C.UTF-8; for w in 80 1000; do "
                 "script -qec 'stty cols '$w'; %s' /dev/null </dev/null | tr -d '\\r' >at$w; "
                 "tr -s ' ' '\\n' <at$w | grep '[a-z][a-z]' | sort -u >words$w; done; "
                 "diff words80 words1000",
                 command);
    shell_expect(
        0, "LC_ALL=C.UTF-8 wc -L <at80 >wide; test $(cat wide) -le 80 || { cat at80; exit 1; }");
}
#pragma GCC diagnostic pop

int main(void)
{
    return run_tests(
        (struct tests){"terminal", make_run, remove_run, .seconds = 60, .needs = "script"});
}
