/* SPDX-License-Identifier: MIT */
/*
 * test_launch.c: cells started by something other than `peat run`: xargs, other machines, and a
 * batch system (here a shell script). The same with a real Slurm is in test_slurm.c.
 */
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
    "[ \"$1\" != --version ] || exit 0\n"
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

static void open_grid(void)
{
    shell_open();
    shell_write("grid.yaml", experiment);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; mkdir bin");
    shell_write("bin/sbatch", sbatch);
    shell_write("bin/squeue", squeue);
    shell_write("bin/scontrol", scontrol);
    shell_expect(0, "chmod +x bin/*");
}

/* The csv of results up to `value`: what follows are times, sizes and provenance. Sorted: cells
 * stand directory by directory. */
static char *numbers(const char *dirs)
{
    shell_expect(0,
                 "peat results %s --format csv > all.csv && head -1 all.csv | tr , '\\n' | "
                 "grep -nx value | cut -d: -f1 > last && cut -d, -f1-$(cat last) all.csv | sort",
                 dirs);
    assert_printed(",alibi,");
    return strbuf_detach(&shell.printed);
}

static void assert_same_numbers(const char *one, const char *two)
{
    char *a = numbers(one), *b = numbers(two);
    ck_assert_msg(strcmp(a, b) == 0, "%s:\n%.1500s\n%s:\n%.1500s", one, a, two, b);
    free(a);
    free(b);
}

/* ---- the script ---- */

TEST(dry_run_prints_the_scripts_and_makes_nothing)
{
    static const char *const expected[] = {
        "\n#!/bin/bash\n",
        "#SBATCH --job-name=grid\n",
        "#SBATCH --partition=long\n",
        "#SBATCH --account=lab-1\n",
        "#SBATCH --cpus-per-task=3\n",
        "#SBATCH --mem=4G\n",
        "#SBATCH --constraint=\"zen4&(a|b)\"\n",
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
    shell_expect(0, "PEAT_PLUGIN_PATH='one two' peat run grid.yaml -n --launcher slurm -t 3 -o \"a "
                    "b'%%j \\\"c\" 'run.slurm={partition: long, account: lab-1, constraint: "
                    "zen4&(a|b), memory: 4G, "
                    "cells_per_task: 2, max_parallel: 5, time: 1.5h, extra: [--gres=gpu:1, module "
                    "load blas]}' run.timeout=1m run.checkpoint.every=7 2>&1");
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_printed(expected[i]);
    shell_expect(0, "test $(ls | wc -l) = 3 && test ! -e calls");
}

/* Half an hour is told two minutes before; two minutes a quarter before. */
TEST(notice_is_a_part_of_short_times)
{
    shell_says(0, "#SBATCH --time=2\n#SBATCH --signal=B:USR1@30\n",
               "peat run grid.yaml -n --launcher slurm 'run.slurm={time: 61s}'");
    shell_says(0, "#SBATCH --array=0-5\n#SBATCH --signal=B:USR1@120\n",
               "peat run grid.yaml -n --launcher slurm");
}

TEST(dry_run_counts_only_what_is_to_be_done)
{
    shell_expect(0, "peat run grid.yaml --only 'none.*'");
    shell_says(0, "peat: 4 cells in 4 tasks would be submitted",
               "peat run grid.yaml -n --launcher slurm");
    shell_says(0, "peat: there is nothing to submit",
               "peat run grid.yaml -n --launcher slurm --only 'none.*'");
    shell_says(0, "peat: 6 cells in 6 tasks would be submitted",
               "peat run grid.yaml -n --launcher slurm eval.lengths=64");
}

TEST(what_slurm_can_not_do_is_refused)
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        shell_expect(2, "peat run grid.yaml %s", cases[i].words);
        assert_printed(cases[i].said);
    }
    shell_expect(0, "test ! -e runs");
}

/* ---- submitting, to the stand-in ---- */

