/* SPDX-License-Identifier: MIT */
/*
 * test_slurm.c: grids on a real Slurm, which this test starts and stops. What needs none is in
 * test_launch.c.
 */
#include "support/one_node_slurm.h"
#include "support/shell.h"
#include "support/support.h"

/* Twelve cells; `slow` dawdles until the file "open" is there, so that it is met on its way, and
 * `boom` ends its process. */
static const char experiment[] =
    "version: 1\n"
    "name: grid\n"
    "defaults:\n"
    "  task: {plugin: text, path: text.txt}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2, dropout: 0.1}\n"
    "  train: {steps: 40, batch: 2, seq_len: 16}\n"
    "  eval: {lengths: [16, 32], tokens: 256}\n"
    "matrix:\n"
    "  position.scheme: [none, {plugin: ./slow.so}, rotary, "
    "sinusoidal, alibi, {plugin: ./boom.so}]\n"
    "overrides:\n"
    "  - {when: {position.scheme: ./slow.so}, set: {train.steps: 2000}}\n"
    "seeds: 2\n"
    "run: {launcher: slurm, slurm: {cells_per_task: 2, time: 10m}}\n";

static const char boom[] =
    "#include <stdlib.h>\n"
    "#include <peat/plugin.h>\n"
    "static bool infer(const peat_op_call *c, peat_shape *out)\n"
    "{\n"
    "    *out = c->src[0].shape;\n"
    "    return true;\n"
    "}\n"
    "static int64_t units(const peat_op_call *c) { return c->n_src; }\n"
    "static void kernel(const peat_op_call *c, int64_t begin, int64_t end)\n"
    "{\n"
    "    if (c->n_src > 0 && begin < end)\n"
    "        abort();\n"
    "}\n"
    "static const peat_op op = {.size = sizeof(op), .name = \"boom\", .infer = infer,\n"
    "                           .units = units, .forward = kernel, .backward = kernel};\n"
    "static peat_node *residual(const peat_call *c, peat_node *x)\n"
    "{\n"
    "    return peat_custom(c->g, &op, 1, &x, NULL, 0);\n"
    "}\n"
    "static const peat_scheme scheme = {.size = sizeof(scheme), .residual = residual};\n"
    "PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, \"boom\", \"1\", \"ends its process\", \"MIT\", "
    "\"\")\n";

/* Steps end, so that a cell that is asked to stop can save. */
static const char slow[] =
    "#include <time.h>\n"
    "#include <unistd.h>\n"
    "#include <peat/plugin.h>\n"
    "static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])\n"
    "{\n"
    "    const struct timespec nap = {0, 50 * 1000 * 1000};\n"
    "    (void)shared;\n"
    "    if (c->step > 20 && access(\"open\", F_OK) != 0)\n"
    "        nanosleep(&nap, NULL);\n"
    "    return PEAT_OK;\n"
    "}\n"
    "static peat_node *residual(const peat_call *c, peat_node *x)\n"
    "{\n"
    "    return peat_scale(c->g, x, 1.25);\n"
    "}\n"
    "static const peat_scheme scheme = {\n"
    "    .size = sizeof(scheme), .prepare = prepare, .residual = residual};\n"
    "PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, \"slow\", \"1\", \"takes its time\", \"MIT\", \"\")\n";

#define COMPILE(name)                                                                              \
    "${CC:-cc} -std=c11 -D_GNU_SOURCE -shared -fPIC -I\"$PEAT_SOURCE\"/include " name              \
    ".c -o " name ".so -lm"

static void open_grid(void)
{
    shell_open();
    shell_write("grid.yaml", experiment);
    shell_write("boom.c", boom);
    shell_write("slow.c", slow);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt && " COMPILE(
                        "boom") " && " COMPILE("slow"));
}

/* The csv of results up to `value`: what follows are times, sizes and provenance. */
#define NUMBERS                                                                                    \
    "results '%s' --format csv > all.csv && head -1 all.csv | tr , '\\n' | grep -nx value | "      \
    "cut -d: -f1 > last && cut -d, -f1-$(cat last) all.csv"

static char *numbers(const char *dir)
{
    shell_says(0, ",alibi,", "peat " NUMBERS, dir);
    return strbuf_detach(&shell.printed);
}

static char *weights(const char *dir)
{
    shell_expect(
        0,
        "for c in '%s'/cells/*/; do cat \"$c\"/metrics.jsonl; "
        "grep -o '\"weights_hash\": *\"[^\"]*\"' \"$c\"/result.json; done 2>/dev/null; true",
        dir);
    assert_printed("weights_hash");
    return strbuf_detach(&shell.printed);
}

static void assert_equal(char *(*of)(const char *), const char *one, const char *two)
{
    char *a = of(one), *b = of(two);
    ck_assert_msg(strcmp(a, b) == 0, "%s and %s differ:\n%.1000s\n%.1000s", one, two, a, b);
    free(a);
    free(b);
}

