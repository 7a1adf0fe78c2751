/* SPDX-License-Identifier: MIT */
/*
 * test_launch.c: cells started by something other than `peat run`: xargs, other machines, and a
 * batch system (here a shell script). The same with a real Slurm is in test_slurm.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: grid\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2, dropout: 0.1}\n"
                                 "  train: {steps: 20, batch: 2, seq_len: 16}\n"
                                 "  eval: {lengths: [16, 32], tokens: 128}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned, alibi]\n"
                                 "seeds: 2\n"
                                 "report: {baseline: {position.scheme: none}}\n";

static const char one_cell[] = "position.scheme=none seeds=1";

/* Long enough to be met while it runs. */
static const char slow_cell[] = "position.scheme=none seeds=1 train.steps=100000000";

/* Runs the tasks of an array itself, one after the other, and remembers its arguments. */
static const char sbatch[] =
    "#!/bin/bash\n"
    "echo \"$*\" >> \"$CALLS\"\n"
    "for script; do :; done\n"
    "[ -z \"$REFUSE\" ] || { echo \"sbatch: error: $REFUSE\" >&2; exit 1; }\n"
    "last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' \"$script\")\n"
    "export SLURM_ARRAY_JOB_ID=7\n"
    "[ -n \"$last\" ] || { bash \"$script\" >&2; echo 8; exit 0; }\n"
    "for t in $(seq 0 $last); do SLURM_ARRAY_TASK_ID=$t bash \"$script\" >&2; done\n"
    "echo 7\n";
static const char squeue[] = "#!/bin/sh\n"
                             "[ -z \"$GONE\" ] || { echo 'slurm_load_jobs error: Invalid job id "
                             "specified' >&2; exit 1; }\n"
                             "printf \"$STATES\"\n";
static const char scontrol[] = "#!/bin/sh\necho 'MaxArraySize            = 4'\n";

#define STAND_IN "PATH=$PWD/bin:$PATH CALLS=$PWD/calls "

static void open_grid(struct shell *s)
{
    shell_open(s);
    shell_write(s, "grid.yaml", experiment);
    shell_expect(s, 0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; mkdir bin");
    shell_write(s, "bin/sbatch", sbatch);
    shell_write(s, "bin/squeue", squeue);
    shell_write(s, "bin/scontrol", scontrol);
    shell_expect(s, 0, "chmod +x bin/*");
}

static void assert_printed(const struct shell *s, const char *text)
{
    ck_assert_msg(shell_printed(s, text), "no '%s' in:\n%s", text, s->printed.text);
}

/* The csv of results up to `value`: what follows are times, sizes and provenance. Sorted: cells
 * stand directory by directory. */
static char *numbers(struct shell *s, const char *dirs)
{
    shell_expect(s, 0,
                 "\"$PEAT\" results %s --format csv > all.csv && head -1 all.csv | tr , '\\n' | "
                 "grep -nx value | cut -d: -f1 > last && cut -d, -f1-$(cat last) all.csv | sort",
                 dirs);
    assert_printed(s, ",alibi,");
    return strbuf_detach(&s->printed);
}

static void assert_same_numbers(struct shell *s, const char *one, const char *two)
{
    char *a = numbers(s, one), *b = numbers(s, two);
    ck_assert_msg(strcmp(a, b) == 0, "%s:\n%.1500s\n%s:\n%.1500s", one, a, two, b);
    free(a);
    free(b);
}

/* ---- the script ---- */

START_TEST(dry_run_prints_the_scripts_and_makes_nothing)
{
    static const char *const expected[] = {
        "\n#!/bin/bash\n",
        "#SBATCH --job-name=grid\n",
        "#SBATCH --partition=long\n",
        "#SBATCH --account=lab-1\n",
        "#SBATCH --cpus-per-task=3\n",
        "#SBATCH --mem=4G\n",
        "#SBATCH --array=0-2%5\n",
        "#SBATCH --time=90\n",
        "#SBATCH --signal=B:USR1@120\n",
        "#SBATCH --requeue\n",
        "#SBATCH --open-mode=append\n",
        "/a b'%%j \\\"c/slurm/%A_%a.log\"\n",
        "#SBATCH --gres=gpu:1\n",
        "\nmodule load blas\n",
        "/a b'\\''%j \"c'\n",
        "export PEAT_PLUGIN_PATH='one two'\n",
        "mapfile -t -s $((SLURM_ARRAY_TASK_ID * 2)) -n 2 cells <\"$dir/slurm/cells\"\n",
        "\"$peat\" cell \"$dir\" \"${cells[@]}\" -t 3 ",
        " --checkpoint-every 7 --timeout 60 ",
        "\"$peat\" results \"$dir\" -o \"$dir/results.txt\"\n",
        "peat: 6 cells in 3 tasks would be submitted\n",
    };
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0,
                 "PEAT_PLUGIN_PATH='one two' \"$PEAT\" run grid.yaml -n --launcher slurm -t 3 "
                 "-o \"a b'%%j \\\"c\" 'run.slurm={partition: long, account: lab-1, memory: 4G, "
                 "cells_per_task: 2, max_parallel: 5, time: 1.5h, extra: [--gres=gpu:1, module "
                 "load blas]}' run.timeout=1m run.checkpoint.every=7 2>&1");
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_printed(&s, expected[i]);
    shell_expect(&s, 0, "test $(ls | wc -l) = 3 && test ! -e calls");
    shell_close(&s);
}
END_TEST

