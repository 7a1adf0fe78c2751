/* SPDX-License-Identifier: MIT */
/* test_drift.c: results that mix kernels or libraries say so, within a cell and between cells. */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* ---- within a cell ---- */

static const char experiment[] =
    "version: 1\nname: r\n"
    "defaults:\n  task: {plugin: copy}\n  model: {d_model: 8, n_layer: 1, n_head: 1}\n"
    "  train: {steps: 1000000, batch: 1, seq_len: 16}\n  eval: {tokens: 64}\n"
    "run: {checkpoint: {every: 100}}\n";

/* Shell: a run with the kernels, interrupted when the condition holds, as it still does then. */
#define RUN_UNTIL(core, option, condition)                                                         \
    INTERRUPTED("OPENBLAS_CORETYPE='" core "' peat run r.yaml -q " option " 2>said", condition)    \
    "; " condition

#define CHECKPOINTS "runs/r/cells/*/ckpt/step-????????"
#define NOT_USED                                                                                   \
    "started again from step 0, as the checkpoint of step [1-9][0-9]* is not used: its blas"

#if defined(__x86_64__)
TEST(a_drift_is_refused_unless_allowed_and_then_remembered)
{
    shell_write("r.yaml", experiment);
    shell_expect(0, RUN_UNTIL("Nehalem", "", ANY(CHECKPOINTS "/state.json")));
    shell_expect(0, RUN_UNTIL("Core2", "", "grep '" NOT_USED ".*--allow-drift goes on' said"));
    shell_expect(0, "! grep '\"drift\"' " CHECKPOINTS "/state.json");
    shell_expect(0, "peat status runs/r | grep 'partial .*" NOT_USED "'");
    shell_says(0, "\"restarted\": [\n    {", "peat status runs/r --json");
    /* as when it is stopped by who reads the line */
    shell_expect(0, "rm -r " CHECKPOINTS);
    shell_expect(0, RUN_UNTIL("Core2", "--allow-drift",
                              "grep \"drifts at step .* was '.*Nehalem.*' and is '.*Core2\" "
                              "runs/r/cells/*/log.txt"));
    shell_expect(1, "peat status runs/r | grep 'not used'");
    shell_expect(0, RUN_UNTIL("Nehalem", "--allow-drift",
                              "grep \"drifts at step .* was '.*Core2.*' and is '.*Nehalem\" "
                              "runs/r/cells/*/log.txt"));
    /* both are there, and stay without another */
    shell_says(0, "2\n",
               "grep -o '\"key\": \"blas_core\"' "
               "\"$(ls -d " CHECKPOINTS "/state.json | tail -1)\" | wc -l");
}

#define SHORT "train.steps=3000 train.batch=16"

/* And ends with the bits of one that was never interrupted. */
TEST(a_cell_that_comes_back_to_its_kernels_goes_on_where_it_was)
{
    shell_write("r.yaml", experiment);
    shell_expect(0, "OPENBLAS_CORETYPE=Nehalem peat run r.yaml -q -o whole " SHORT);
    shell_expect(0, RUN_UNTIL("Nehalem", SHORT, ANY(CHECKPOINTS "/state.json")));
    shell_expect(0, RUN_UNTIL("Core2", SHORT, "grep '" NOT_USED "' said"));
    shell_expect(0, "OPENBLAS_CORETYPE=Nehalem peat run r.yaml -q " SHORT);
    shell_expect(0, "cmp whole/cells/*/metrics.jsonl runs/r/cells/*/metrics.jsonl");
    shell_expect(1, "ls runs/r/cells/*/ckpt | grep kept");
}
#endif

/* The same source built again may be another file. */
TEST(a_checkpoint_of_another_plugin_file_is_kept_and_not_gone_on_with)
{
    shell_write("r.yaml", experiment);
    shell_expect(0, RUN_UNTIL("Nehalem", "", ANY(CHECKPOINTS "/state.json")));
    shell_expect(0,
                 "mkdir -p p/task && cp \"$(find \"$PEAT_BUILD\"/lib* -name copy.so)\" p/task && "
                 "printf x >> p/task/copy.so");
    shell_expect(0, "export PEAT_PLUGIN_PATH=$PWD/p; " RUN_UNTIL(
                        "", "--allow-drift", "grep ' is not used: its plugin_set is .copy' said"));
    shell_expect(1, "grep -- --allow-drift said");
    shell_expect(0, "ls -d runs/r/cells/*/ckpt/*.kept-*");
    shell_expect(0, RUN_UNTIL("Nehalem", "", "grep 'continues from step' runs/r/cells/*/log.txt"));
}

TEST(slurm_and_cells_are_told_to_allow_it)
{
    shell_write("r.yaml", "version: 1\nname: r\ndefaults: {task: {plugin: copy}}\n");
    shell_says(0, " --allow-drift ", "peat run r.yaml --launcher slurm -n --allow-drift");
    shell_expect(0, "! peat run r.yaml --launcher slurm -n | grep allow-drift");
    shell_says(0, "--allow-drift", "peat cell --help");
}

/* ---- between cells ---- */

static struct run_maker m;