TEST(submitted_cells_give_the_table_of_a_local_run)
{
    shell_expect(0, "peat run grid.yaml -o local");
    shell_expect(0, STAND_IN
                 "peat run grid.yaml --launcher slurm -o \"a b'%%j c\" run.slurm.cells_per_task=2");
    assert_printed("peat: 6 cells: 6 submitted\n");
    assert_printed("peat: Slurm's job 7 runs them");
    assert_printed("job 8 prints the table into");
    assert_same_numbers("local", "\"a b'%j c\"");
    shell_expect(0, "peat results \"a b'%%j c\" | cmp - \"a b'%%j c/results.txt\"");
    shell_says(0, "2\n", "grep -c . calls");
    shell_expect(0, "grep -- '--dependency=afterany:7 .*/table.sbatch$' calls");
}

TEST(submitted_cells_of_pytorch_give_the_table_of_a_local_run)
{
#define BY_TORCH "seeds=1 'position.scheme=[none, alibi]' run.engine=torch"
    if (!is_here("python3-torch"))
        return;
    shell_expect(0, "export PEAT_PYTHON=/usr/bin/python3; peat run grid.yaml -o local " BY_TORCH
                    " && " STAND_IN "peat run grid.yaml --launcher slurm -o far " BY_TORCH);
    shell_expect(0, "grep -rq -- '--engine torch --device cpu ' far/slurm");
    assert_same_numbers("local", "far");
}

TEST(nothing_left_submits_nothing_and_prints_the_table)
{
    shell_expect(0, "peat run grid.yaml -o runs %s", one_cell);
    shell_says(0, "1 cell: 1 finished before",
               STAND_IN "peat run grid.yaml -o runs --launcher slurm %s", one_cell);
    assert_printed("bpb on the validation data (lower is better)");
    shell_expect(0, "test ! -e calls");
}

TEST(submission_that_lives_is_refused_by_name)
{
    shell_expect(0, STAND_IN "peat run grid.yaml -o runs --launcher slurm %s", one_cell);
    shell_expect(2,
                 "STATES='PENDING\\nRUNNING\\nPENDING\\n' " STAND_IN
                 "peat run grid.yaml -o runs --launcher slurm %s",
                 one_cell);
    ck_assert_str_eq(shell.printed.text,
                     "peat: runs is being run by Slurm's job 7 (2 pending, 1 running); wait for "
                     "it, or stop it with `scancel 7`\n");
    shell_expect(0, "GONE=1 " STAND_IN "peat run grid.yaml -o runs --launcher slurm %s", one_cell);
}

/* What stands in a file is no option of a program. */
TEST(array_that_is_no_job_number_reaches_no_program)
{
    static const char *const array[] = {"--help", "7 8", "", "_7", "7;8"};
    shell_write("bin/squeue", "#!/bin/sh\ntouch asked\n");
    shell_expect(0, "mkdir -p runs/grid/slurm");
    for (size_t i = 0; i < sizeof(array) / sizeof(*array); i++) {
        shell_expect(0, "echo '{\"array\": \"%s\"}' > runs/grid/slurm/job.json", array[i]);
        shell_says(2,
                   "runs/grid/slurm/job.json' is damaged: 'array' is not the number of a Slurm job",
                   STAND_IN "peat run grid.yaml --launcher slurm");
    }
    shell_expect(0, "test ! -e asked && test ! -e calls");
}

