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

START_TEST(run_says_directory_and_cells_first_and_what_is_next_last)
{
    shell_expect(0, "peat run t.yaml 2>said");
    shell_expect(0, "head -n 1 said | grep '^peat: runs/t: 2 of 2 cells to run'");
    shell_expect(0, "tail -n 1 said | grep 'all of it is in runs/t; next: `peat report runs/t -o "
                    "t.html` makes a page, `peat results runs/t --columns cost` shows'");
    shell_expect(0, "peat run t.yaml 2>said; ! grep 'to run' said && peat run t.yaml seeds=2 2>&1");
    assert_printed("runs/t: 2 of 4 cells to run");
    shell_expect(0, "peat run t.yaml seeds=3 --quiet >/dev/null 2>said; test ! -s said");
}
END_TEST

/* What comes next is a command that works. */
START_TEST(what_is_next_works)
{
    shell_expect(
        0, "peat run t.yaml 2>said; tail -n 1 said | sed 's/.*page, `\\([^`]*\\)`.*/\\1/' >next; "
           "sh -e ./next");
    assert_printed("rotary");
}
END_TEST

/* Runs without end, until the last command of a test interrupts it. */
#define ENDLESS "peat run t.yaml train.steps=1000000 position.scheme=rotary -o r >/dev/null 2>&1 & "
#define UNTIL(condition)                                                                           \
    "for i in $(seq 1200); do " condition " && break; sleep 0.05; done; " condition " || exit 9; "

START_TEST(run_says_how_long_the_rest_takes_when_a_cell_has_ended)
{
    shell_expect(
        0,
        "sed 's/^matrix:.*/matrix: {train.steps: [2, 100000000]}/' t.yaml >long.yaml; "
        "peat run long.yaml -j 2 -o r >/dev/null 2>said & pid=$!; %s kill $pid; wait $pid; "
        "test $? = 130",
        UNTIL("grep -q '^peat: about [0-9hms]* left, by the pace so far$' said"));
    shell_expect(0, "grep -c ' left, by the pace' said | grep -x 1");
}
END_TEST

START_TEST(a_running_cell_shows_its_loss_in_bits)
{
    shell_expect(0, ENDLESS "pid=$!; " UNTIL(
                        "peat status r 2>&1 | grep -q 'loss [0-9.]* bits/token'") "kill $pid; "
                                                                                  "wait $pid; "
                                                                                  "test $? = 130");
}
END_TEST

START_TEST(status_that_watches_ends_with_the_run)
{
    shell_expect(0, "peat run t.yaml -q >/dev/null && peat status t --watch | grep '2 done'");
    shell_expect(
        0, ENDLESS "pid=$!; " UNTIL(
               "test -e r/plan.json") "peat status r --watch >seen & "
                                      "watch=$!; " UNTIL(
                                          "grep -q '1 running' seen") "kill $pid; "
                                                                      "wait $watch && tail -n 1 "
                                                                      "seen && tail -n 4 seen | "
                                                                      "grep -q '0 running\\|"
                                                                      "1 partial'");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"watching", open_experiment, shell_close, .seconds = 60, .needs = "PEAT"},
        TESTS(run_says_directory_and_cells_first_and_what_is_next_last, what_is_next_works,
              run_says_how_long_the_rest_takes_when_a_cell_has_ended,
              a_running_cell_shows_its_loss_in_bits, status_that_watches_ends_with_the_run));
}