/* Half an hour is told two minutes before; two minutes a quarter before. */
START_TEST(notice_is_a_part_of_short_times)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -n --launcher slurm 'run.slurm={time: 61s}'");
    assert_printed(&s, "#SBATCH --time=2\n#SBATCH --signal=B:USR1@30\n");
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -n --launcher slurm");
    assert_printed(&s, "#SBATCH --array=0-5\n#SBATCH --signal=B:USR1@120\n");
    shell_close(&s);
}
END_TEST

START_TEST(dry_run_counts_only_what_is_to_be_done)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml --only 'none.*'");
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -n --launcher slurm");
    assert_printed(&s, "peat: 4 cells in 4 tasks would be submitted");
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -n --launcher slurm --only 'none.*'");
    assert_printed(&s, "peat: there is nothing to submit");
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -n --launcher slurm eval.lengths=64");
    assert_printed(&s, "peat: 6 cells in 6 tasks would be submitted");
    shell_close(&s);
}
END_TEST

START_TEST(what_slurm_can_not_do_is_refused)
{
    static const struct {
        const char *words, *said;
    } cases[] = {
        {"--launcher slurm -j 2", "option '--jobs' is for the launcher local"},
        {"--launcher slurm -x", "stopping at the first failure is for the launcher local"},
        {"--launcher slurm run.on_failure=stop", "stopping at the first failure"},
        {"--launcher pbs", "option '--launcher' must be one of local, slurm, not 'pbs'"},
        {"--launcher slurm -o 'a\\b'", "Slurm can write no log in"},
        {"run.launcher=slrum", "did you mean 'slurm'?"},
        {"run.slurm.tiem=3", "unknown key 'tiem' in slurm; did you mean 'time'?"},
        {"run.slurm.time=3x", "'time' in slurm must be a time such as 90s"},
        {"run.slurm.memory=4gb", "'memory' in slurm must be a size such as 500M or 4G"},
        {"'run.slurm.partition=a b'", "'partition' in slurm may have letters"},
        {"'run.slurm={extra: [\"a\\nb\"]}'", "'extra' in slurm must be single lines"},
        {"run.slurm.cells_per_task=0", "'cells_per_task' in slurm must be"},
    };
    struct shell s;
    open_grid(&s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        shell_expect(&s, 2, "\"$PEAT\" run grid.yaml %s", cases[i].words);
        assert_printed(&s, cases[i].said);
    }
    shell_expect(&s, 0, "test ! -e runs");
    shell_close(&s);
}
END_TEST

/* ---- submitting, to the stand-in ---- */

START_TEST(submitted_cells_give_the_table_of_a_local_run)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -o local");
    shell_expect(&s, 0,
                 STAND_IN "\"$PEAT\" run grid.yaml --launcher slurm -o \"a b'%%j c\" "
                          "run.slurm.cells_per_task=2");
    assert_printed(&s, "peat: 6 cells: 6 submitted\n");
    assert_printed(&s, "peat: Slurm's job 7 runs them");
    assert_printed(&s, "job 8 prints the table into");
    assert_same_numbers(&s, "local", "\"a b'%j c\"");
    shell_expect(&s, 0, "\"$PEAT\" results \"a b'%%j c\" | cmp - \"a b'%%j c/results.txt\"");
    shell_expect(&s, 0, "grep -c . calls");
    assert_printed(&s, "2\n");
    shell_expect(&s, 0, "grep -- '--dependency=afterany:7 .*/table.sbatch$' calls");
    shell_close(&s);
}
END_TEST