TEST(nodes_of_several_kinds_are_mentioned_unless_one_is_chosen)
{
    static const char dry[] = "PATH=$PWD/bin:$PATH peat run grid.yaml -n --launcher slurm";
    shell_write("bin/sinfo", "#!/bin/sh\necho \"$*\" > asked\nprintf \"$KINDS\"\n");
    shell_expect(0, "chmod +x bin/sinfo");
    shell_says(
        0,
        "peat: nodes differ here (zen2; zen4), and results depend a little on the processor: "
        "run.slurm.constraint keeps the cells on one kind\n",
        "KINDS='zen2\\nzen4\\n' %s 'run.slurm={partition: long}'", dry);
    shell_says(0, "-h -o %f -p long\n", "cat asked");
    shell_expect(0, "KINDS='zen2\\n' %s", dry);
    ck_assert(!shell_printed("nodes differ"));
    shell_expect(0, "KINDS='zen2\\nzen4\\n' %s 'run.slurm={constraint: zen4}'", dry);
    ck_assert(!shell_printed("nodes differ"));
    shell_says(0,
               "nodes differ here (zen2; zen4), and results depend a little on the processor: "
               "run.slurm.constraint",
               "PATH=$PWD/bin:$PATH KINDS='zen2\nzen4\n' peat plan grid.yaml run.launcher=slurm");
    shell_expect(0, "PATH=$PWD/bin:$PATH KINDS='zen2\nzen4\n' peat plan grid.yaml "
                    "run.launcher=local");
    ck_assert(!shell_printed("nodes differ"));
    shell_says(2, "'constraint' in slurm may have letters, digits and ._-:&|*,()[], not ' '",
               "%s 'run.slurm={constraint: zen4 --help}'", dry);
}

TEST(refused_submission_changes_no_cell)
{
    shell_expect(0, "peat plan grid.yaml -o runs --write %s", one_cell);
    shell_expect(0, "for c in runs/cells/*/; do printf '{\"state\": \"crashed\", \"reason\": "
                    "\"boom\"}' > $c/end.json; done");
    shell_expect(2,
                 "REFUSE='invalid partition' " STAND_IN
                 "peat run grid.yaml -o runs --retry-failed --launcher slurm %s",
                 one_cell);
    assert_printed("peat: sbatch refuses '");
    assert_printed("/runs/slurm/array.sbatch': invalid partition\n");
    shell_says(0, "1 cell: 1 crashed", "peat status runs");
    shell_expect(0, STAND_IN "peat run grid.yaml -o runs --retry-failed --launcher slurm %s",
                 one_cell);
    shell_says(0, "1 cell: 1 done", "peat status runs");
}

TEST(missing_slurm_and_too_long_arrays_are_refused)
{
    shell_says(2, "peat: there is no 'sbatch' here: is Slurm installed?\n",
               "peat plan grid.yaml -o runs --write seeds=1 && cp runs/plan.json . && "
               "PATH=/nonexistent \"$PEAT\" run grid.yaml -o runs --launcher slurm");
    shell_expect(0, "cmp plan.json runs/plan.json && rm -r runs");
    shell_says(2,
               "peat: 6 cells make 6 tasks, and this Slurm accepts at most 4 in an array; set "
               "run.slurm.cells_per_task to 2 or more\n",
               STAND_IN "peat run grid.yaml -o runs --launcher slurm");
    shell_expect(0, "test ! -e calls");
}

/* ---- peat cell ---- */

TEST(ranges_and_names_give_the_table_of_a_run)
{
    shell_expect(0, "peat run grid.yaml -o local");
    shell_expect(0, "peat plan grid.yaml -o by-cell --write --ids > ids");
    shell_says(0, "(4/4)", "peat cell by-cell 1-2 $(head -1 ids) 0 alibi.-.s1");
    shell_says(0, " is finished", "tail -3 ids | xargs -P 2 -I ID peat cell by-cell ID");
    assert_same_numbers("local", "by-cell");
    shell_says(2, "cells go from 0 to 5, not from 4 to 6", "peat cell by-cell 4-6");
    shell_says(2, "did you mean 'none.-.s0'?", "peat cell by-cell nune.-.s0");
}

/* The corpus of one cell has gone: it fails and the others do not. */
TEST(failed_cell_costs_only_itself_and_can_be_skipped)
{
    shell_expect(0, "cp text.txt other.txt; sed -i 's/^  position.scheme:.*/  task.path: "
                    "[other.txt, text.txt]/; /^report/d' grid.yaml");
    shell_expect(0, "peat plan grid.yaml -o runs --write seeds=1");
    shell_expect(0, "rm other.txt");
    shell_expect(1, "peat cell runs 0-1");
    shell_says(0, "2 cells: 1 done, 1 failed", "peat status runs");
    shell_expect(0, "cp text.txt other.txt");
    shell_says(1, "is left as it is: failed", "peat cell runs 0-1 --skip-failed");
    shell_expect(0, "peat cell runs 0-1");
}

