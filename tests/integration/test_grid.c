/* SPDX-License-Identifier: MIT */
/*
 * test_grid.c: whole grids by the program: the same bits at any parallelism and after any
 * interruption, nothing trained twice, plugins from outside the tree.
 */
#include "support/shell.h"
#include "support/support.h"

/* Two schemes with different hooks, two combinations, two tasks' worth of evaluation lengths. */
static const char experiment[] = "version: 1\n"
                                 "name: grid\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 16, n_layer: 2, n_head: 2, dropout: 0.1}\n"
                                 "  train: {steps: 60, batch: 4, seq_len: 16, lr: 2e-3}\n"
                                 "  eval: {every: 20, lengths: [16, 32], tokens: 256}\n"
                                 "matrix:\n"
                                 "  position.scheme: [learned, alibi, [sinusoidal, rotary]]\n"
                                 "  position.combine: [sum, concat_split]\n"
                                 "seeds: 2\n"
                                 "run: {checkpoint: {every: 30}}\n";

static void open_grid(void)
{
    shell_open();
    shell_write("grid.yaml", experiment);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
}

/* What a run came to, without times and memory: one line of every file that must not change. */
#define FINGERPRINT                                                                                \
    "for c in %s/cells/*/; do cat $c/metrics.jsonl; "                                              \
    "grep -o '\"weights_hash\": *\"[^\"]*\"' $c/result.json; done"

static char *fingerprint(const char *dir)
{
    shell_says(0, "weights_hash", FINGERPRINT, dir);
    return strbuf_detach(&shell.printed);
}

static void assert_same(const char *one, const char *two)
{
    char *a = fingerprint(one), *b = fingerprint(two);
    ck_assert_msg(strcmp(a, b) == 0, "%s and %s differ", one, two);
    free(a);
    free(b);
}

TEST(jobs_and_threads_do_not_change_a_bit)
{
    shell_expect(0, "peat run grid.yaml -o one -j 1 -t 1");
    shell_expect(0, "peat run grid.yaml -o two -j 2 -t 1");
    shell_expect(0, "peat run grid.yaml -o three -j 1 -t 2");
    assert_same("one", "two");
    assert_same("one", "three");
    shell_says(0, " at a time, ", "peat run grid.yaml -o four -j auto -t auto");
    assert_same("one", "four");
    shell_says(0, "1 at a time, ",
               "taskset -c $(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/') "
               "peat run grid.yaml -o five run.jobs=auto run.threads=auto");
    assert_same("one", "five");
}

TEST(an_interrupted_run_goes_on_to_the_same_bits)
{
    shell_expect(0, "peat run grid.yaml -o whole -j 2 train.steps=400");
    shell_expect(130, "peat run grid.yaml -o cut -j 2 train.steps=400 & pid=$!; sleep 1; "
                      "kill -TERM $pid; wait $pid");
    shell_expect(0, "peat status cut");
    shell_expect(0, "peat run grid.yaml -o cut -j 2 train.steps=400");
    assert_same("whole", "cut");
}

#if defined(__x86_64__)
/* Shell: a run that is interrupted when the condition holds, as it still does then. */
#define RUN_UNTIL(environment, condition)                                                          \
    INTERRUPTED(environment " peat run grid.yaml -o cut position.scheme=none seeds=1 "             \
                            "position.combine=sum train.steps=1000000 run.checkpoint.every=5",     \
                condition)                                                                         \
    "; " condition

/* The provider may leave small products to another library: its kernels decide bits too. */
TEST(a_run_that_is_resumed_with_other_kernels_starts_again_and_says_so)
{
    shell_expect(0,
                 RUN_UNTIL("OPENBLAS_CORETYPE=Nehalem", ANY("cut/cells/*/ckpt/step-*/state.json")));
    shell_expect(0, RUN_UNTIL("OPENBLAS_CORETYPE=Core2",
                              "grep \"its blas.* is 'Nehalem', and this run's is 'Core2'\" "
                              "cut/cells/*/log.txt"));
}

/* glibc picks variants of exp and its like by the CPU, and they round differently. */
TEST(a_run_that_is_resumed_with_other_mathematics_starts_again_and_says_so)
{
    if (shell_run("grep -qw fma /proc/cpuinfo && getconf GNU_LIBC_VERSION") != 0) {
        printf("skipped: there is but one variant here\n");
        return;
    }
    shell_expect(0, RUN_UNTIL("GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4",
                              ANY("cut/cells/*/ckpt/step-*/state.json")));
    shell_expect(0, RUN_UNTIL("", "grep \"its libm is '.*', and this run's is '.*'\" "
                                  "cut/cells/*/log.txt"));
}
#endif

/* Cells are killed at several moments, and then the parent: its search for leaks, if it is
 * sanitized, waits for ever for a helper process that was killed with its children. Running again
 * ends in the same bits. */