START_TEST(nothing_left_submits_nothing_and_prints_the_table)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -o runs %s", one_cell);
    shell_expect(&s, 0, STAND_IN "\"$PEAT\" run grid.yaml -o runs --launcher slurm %s", one_cell);
    assert_printed(&s, "1 cell: 1 finished before");
    assert_printed(&s, "bpb (lower is better)");
    shell_expect(&s, 0, "test ! -e calls");
    shell_close(&s);
}
END_TEST

START_TEST(submission_that_lives_is_refused_by_name)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, STAND_IN "\"$PEAT\" run grid.yaml -o runs --launcher slurm %s", one_cell);
    shell_expect(&s, 2,
                 "STATES='PENDING\\nRUNNING\\nPENDING\\n' " STAND_IN
                 "\"$PEAT\" run grid.yaml -o runs --launcher slurm %s",
                 one_cell);
    ck_assert_str_eq(s.printed.text,
                     "peat: runs is being run by Slurm's job 7 (2 pending, 1 running); wait for "
                     "it, or stop it with `scancel 7`\n");
    shell_expect(&s, 0, "GONE=1 " STAND_IN "\"$PEAT\" run grid.yaml -o runs --launcher slurm %s",
                 one_cell);
    shell_close(&s);
}
END_TEST

START_TEST(refused_submission_changes_no_cell)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" plan grid.yaml -o runs --write %s", one_cell);
    shell_expect(&s, 0,
                 "for c in runs/cells/*/; do printf '{\"state\": \"crashed\", \"reason\": "
                 "\"boom\"}' > $c/end.json; done");
    shell_expect(&s, 2,
                 "REFUSE='invalid partition' " STAND_IN
                 "\"$PEAT\" run grid.yaml -o runs --retry-failed --launcher slurm %s",
                 one_cell);
    assert_printed(&s, "peat: sbatch does not take '");
    assert_printed(&s, "/runs/slurm/array.sbatch': invalid partition\n");
    shell_expect(&s, 0, "\"$PEAT\" status runs");
    assert_printed(&s, "1 cell: 1 crashed");
    shell_expect(&s, 0,
                 STAND_IN "\"$PEAT\" run grid.yaml -o runs --retry-failed --launcher slurm %s",
                 one_cell);
    shell_expect(&s, 0, "\"$PEAT\" status runs");
    assert_printed(&s, "1 cell: 1 done");
    shell_close(&s);
}
END_TEST

START_TEST(missing_slurm_and_too_long_arrays_are_refused)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 2, "PATH=/nonexistent \"$PEAT\" run grid.yaml -o runs --launcher slurm");
    assert_printed(&s, "peat: there is no 'sbatch' here: is Slurm installed?\n");
    shell_expect(&s, 2, STAND_IN "\"$PEAT\" run grid.yaml -o runs --launcher slurm");
    assert_printed(&s, "peat: 6 cells make 6 tasks, and this Slurm takes 4 in an array; set "
                       "run.slurm.cells_per_task to 2 or more\n");
    shell_expect(&s, 0, "test ! -e calls");
    shell_close(&s);
}
END_TEST

/* ---- peat cell ---- */

START_TEST(ranges_and_names_give_the_table_of_a_run)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -o local");
    shell_expect(&s, 0, "\"$PEAT\" plan grid.yaml -o by-cell --write --ids > ids");
    shell_expect(&s, 0, "\"$PEAT\" cell by-cell 1-2 $(head -1 ids) 0 alibi.-.s1");
    assert_printed(&s, "(4/4)");
    shell_expect(&s, 0, "tail -3 ids | xargs -P 2 -I ID \"$PEAT\" cell by-cell ID");
    assert_printed(&s, " is finished");
    assert_same_numbers(&s, "local", "by-cell");
    shell_expect(&s, 2, "\"$PEAT\" cell by-cell 4-6");
    assert_printed(&s, "cells go from 0 to 5, not from 4 to 6");
    shell_expect(&s, 2, "\"$PEAT\" cell by-cell nune.-.s0");
    assert_printed(&s, "did you mean 'none.-.s0'?");
    shell_close(&s);
}
END_TEST

/* The corpus of one cell has gone: it fails and the others do not. */
START_TEST(failed_cell_costs_only_itself_and_can_be_skipped)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0,
                 "cp text.txt other.txt; sed -i 's/^  position.scheme:.*/  task.path: "
                 "[other.txt, text.txt]/; /^report/d' grid.yaml");
    shell_expect(&s, 0, "\"$PEAT\" plan grid.yaml -o runs --write seeds=1");
    shell_expect(&s, 0, "rm other.txt");
    shell_expect(&s, 1, "\"$PEAT\" cell runs 0-1");
    shell_expect(&s, 0, "\"$PEAT\" status runs");
    assert_printed(&s, "2 cells: 1 done, 1 failed");
    shell_expect(&s, 0, "cp text.txt other.txt");
    shell_expect(&s, 1, "\"$PEAT\" cell runs 0-1 --skip-failed");
    assert_printed(&s, "is left as it is: failed");
    shell_expect(&s, 0, "\"$PEAT\" cell runs 0-1");
    shell_close(&s);
}
END_TEST