TEST(shards_of_two_machines_merge_into_one_table)
{
    shell_expect(0, "peat run grid.yaml -o whole");
    shell_says(0, "3 cells: 3 done", "peat run grid.yaml -o one --shard 1/2");
    shell_expect(0, "mkdir other && cp grid.yaml text.txt other && cd other && "
                    "peat run grid.yaml -o ../two --shard 2/2");
    assert_same_numbers("whole", "one two");
    shell_expect(0, "peat results whole | awk -v RS= 'NR <= 2' > a; "
                    "peat results one two | awk -v RS= 'NR <= 2' | diff - a && "
                    "grep -q 'over 2 seeds' a");
    shell_expect(0,
                 "cd other && echo more >> text.txt && peat run grid.yaml -o ../two --shard 2/2");
    shell_says(2, "do not make one table: both have the row ", "peat results one two");
}

/* ---- one cell, two processes ---- */

TEST(shard_without_cells_says_so)
{
    shell_says(0, "peat: shard 7 of 9 has none of the 6 cells\n",
               "peat run grid.yaml --shard 7/9 2>&1");
    shell_says(0, "peat: shard 2 of 2 has none of the 1 cell\n",
               "peat run grid.yaml -o one --shard 2/2 %s 2>&1", one_cell);
}

TEST(edited_configuration_is_told_from_changed_data)
{
    shell_expect(0, "peat plan grid.yaml --write %s", one_cell);
    shell_expect(0, "cp -r runs/grid before && sed -i -z -e 's/\"batch\": 2/\"batch\": 3/' "
                    "-e 's/,[ \\n]*\"check\": *\"[0-9a-f]*\"//' runs/grid/cells/*/config.json");
    shell_says(1, "config.json' was changed by hand", "peat cell runs/grid 0");
    shell_expect(0, "rm -r runs/grid && mv before runs/grid && echo more >> text.txt");
    shell_says(1, "the data or a plugin has changed", "peat cell runs/grid 0");
}

TEST(cell_that_runs_is_left_by_others)
{
    shell_expect(0, "peat plan grid.yaml -o runs --write %s", slow_cell);
    shell_expect(0, "peat cell runs 0 --timeout 60 >said 2>&1 & echo $! > pid; " UNTIL(
                        "[ -s runs/cells/*/metrics.jsonl ]"));
    shell_says(1, "left to process ", "peat cell runs 0");
    shell_says(1, "is being run by", "peat run grid.yaml -o runs %s", slow_cell);
    shell_says(0, "1 cell: 1 running", "peat status runs");
    shell_expect(0, "kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; "
                    "done; test ! -e runs/cells/*/running.json");
    shell_says(0, "1 cell: 1 partial", "peat status runs");
}

/* Batch systems send SIGTERM to every process of a job, so that a cell gets it twice: it still
 * saves where it is. */
TEST(cell_told_twice_to_end_saves_where_it_is)
{
    shell_expect(0, "peat plan grid.yaml -o runs --write %s", slow_cell);
    shell_expect(130,
                 "peat cell runs 0 --timeout 60 --checkpoint-every 0 & pid=$!; " UNTIL(
                     "[ -s runs/cells/*/metrics.jsonl ]") "; kill $(pgrep -P $pid); kill $pid; "
                                                          "kill $(pgrep -P $pid); wait $pid");
    shell_expect(0, "test -s runs/cells/*/ckpt/*/state.json || ls -R runs/cells");
    ck_assert_msg(!shell_printed("cells"), "%s", shell.printed.text);
}

int main(void)
{
    return run_tests((struct tests){"launch", open_grid, shell_close, .seconds = 120});
}
