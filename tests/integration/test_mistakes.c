/* SPDX-License-Identifier: MIT */
/* test_mistakes.c: validate says every mistake of a file at once, each once, and nothing that only
 * follows from another; words that people use for plugins are known. */
#include "support/shell.h"
#include "support/support.h"

#define TASK "  task: {plugin: copy}\n"

/* Files, and the mistakes that are said: the beginning of each line behind "peat: e.yaml:". */
static const struct {
    const char *text;
    const char *said[12];
} files[] = {
    /* two sections and the top level */
    {"version: 1\nname: e\nseed: 2\ndefaults:\n" TASK
     "  model: {d_model: 16, n_layr: 1, n_head: 2}\n  train: {step: 3}\n",
     {"3:1: unknown key 'seed' in the experiment; did you mean 'seeds'?",
      "6:24: unknown key 'n_layr' in model; did you mean 'n_layer'?",
      "7:11: unknown key 'step' in train; did you mean 'steps'?"}},
    /* the name of a plugin, and a label that is right */
    {"version: 1\nname: e\ndefaults:\n" TASK "matrix:\n  position.scheme: [none, rotray]\n"
     "report: {baseline: {position.scheme: rotary}}\n",
     {"6:27: there is no scheme 'rotray'; did you mean 'rotary'?"}},
    /* what only a plan can see, of several kinds */
    {"version: 1\nname: e\ndefaults:\n" TASK "  model: {d_model: 16, n_head: 3}\n"
     "  train: {batch: many, lr: -1}\nreport: {metric: bpb}\n",
     {"5:32: d_model 16 is not divisible by n_head 3",
      "6:18: 'batch' in train must be a whole number",
      "6:28: 'lr' in train must be a number above 0", "7:18: task 'copy' has no metric 'bpb'"}},
    /* a part without a proposal is taken out; what names it is no mistake of its own */
    {"version: 1\nname: e\ndefaults:\n" TASK "matrix:\n  nonsense: 3\n  train.lr: [1e-3, fast]\n"
     "report: {baseline: {train.lr: fast}}\n",
     {"6:3: axis 'nonsense'", "7:20: 'lr' in train must be a number"}},
    {"version: two\nname: e\ndefaults: {task: copy}\n", {"1:10: 'version' must be the number 1"}},
    {"version: 1\ndefaults: {task: copy}\n", {"1:1: 'name' is missing"}},
    {"version: 1\nname: e\ndefaults: {task: copy\n", {"4:1: "}},
    {"version: 1\nname: e\ndefaults: {task: copy}\nseeds: 2\nseeds: 3\n", {"5:1: "}},
};
enum { FILES = sizeof(files) / sizeof(*files) };

static int count_lines(const char *text)
{
    int n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

LOOP_TEST(every_mistake_is_one_line_and_no_other, FILES)
{
    int expected = 0;
    shell_write("e.yaml", files[_i].text);
    shell_expect(
        2, "peat validate e.yaml 2>said >out; code=$?; cat said; test ! -s out && exit $code");
    for (; files[_i].said[expected]; expected++) {
        char line[256];
        snprintf(line, sizeof(line), "peat: e.yaml:%s", files[_i].said[expected]);
        assert_printed(line);
    }
    ck_assert_msg(count_lines(shell.printed.text) == expected, "not %d lines:\n%s", expected,
                  shell.printed.text);
}

TEST(words_are_told_all_at_once_too)
{
    shell_write("e.yaml", "version: 1\nname: e\ndefaults: {task: copy}\n");
    shell_prints(2, "peat: command line:1: unknown key 'train.step'; did you mean 'train.steps'?",
                 "peat validate e.yaml train.step=3 seeds=2 position.schem=rotary");
    assert_printed("command line:3: unknown key 'position.schem'; did you mean 'position.scheme'?");
    ck_assert_int_eq(count_lines(shell.printed.text), 2);
    shell_prints(0, "e.yaml: ok, 2 cells, 2 seeds", "peat validate e.yaml seeds=2");
}

/* ---- what people call plugins ---- */

static const char *const synonyms[][2] = {
    {"rope", "did you mean 'rotary'?"},
    {"RoPE", "did you mean 'rotary'?"},
    {"nope", "did you mean 'none'?"},
    {"t5", "did you mean 't5_bias'?"},
    {"concat", "did you mean 'concat_overlap', 'concat_project', 'concat_split' or 'concat_wide'?"},
    {"scheme/rope", "did you mean 'rotary'?"},
    {"rotry", "did you mean 'rotary'?"},
};
enum { SYNONYMS = sizeof(synonyms) / sizeof(*synonyms) };

LOOP_TEST(what_people_call_a_plugin_is_answered_with_its_name, SYNONYMS)
{
    shell_says(2, synonyms[_i][1], "peat plugins info %s", synonyms[_i][0]);
}

TEST(a_file_is_answered_so_as_well)
{
    shell_write("e.yaml", "version: 1\nname: e\ndefaults: {task: copy}\n"
                          "matrix:\n  position.scheme: [none, rope]\n  position.combine: [add]\n");
    shell_prints(2, "peat: e.yaml:5:27: there is no scheme 'rope'; did you mean 'rotary'?",
                 "peat plan e.yaml");
    shell_prints(2, "peat: e.yaml:6:22: there is no combine 'add'; did you mean 'sum'?",
                 "peat validate e.yaml");
}

int main(void)
{
    return run_tests((struct tests){.subject = "mistakes",
                                    .open = shell_open,
                                    .close = shell_close,
                                    .seconds = 60,
                                    .needs = "PEAT PEAT_SOURCE"});
}