START_TEST(shards_of_two_machines_merge_into_one_table)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -o whole");
    shell_expect(&s, 0, "\"$PEAT\" run grid.yaml -o one --shard 1/2");
    assert_printed(&s, "3 cells: 3 done");
    shell_expect(&s, 0,
                 "mkdir other && cp grid.yaml text.txt other && cd other && "
                 "\"$PEAT\" run grid.yaml -o ../two --shard 2/2");
    assert_same_numbers(&s, "whole", "one two");
    shell_expect(&s, 0,
                 "\"$PEAT\" results whole | awk -v RS= 'NR <= 2' > a; "
                 "\"$PEAT\" results one two | awk -v RS= 'NR <= 2' | cmp - a; "
                 "grep -q 'learned .* 2$' a");
    shell_expect(&s, 0,
                 "cd other && echo more >> text.txt && \"$PEAT\" run grid.yaml -o ../two "
                 "--shard 2/2");
    shell_expect(&s, 2, "\"$PEAT\" results one two");
    assert_printed(&s, "do not make one table: both have the row ");
    shell_close(&s);
}
END_TEST

/* ---- one cell, two processes ---- */

#define UNTIL(condition)                                                                           \
    "for i in $(seq 200); do " condition " && break; sleep 0.05; done; " condition

START_TEST(cell_that_runs_is_left_by_others)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" plan grid.yaml -o runs --write %s", slow_cell);
    shell_expect(&s, 0,
                 "\"$PEAT\" cell runs 0 --timeout 60 >said 2>&1 & echo $! > pid; " UNTIL(
                     "[ -s runs/cells/*/metrics.jsonl ]"));
    shell_expect(&s, 1, "\"$PEAT\" cell runs 0");
    assert_printed(&s, "left to process ");
    shell_expect(&s, 1, "\"$PEAT\" run grid.yaml -o runs %s", slow_cell);
    assert_printed(&s, "which is running it");
    shell_expect(&s, 0, "\"$PEAT\" status runs");
    assert_printed(&s, "1 cell: 1 running");
    shell_expect(&s, 0,
                 "kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; "
                 "done; test ! -e runs/cells/*/running.json");
    shell_expect(&s, 0, "\"$PEAT\" status runs");
    assert_printed(&s, "1 cell: 1 partial");
    shell_close(&s);
}
END_TEST

/* Batch systems send SIGTERM to every process of a job, so that a cell gets it twice: it still
 * saves where it is. */
START_TEST(cell_told_twice_to_end_saves_where_it_is)
{
    struct shell s;
    open_grid(&s);
    shell_expect(&s, 0, "\"$PEAT\" plan grid.yaml -o runs --write %s", slow_cell);
    shell_expect(&s, 130,
                 "\"$PEAT\" cell runs 0 --timeout 60 --checkpoint-every 0 & pid=$!; " UNTIL(
                     "[ -s runs/cells/*/metrics.jsonl ]") "; kill $(pgrep -P $pid); kill $pid; "
                                                          "kill $(pgrep -P $pid); wait $pid");
    shell_expect(&s, 0, "test -s runs/cells/*/ckpt/*/state.json || ls -R runs/cells");
    ck_assert_msg(!shell_printed(&s, "cells"), "%s", s.printed.text);
    shell_close(&s);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"launch", .seconds = 120},
        TESTS(dry_run_prints_the_scripts_and_makes_nothing, notice_is_a_part_of_short_times,
              dry_run_counts_only_what_is_to_be_done, what_slurm_can_not_do_is_refused,
              submitted_cells_give_the_table_of_a_local_run,
              nothing_left_submits_nothing_and_prints_the_table,
              submission_that_lives_is_refused_by_name, refused_submission_changes_no_cell,
              missing_slurm_and_too_long_arrays_are_refused,
              ranges_and_names_give_the_table_of_a_run,
              failed_cell_costs_only_itself_and_can_be_skipped,
              shards_of_two_machines_merge_into_one_table, cell_that_runs_is_left_by_others,
              cell_told_twice_to_end_saves_where_it_is));
}