static void note_job(const char *dir)
{
    shell_expect(0, "grep -o '\"array\": *\"[0-9]*\"' '%s'/slurm/job.json | tr -dc 0-9 > job", dir);
}

/* One task is put back by Slurm, which ends all its processes; another is told that its time is
 * nearly up, and puts itself back. */
#define WAS_PUT_BACK "scontrol show job $(cat job)_%d | grep -q 'Restarts=[1-9]'"

static void put_back(void)
{
    shell_expect(0, UNTIL("[ -s 'by slurm'/cells/*slow*s0-*/metrics.jsonl ]"));
    shell_expect(0, "scontrol requeue $(cat job)_0");
    shell_expect(0, UNTIL("[ -s 'by slurm'/cells/*slow*s1-*/metrics.jsonl ]"));
    shell_expect(0, "scancel --batch --signal=USR1 $(cat job)_3");
    for (int task = 0; task <= 3; task += 3)
        shell_expect(0, UNTIL(WAS_PUT_BACK), task);
    shell_expect(0, "touch open");
}

TEST(array_with_tasks_put_back_gives_the_table_of_a_local_run)
{
    shell_says(0, "12 cells: 12 submitted", "peat run grid.yaml -o 'by slurm'");
    note_job("by slurm");
    put_back();
    shell_expect(1, "peat run grid.yaml -o local --launcher local -j 2");
    shell_expect(0, UNTIL("[ -z \"$(squeue -h)\" ]"));
    shell_says(0, "12 cells: 10 done, 2 crashed", "peat status 'by slurm'");
    for (int seed = 0; seed < 2; seed++)
        shell_expect(0, "grep 'continues from step' 'by slurm'/cells/*slow*s%d-*/log.txt", seed);
    shell_expect(0, "grep 'DUE TO JOB REQUEUE' 'by slurm'/slurm/$(cat job)_0.log");
    shell_expect(0, "scontrol show job $(cat job)_2 | grep 'ExitCode=1:0'");
    assert_equal(numbers, "local", "by slurm");
    assert_equal(weights, "local", "by slurm");
    shell_expect(0, "peat results 'by slurm' | cmp - 'by slurm/results.txt'");
}

/* A task that was put back leaves alone what crashed in it before. */
TEST(task_put_back_does_not_repeat_its_crashes)
{
    shell_expect(
        0, "peat run grid.yaml -o runs seeds=1 'position.scheme=[{plugin: ./boom.so}, {plugin: "
           "./slow.so}]'");
    note_job("runs");
    shell_expect(0, UNTIL("[ -s runs/cells/*slow*/metrics.jsonl ]"));
    shell_expect(0, "scontrol requeue $(cat job)_0");
    shell_expect(0, UNTIL(WAS_PUT_BACK), 0);
    shell_expect(0, "touch open");
    shell_expect(0, UNTIL("[ -z \"$(squeue -h)\" ]"));
    shell_expect(0, "grep 'boom.*left as it is: crashed' runs/slurm/*_0.log");
    shell_expect(0, "grep 'continues from step' runs/cells/*slow*/log.txt");
}

TEST(second_submission_is_refused_while_the_first_lives)
{
    shell_expect(0, "peat run grid.yaml -o runs position.scheme=none seeds=2 'run.slurm={extra: "
                    "--begin=now+300}'");
    shell_says(2, "peat: runs is being run by Slurm's job ",
               "peat run grid.yaml -o runs position.scheme=none seeds=2");
    assert_printed("(2 pending); wait for it");
    shell_expect(0, "scancel -u $(id -un); " UNTIL("[ -z \"$(squeue -h)\" ]"));
    shell_expect(0, "peat run grid.yaml -o runs position.scheme=none seeds=2");
    shell_expect(0, UNTIL("[ -z \"$(squeue -h)\" ]"));
    shell_says(0, "2 cells: 2 finished before",
               "peat run grid.yaml -o runs position.scheme=none seeds=2 2>&1");
}

/* MaxArraySize is 101 here. */
TEST(longer_array_than_slurm_takes_is_refused_with_a_way_out)
{
    shell_expect(2, "peat run grid.yaml -o runs position.scheme=none seeds=150 run.slurm={}");
    assert_printed("150 cells make 150 tasks, and this Slurm accepts at most 101 in an array; set "
                   "run.slurm.cells_per_task to 2 or more");
    shell_expect(0, "test -z \"$(squeue -h)\"");
}

static int run_here(void)
{
    return run_tests((struct tests){"slurm", open_grid, shell_close, .seconds = 600});
}

/* The daemons are this process's: they outlive a test that fails. */
int main(void)
{
    struct one_node_slurm slurm;
    const char *missing = one_node_missing();
    if (missing)
        return skip_all(missing);
    int code = one_node_open(&slurm) ? run_here() : EXIT_FAILURE;
    one_node_close(&slurm);
    return code;
}