static void set_kind(int cell, const char *core, const char *host)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{\"engine\":\"0.1.0\",\"gemm\":\"openblas\",\"blas\":\"OpenBLAS 1\","
             "\"blas_core\":\"%s\",\"libm\":\"l\",\"compiler\":\"c\",\"build\":\"b\","
             "\"host\":\"%s\"}",
             core, host);
    run_maker_file(&m, cell, "meta.json", text);
}

/* Cell 2 s + i is row i of seed s. */
static void make_rows(void)
{
    run_maker_open(&m, "grid");
    for (int cell = 0; cell < 4; cell++) {
        run_maker_done(&m, cell % 2 ? "rotary" : "none", "sum", cell / 2, 2.0 + 0.1 * cell, 3.0);
        set_kind(cell, "Zen", "amd1");
    }
}

static const char warning[] = "rows were computed on different kinds of machines";

TEST(a_comparison_that_crosses_kinds_of_machines_says_which)
{
    static const char *const table[] = {"peat results $d", "peat results $d -f md",
                                        "peat results $d -f tex",
                                        "peat compare $d none.sum rotary.sum"};
    make_rows();
    set_kind(1, "Haswell", "intel7");
    set_kind(3, "Zen", "amd2");
    run_maker_finish(&m);
    for (int i = 0; i < 4; i++) {
        shell_expect(0, "d=%s; %s", m.dir, table[i]);
        assert_printed(warning);
        assert_printed("in 1 of 2 seeds");
        assert_printed("run.slurm.constraint");
        assert_printed(i == 1 ? "3 cells (amd1, amd2): blas\\_core Zen"
                              : "3 cells (amd1, amd2): blas_core Zen");
        assert_printed(i == 1 ? "1 cell (intel7): blas\\_core Haswell"
                              : "1 cell (intel7): blas_core Haswell");
    }
    shell_says(0, "\"seeds_crossing_kinds\": 1", "peat results %s -f json", m.dir);
    shell_says(0, "Haswell", "peat results %s -f csv --columns cell,host,blas_core,libm", m.dir);
    shell_expect(0, "peat report %s -o r.html && grep -q '%s' r.html", m.dir, warning);
    run_maker_close(&m);
}

TEST(a_result_that_drifted_is_marked_everywhere)
{
    make_rows();
    run_maker_finish(&m);
    shell_expect(0,
                 "sed -i 's/\"steps\":300,/\"drift\":[{\"step\":50,\"key\":\"blas_core\","
                 "\"from\":\"A\",\"to\":\"B\"},{\"step\":70,\"key\":\"libm\",\"from\":\"C\","
                 "\"to\":\"D\"}],&/' %s/cells/rotary.sum.s0-*/result.json",
                 m.dir);
    static const char what[] =
        "rotary.sum.s0: step 50: blas_core was 'A' and is 'B'; step 70: libm was 'C' and is 'D'";
    shell_says(0, "drifted at step 50: blas_core was 'A'", "peat status %s", m.dir);
    shell_says(0, "\"to\": \"D\"", "peat status %s --json", m.dir);
    shell_says(0, "d: cells of this row went on with other kernels", "peat results %s", m.dir);
    assert_printed(what);
    shell_says(0, " d |", "peat results %s -f md", m.dir);
    shell_says(0, "\\textsuperscript{d}", "peat results %s -f tex", m.dir);
    assert_printed(what);
    shell_says(0, "\"drifted\": 1", "peat results %s -f json", m.dir);
    shell_says(0, "rotary,step 50: blas_core was 'A'",
               "peat results %s -f csv --columns scheme,drift", m.dir);
    shell_expect(0, "peat report %s -o r.html && grep -q 'went on with other kernels' r.html",
                 m.dir);
    run_maker_close(&m);
}

static void finish_without_a_warning(void)
{
    run_maker_finish(&m);
    shell_expect(0, "peat results %s", m.dir);
    ck_assert(!shell_printed(warning));
}

TEST(seeds_that_are_of_one_kind_each_are_compared_without_a_warning)
{
    make_rows();
    set_kind(2, "Haswell", "intel7");
    set_kind(3, "Haswell", "intel7");
    finish_without_a_warning();
    shell_says(0, "\"seeds_crossing_kinds\": 0", "peat results %s -f json", m.dir);
    assert_printed("\"kind\": \"blas_core Haswell\"");
    run_maker_close(&m);
}

/* One row rounds and one does not, on one machine; then the one that rounds is of two kinds. */
TEST(precision_is_no_kind_of_machine)
{
    make_rows();
    set_kind(1, "Zen + bf16 3", "amd1");
    set_kind(3, "Zen + bf16 3", "amd1");
    finish_without_a_warning();
    run_maker_close(&m);

    make_rows();
    set_kind(1, "Zen + bf16 3", "amd1");
    set_kind(3, "Haswell + bf16 3", "intel7");
    run_maker_finish(&m);
    shell_says(0, "in 1 of 2 seeds", "peat results %s", m.dir);
    run_maker_close(&m);
}

int main(void)
{
    return run_tests((struct tests){"drift", shell_open, shell_close, .seconds = 240});
}