TEST(killed_cells_go_on_to_the_same_bits)
{
    shell_expect(0, "peat run grid.yaml -o whole -j 2");
    shell_expect(0, "for t in 0.05 0.1 0.2 0.3 0.4; do peat run grid.yaml -o cut -j 2 "
                    "run.checkpoint.every=7 >/dev/null 2>&1 & pid=$!; sleep $t; "
                    "pkill -KILL -P $pid; kill -KILL $pid; wait $pid; "
                    "test $? = 137 && killed=1; done; test -n \"$killed\"");
    shell_expect(0, "peat run grid.yaml -o cut -j 2 run.checkpoint.every=7 --retry-failed");
    assert_same("whole", "cut");
}

TEST(a_second_run_trains_nothing_and_prints_the_same_table)
{
    shell_expect(0, "peat run grid.yaml -o runs -j 2 2>/dev/null");
    char *first = strbuf_detach(&shell.printed);
    shell_expect(0, "find runs -name result.json -printf '%%T@ %%p\\n' | sort > before");
    shell_expect(0, "peat run grid.yaml -o runs -j 2 2>/dev/null");
    ck_assert_msg(strcmp(first, shell.printed.text) == 0, "first:\n%s\nsecond:\n%s", first,
                  shell.printed.text);
    shell_expect(0, "find runs -name result.json -printf '%%T@ %%p\\n' | sort | cmp - before");
    free(first);
}

TEST(new_evaluation_lengths_do_not_retrain)
{
    shell_expect(0,
                 "peat run grid.yaml -o runs position.scheme=alibi seeds=1 position.combine=sum");
    shell_expect(0, "grep -ho '\"weights_hash\": *\"[^\"]*\"' runs/cells/*/result.json > a");
    shell_expect(0, "peat run grid.yaml -o runs position.scheme=alibi seeds=1 position.combine=sum "
                    "'eval.lengths=[16, 64]'");
    shell_expect(0, "grep -ho '\"weights_hash\": *\"[^\"]*\"' runs/cells/*/result.json | "
                    "cmp - a");
    shell_says(0, ",valid,64,", "peat results runs --format csv");
}

static const char outside[] =
    "#include <peat/plugin.h>\n"
    "static peat_node *bias_rel(const peat_call *c, const peat_rel *r)\n"
    "{\n"
    "    peat_node *distance = peat_fill(c, 2, (int64_t[]){1, r->n}, r->delta);\n"
    "    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->H, 1});\n"
    "    return peat_mul(c->g, w, peat_tanh(c->g, distance));\n"
    "}\n"
    "static peat_status setup(peat_setup *s, const void *config, void **self)\n"
    "{\n"
    "    (void)config;\n"
    "    (void)self;\n"
    "    peat_param_new(s, \"w\", 1, (int64_t[]){PEAT_HEADS},\n"
    "                   (peat_init){.kind = PEAT_INIT_CONSTANT, .a = 0.1}, PEAT_PER_LAYER, 0);\n"
    "    return PEAT_OK;\n"
    "}\n"
    "static const peat_scheme scheme = {\n"
    "    .size = sizeof(scheme), .setup = setup, .bias_rel = bias_rel};\n"
    "PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, \"slant\", \"1\", \"a slanted bias\", \"MIT\", \"\")\n";

TEST(a_scheme_from_outside_trains_by_path)
{
    shell_write("slant.c", outside);
    shell_expect(0, "${CC:-cc} -std=c11 -shared -fPIC -I\"$PEAT_SOURCE\"/include slant.c -o "
                    "slant.so -lm -Wl,-z,defs");
    shell_expect(0, "peat run grid.yaml -o runs 'position.scheme=[none, {plugin: ./slant.so}]' "
                    "position.combine=sum");
    assert_printed("slant");
    shell_expect(0, "test $(find runs -name result.json | wc -l) = 4");
}

TEST(a_diverging_cell_is_a_result)
{
    shell_says(1, "peat: no value: all cells with scheme none diverged\n",
               "peat run grid.yaml -o runs position.scheme=none seeds=1 train.lr=100 "
               "train.clip=0 train.steps=200");
    shell_expect(0, "grep -q '\"state\": \"diverged\"' runs/cells/*/result.json");
}

TEST(sequence_tasks_are_scored_by_generation)
{
    shell_expect(0, "peat run grid.yaml -o runs 'task={plugin: copy, symbols: 3}' "
                    "'eval.lengths=[3, 6]' position.combine=sum seeds=1 -j 2");
    shell_says(0, ",exact_match,valid,6,", "peat results runs --format csv");
    assert_printed(",token_accuracy,valid,3,");
}

/* Cells without a combination, and the twin without positions that each is compared with, have
 * the segments' stream too. */
TEST(tasks_with_segments_run_in_a_grid)
{
    shell_expect(0, "peat run grid.yaml -o runs 'task={plugin: text_pair, path: text.txt}' "
                    "model.arch=encoder 'position.scheme=[none, learned, alibi]' "
                    "'eval.lengths=[16, 32]' train.steps=20 seeds=1 -j 2");
    shell_expect(0, "test $(find runs -name result.json | wc -l) = 4");
    shell_says(0, ",order_accuracy,valid,32,", "peat results runs --format csv");
    assert_printed("none,-,");
    assert_printed("learned,concat_split,");
}

int main(void)
{
    return run_tests((struct tests){"grid", open_grid, shell_close, .seconds = 240});
}
