/* SPDX-License-Identifier: MIT */
/* test_watching.c: what run says around the training, and what status says in the midst of it. */
#include "support/shell.h"
#include "support/support.h"

static void open_experiment(void)
{
    shell_open();
    shell_write("t.yaml", "version: 2\nname: t\n"
                          "defaults:\n  task: {plugin: copy}\n"
                          "  model: {d_model: 8, n_layer: 1, n_head: 1}\n"
                          "  train: {steps: 2, batch: 1, seq_len: 16}\n  eval: {tokens: 64}\n"
                          "matrix: {position.scheme: [none, rotary]}\n");
}

TEST(run_says_directory_and_cells_first_and_what_is_next_last)
{
    shell_expect(0, "peat run t.yaml 2>said");
    shell_expect(0, "head -n 1 said | grep '^peat: runs/t: 2 of 2 cells to run'");
    shell_expect(0, "tail -n 1 said | grep 'all of it is in runs/t; next: `peat report runs/t -o "
                    "t.html` makes a page, `peat results runs/t --columns cost` shows'");
    shell_says(0, "`peat report other -o other.html`", "peat run t.yaml -o other 2>&1 | tail -n 1");
    shell_expect(0, "peat run t.yaml 2>said; ! grep 'to run' said && peat run t.yaml seeds=2 2>&1");
    assert_printed("runs/t: 2 of 4 cells to run");
    shell_expect(0, "peat run t.yaml seeds=3 --quiet >/dev/null 2>said; test ! -s said");
}

/* What comes next is a command that works. */
TEST(what_is_next_works)
{
    shell_expect(
        0, "peat run t.yaml 2>said; tail -n 1 said | sed 's/.*page, `\\([^`]*\\)`.*/\\1/' >next; "
           "sh -e ./next");
    assert_printed("rotary");
}

/* Runs without end. */
#define ENDLESS "peat run t.yaml train.steps=1000000 position.scheme=rotary -o r >/dev/null 2>&1"

TEST(run_says_how_long_the_rest_takes_when_a_cell_has_ended)
{
    shell_expect(0, "sed 's/^matrix:.*/matrix: {train.steps: [2, 100000000]}/' t.yaml >long.yaml");
    shell_expect(130, INTERRUPTED("peat run long.yaml -j 2 -o r >/dev/null 2>said",
                                  "grep '^peat: about [0-9hms]* left, by the pace so far$' said"));
    shell_expect(0, "grep -c ' left, by the pace' said | grep -x 1");
}

TEST(a_running_cell_shows_its_loss_in_bits)
{
    shell_expect(130, INTERRUPTED(ENDLESS, "peat status r 2>&1 | grep 'loss [0-9.]* bits/token'"));
    assert_printed("bits/token");
}

TEST(status_that_watches_ends_with_the_run)
{
    shell_expect(0, "peat run t.yaml -q >/dev/null && peat status t --watch | grep '2 done'");
    shell_write("watch.sh", UNTIL("test -e r/plan.json") "\nexec peat status r --watch >seen\n");
    shell_expect(0,
                 "sh watch.sh & watch=$!; %s; "
                 "wait $watch && tail -n 4 seen | grep '0 running\\|1 partial'",
                 INTERRUPTED(ENDLESS, "grep '1 running' seen"));
}

int main(void)
{
    return run_tests(
        (struct tests){"watching", open_experiment, shell_close, .seconds = 60, .needs = "PEAT"});
}
