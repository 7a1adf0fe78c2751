/* SPDX-License-Identifier: MIT */
/* test_new.c: a first experiment from peat new, and axes that the command line adds to it. */
#include "support/shell.h"
#include "support/support.h"

static void open_text(void)
{
    shell_open();
    shell_expect(
        0, "for i in $(seq 900); do echo \"line $i of a text, $((i * i))\"; done >\"it's.txt\"");
}

#define SHORT "train.steps=2 eval.tokens=64 seeds=1"

TEST(it_runs_as_it_is_with_and_without_a_text)
{
    shell_says(0, "peat run mine ", "peat new mine \"it's.txt\"");
    shell_says(0, "mine.yaml: ok, 18 cells, 3 seeds", "peat validate mine.yaml");
    shell_says(0, "mine: bpb on the test part (lower is better)", "peat run mine " SHORT " -q");
    shell_says(0, "mine: bpb on the test part (lower is better)", "peat results mine");
    shell_expect(0, "peat report mine -o mine.html && test -s mine.html");
    shell_says(0, "wrote own.yaml; edit it, then\n  peat plan own ", "peat new own.yaml");
    shell_says(0, "own: ", "peat run own " SHORT " -q");
}

/* Each section of an experiment is there, or is named, with a comment. */
TEST(it_explains_itself)
{
    shell_expect(0, "peat new mine \"it's.txt\"");
    shell_expect(0, "for k in defaults matrix seeds run report; do "
                    "grep -B1 \"^$k:\" mine.yaml | grep -q '#' || exit 1; done");
}

static const struct {
    const char *command, *said;
} refusals[] = {
    {"new mine", "'mine.yaml' exists already"},
    {"new ../up", "an experiment cannot be called '../up'"},
    {"new other absent.txt", "there is no text file 'absent.txt'"},
    {"new other .", "there is no text file '.'"},
    {"new", "a name for the experiment is needed"},
};
enum { REFUSALS = sizeof(refusals) / sizeof(*refusals) };

LOOP_TEST(what_it_cannot_write_is_refused, REFUSALS)
{
    shell_write("mine.yaml", "mine\n");
    shell_says(2, refusals[_i].said, "peat %s", refusals[_i].command);
    shell_expect(0, "test ! -e other.yaml && grep -qx mine mine.yaml");
}

/* ---- lists of the command line ---- */

/* How many cells of one seed, and one of their labels. */
static const struct {
    const char *words;
    int cells;
    const char *label;
} lists[] = {
    {"'train.lr=[1e-3, 2e-3]'", 12, "rotary.-.2e-3.s0"},
    {"'train.lr=[1e-3, 2e-3]' 'model.n_layer=[1, 2]'", 24, "none.-.1e-3.1.s0"},
    {"'model.attention.scale=[sqrt, none]'", 12, "learned.sum.none.s0"},
    {"'position.scheme=[rotary]' 'position.scheme.base=[100, 200]'", 2, "rotary.-.200.s0"},
    {"'task.valid=[0.1, 0.2]'", 12, "learned.sum.0.2.s0"},
    /* settings that are lists */
    {"'eval.lengths=[16, 32]'", 6, "learned.sum.s0"},
    {"\"task.path=[it's.txt, more.txt]\"", 6, "learned.sum.s0"},
    {"position.scheme=[rotary] 'position.scheme.where.layers=[0, 1]'", 1, "rotary.-.s0"},
    /* and axes of such */
    {"'eval.lengths=[[16], [16, 32]]'", 12, "none.-.16-32.s0"},
};
enum { LISTS = sizeof(lists) / sizeof(*lists) };

LOOP_TEST(a_list_is_an_axis_unless_the_setting_is_a_list, LISTS)
{
    shell_expect(0, "peat new mine \"it's.txt\" && cp \"it's.txt\" more.txt");
    shell_says(0, lists[_i].label, "peat plan mine seeds=1 report=null --ids %s", lists[_i].words);
    shell_expect(0, "peat plan mine seeds=1 report=null %s", lists[_i].words);
    char count[32];
    snprintf(count, sizeof(count), "\n%d cell%s: ", lists[_i].cells,
             lists[_i].cells == 1 ? "" : "s");
    assert_printed(count);
}

/* The directory keeps the axis: without the word the run goes on with it. */
TEST(a_run_keeps_the_axis)
{
    shell_expect(0, "peat new mine && peat run mine " SHORT " 'train.lr=[1e-3, 2e-3]' -q");
    shell_says(0, "1e-3", "peat run runs/mine -q");
    assert_printed("2e-3");
    shell_says(0, "12 done", "peat status mine");
}

/* ---- which of them ---- */

TEST(a_dry_run_shows_the_cells_that_would_run)
{
    shell_expect(0, "peat new mine");
    shell_says(0, "\n3 of 18 cells; 3 todo\n", "peat run mine -n --only 'rotary*'");
    ck_assert(!shell_printed("learned.sum.s0 "));
    shell_says(0, "\n6 of 18 cells; 6 todo\n", "peat run mine -n --shard 2/3");
    ck_assert(!shell_printed("\n0 "));
    shell_says(2, "no cell matches 'xpos*'", "peat run mine -n --only 'xpos*'");
    shell_says(0, "\n18 cells: 6 rows x 3 seeds; 18 todo\n", "peat run mine -n");
    ck_assert(!shell_has("runs"));
}

int main(void)
{
    return run_tests((struct tests){.subject = "new",
                                    .open = open_text,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE"});
}
