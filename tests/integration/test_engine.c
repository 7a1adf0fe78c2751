/* SPDX-License-Identifier: MIT */
/*
 * test_engine.c: run.engine: torch gives the numbers of PEAT's own engine in all that a cell has,
 * goes on to the same bits after kills, and refuses in one line what it lacks. With --long a grid
 * is killed and stopped in other ways. Skipped where PyTorch is not installed.
 */
#include "support/shell.h"
#include "support/support.h"

static const char kinds[] =
    "version: 2\n"
    "name: kinds\n"
    "defaults:\n"
    "  task: {plugin: copy, symbols: 8}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2, d_ff: 24, dropout: 0.1}\n"
    "  train: {steps: 40, batch: 8, seq_len: 24, lr: 1e-2}\n"
    "  eval: {lengths: [8, 11], tokens: 400, every: 10}\n"
    "  position: {scheme: [rotary, learned], combine: sum}\n"
    "matrix:\n"
    "  kind:\n"
    "    answers: {eval: {halves: true, test: 0}}\n"
    "    two: {model.arch: seq2seq}\n"
    "    both: {task: {plugin: text_pair, path: text.txt}, model: {arch: encoder, head: both, "
    "cls_position: own}, eval.lengths: [15]}\n"
    "    patient: {train.patience: 1, train.lr: 1.0e-6}\n"
    "    short: {train.schedule: wsd}\n"
    "    long: {train.schedule: wsd, train.steps: 80}\n"
    "seeds: 1\n"
    "report: {metric: loss}\n";

static void write_kinds(void)
{
    shell_write("kinds.yaml", kinds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
}

/* Batches, first weights and every value of results of two directories. */
static const char compare[] =
    "import glob, json, sys\n"
    "found = sorted(glob.glob('here/cells/*/result.json'))\n"
    "for path in found:\n"
    "    a, b = (json.load(open(p)) for p in (path, path.replace('here', 'torch', 1)))\n"
    "    assert all(a[k] == b[k] for k in ('batch_hash', 'init_hash')), path\n"
    "    assert len(a['measures']) == len(b['measures'])\n"
    "    for x, y in zip(a['measures'], b['measures']):\n"
    "        u, v = x.pop('value'), y.pop('value')\n"
    "        assert x == y and (u is v or abs(u - v) <= 2e-6 * max(1, abs(u))), (path, x, u, v)\n"
    "    for x, y in zip(a.get('test_stretches', ()), b.get('test_stretches', ()), strict=True):\n"
    "        assert all(abs(u - v) <= 1e-5 * u for u, v in zip(x['nll'], y['nll'])), path\n"
    "assert len(found) == 6, found\n";

TEST(both_engines_measure_the_same)
{
    write_kinds();
    shell_write("compare.py", compare);
    shell_expect(0, "peat run kinds.yaml -o here -q && peat run kinds.yaml -o torch -q -j 2 "
                    "run.engine=torch");
    shell_expect(0, "/usr/bin/python3 compare.py");
    shell_says(0, "6 cells, 6 finished, 0 problems", "peat verify torch");
    /* A finished cell is evaluated again by either, and still says who trained it. */
    shell_expect(0, "peat run kinds.yaml -o torch -q 'kind=[answers]' 'eval.lengths=[8]'");
    shell_says(0, "another program trained 1 of 1 cells (PyTorch ", "peat results torch");
}

/* The lengths of the passes in which a formula turns keys: prompts, then single tokens. */
TEST(answers_are_generated_with_stored_rows)
{
    write_kinds();
    shell_expect(0, "{ echo 'def noted(T):'; echo '    open(\"lengths\", \"a\").write(str(T) + "
                    "chr(10))'; sed 's/^def qkv.*/&\\n    noted(q.shape[2])/' "
                    "\"$PEAT_SOURCE\"/plugins/scheme/rotary/formula.py; } > seen.py; "
                    "cp \"$PEAT_SOURCE\"/plugins/scheme/formulas.py .");
    for (int whole = 0; whole < 2; whole++)
        shell_expect(0,
                     "rm -f lengths; peat run kinds.yaml -o r%d -q run.engine=torch "
                     "'kind=[answers]' \"position.scheme=[[{plugin: rotary, formula: "
                     "$PWD/seen.py}%s]]\" && grep -c '^1$' lengths; test $? = %d",
                     whole, whole ? ", path" : "", whole);
}

/* Autocast rounds what hooks are given; a formula in double is still named. */
TEST(bf16_is_no_fault_of_a_formula)
{
    write_kinds();
    shell_write("double.py", "def qkv(q, k):\n    return q.double(), k.double()\n");
    shell_says(1, "/double.py:1: qkv, layer 0 returned float64, not float32, as q has",
               "peat run kinds.yaml -o r -q run.engine=torch 'kind=[answers]' train.precision=bf16 "
               "train.steps=4 model.qk_norm=layer model.bias=false "
               "'position.scheme=[[fope, alibi_learned], ./double.py]'");
    shell_says(0, "2 cells: 1 done, 1 failed", "peat status r");
}

/* Five kills of a cell after its next checkpoint. */
TEST(kills_change_no_bit)
{
    write_kinds();
    shell_expect(0, "for d in a b; do peat plan kinds.yaml --write -o $d 'kind=[answers]' "
                    "train.steps=400 run.engine=torch run.checkpoint.every=5; done; peat run a -q");
    shell_expect(0, "cd b/cells/*; for i in 1 2 3 4 5; do "
                    "peat cell ../.. 0 --engine torch --checkpoint-every 5 --with-parent $$ & "
                    "was=$(ls ckpt); for j in $(seq 600); do test \"$(ls ckpt)\" = \"$was\" || "
                    "break; sleep 0.1; done; kill -9 $!; wait; done; ls ckpt");
    shell_expect(0,
                 "peat run b -q --retry-failed && grep -q 'continues from step' b/cells/*/log.txt "
                 "&& cmp a/cells/*/ckpt/*/model.safetensors b/cells/*/ckpt/*/model.safetensors "
                 "&& cmp a/cells/*/metrics.jsonl b/cells/*/metrics.jsonl");
}

TEST(an_engine_leaves_the_cells_that_the_other_began)
{
    write_kinds();
    shell_expect(0, "peat plan kinds.yaml --write -o r 'kind=[answers]' train.steps=4000");
    shell_expect(0, INTERRUPTED("peat cell r 0 --checkpoint-every 1 --with-parent $$",
                                ANY("r/cells/*/ckpt/step*")) "; ls r/cells/*/ckpt");
    shell_says(1, " steps are by peat, and this run is by PyTorch ",
               "peat run r -q run.engine=torch");
}

TEST(what_is_missing_is_refused_before_anything_runs)
{
    write_kinds();
    shell_says(2, "'engine' in run must be one of peat, torch, torch.compile, not 'tensorflow'",
               "peat plan kinds.yaml -o r run.engine=tensorflow");
    shell_says(2, "'device: cuda' needs engine: torch", "peat plan kinds.yaml run.device=cuda");
    shell_expect(0, "printf '#!/bin/sh\\nexec /usr/bin/python3 -S \"$@\"\\n' > none; "
                    "chmod +x none");
    shell_says(2, "PyTorch is not there for ",
               "PEAT_PYTHON=./none peat run kinds.yaml -o r run.engine=torch");
    shell_says(2, "finds no CUDA device",
               "CUDA_VISIBLE_DEVICES= peat run kinds.yaml -o r run.engine=torch run.device=cuda");
    shell_expect(0, "$PEAT_PYTHON -c 'import torch; torch.compile' 2>no || { peat run kinds.yaml "
                    "-o r run.engine=torch.compile 2>&1 | grep -q 'torch.compile: PyTorch .* has "
                    "none (PyTorch 2.0'; }");
    shell_says(2, "needs 'nowhere', which PEAT_PYTHON names and is not there",
               "PEAT_PYTHON=nowhere peat run kinds.yaml -o r run.engine=torch");
    shell_expect(0,
                 "! test -e r; peat plugins new idea --kind scheme && ${CC:-cc} -std=c11 -shared "
                 "-fPIC -I\"$PEAT_SOURCE/include\" idea/idea.c -o idea.so -lm");
    shell_says(2, "run.engine: torch computes with formulas, and 'idea' has none: write '",
               "peat run kinds.yaml -o r run.engine=torch position.scheme=./idea.so");
    shell_expect(0, "! test -e r");
}

/* As PyTorch says it on a device, from a formula in the third step; the grid goes on. */
TEST(a_cell_that_lacks_memory_says_what_takes_less)
{
    write_kinds();
    shell_write("large.py",
                "import torch\n"
                "def bias_rel(delta, step):\n"
                "    if step > 2:\n"
                "        raise RuntimeError('CUDA out of memory. Tried to allocate 9 GiB')\n"
                "    return -delta.abs()[None]\n");
    shell_says(1, "CUDA out of memory. Tried to allocate 9 GiB",
               "peat run kinds.yaml -o r -q run.engine=torch 'kind=[answers]' "
               "'position.scheme=[rotary, ./large.py]' train.steps=20");
    assert_printed("; less is taken by a smaller train.batch or train.seq_len");
    shell_says(0, "2 cells: 1 done, 1 oom", "peat status r");
}

/* Whether losses are read after each step or after ten. */
TEST(a_loss_that_is_not_finite_ends_the_cell_at_its_step)
{
    write_kinds();
    shell_write("nan.py", "def bias_rel(delta, step):\n"
                          "    return -delta.abs()[None] * (float('nan') if step == 17 else 1)\n");
    for (int every = 1; every <= 40; every += 39)
        shell_says(
            1, "all cells with kind answers diverged",
            "peat run kinds.yaml -o every%d -q run.engine=torch 'kind=[answers]' eval.every=0 "
            "run.checkpoint.every=%d position.scheme=./nan.py",
            every, every);
    shell_expect(0, "grep -q 'loss is not finite at step 17' every*/cells/*/result.json && "
                    "cmp every*/cells/*/ckpt/step-00000017/model.safetensors");
}

/* ---- a grid that is killed, stopped and short of things ---- */

static const char grid[] = "version: 2\n"
                           "name: grid\n"
                           "defaults:\n"
                           "  task: {plugin: copy, symbols: 8}\n"
                           "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                           "  train: {steps: 600, batch: 4, seq_len: 24, lr: 1e-2}\n"
                           "  eval: {lengths: [8, 11], tokens: 100, every: 200}\n"
                           "matrix: {position.scheme: [none, rotary, alibi]}\n"
                           "seeds: 4\n"
                           "report: {metric: loss}\n"
                           "run: {engine: torch, jobs: 2, threads: 1, checkpoint: {every: 20}}\n";

/* The undisturbed grid in `a`, and its table. */
static void run_grid(const char *settings)
{
    shell_write("grid.yaml", grid);
    shell_expect(0, "peat run grid.yaml -o a -q %s && peat results a > table", settings);
}

static void assert_same_grid(void)
{
    shell_expect(0, "peat results b | diff table -");
    shell_expect(0, "for c in a/cells/*; do for f in ckpt/*/model.safetensors metrics.jsonl; do "
                    "cmp $c/$f b/${c#a/}/$f || exit 1; done; done");
    shell_says(0, " 0 problems", "peat verify b");
}

static const char over[] = "'train.lr=[1e-4, 1e-2]' 'position.scheme=[none, alibi]' seeds=3 "
                           "'report.best_over={axes: train.lr, choose: [0, 1], length: 8}'";

GROUP(interrupted)

/* Of the run, of one of its cells and of the PyTorch of a cell in turn. */
TEST(a_grid_killed_at_five_random_moments_prints_the_undisturbed_table)
{
    run_grid("");
    for (int i = 0; i < 5; i++)
        shell_expect(
            0,
            "was=$(ls b/cells/*/ckpt); peat run grid.yaml -o b -q --retry-failed >out 2>&1 & "
            "run=$! victim=$!; " UNTIL(
                "test \"$(ls b/cells/*/ckpt)\" != \"$was\"") "; sleep $(awk 'BEGIN {srand(%d + "
                                                             "'$$'); print rand()}'); "
                                                             "for up in $(seq %d); do "
                                                             "victim=$(pgrep -P $victim | head "
                                                             "-1); done; "
                                                             "kill -9 $victim $run; wait; true",
            i, i % 3);
    shell_expect(0, "peat run grid.yaml -o b -q --retry-failed");
    shell_expect(0, "grep -q 'continues from step' b/cells/*/log.txt");
    assert_same_grid();
}

TEST(a_full_disk_a_limit_of_time_and_a_second_program_lose_nothing)
{
    run_grid("seeds=1");
    /* Weights are larger than a file may be. */
    shell_says(1, "File too large", "ulimit -f 12; peat run grid.yaml -o b -q seeds=1");
    shell_says(1, "took longer than ",
               "peat run grid.yaml -o b -q seeds=1 --retry-failed "
               "run.timeout=1s");
    shell_says(0, "3 cells: 3 timeout", "peat status b");
    shell_expect(0, "peat run grid.yaml -o b -q seeds=1 --retry-failed");
    assert_same_grid();
    shell_expect(0, "peat run grid.yaml -o c -q seeds=1 train.steps=100000000 >said 2>&1 & "
                    "echo $! > pid; " UNTIL("peat status c | grep -q running"));
    shell_says(2, "is being run by", "peat run grid.yaml -o c -q seeds=1 train.steps=100000000");
    shell_expect(0, "kill -TERM $(cat pid); " UNTIL("! kill -0 $(cat pid) 2>kill"));
}

TEST(a_rate_is_chosen_by_an_interrupted_run_as_by_peat)
{
    run_grid(over);
    shell_expect(130, INTERRUPTED("peat run grid.yaml -o b -q %s", ANY("b/cells/*/ckpt/step*")),
                 over);
    shell_expect(0, "peat run grid.yaml -o b -q %s", over);
    shell_expect(0, "peat results b | diff table -");
    shell_expect(0,
                 "peat run grid.yaml -o c -q run.engine=peat %s && ls b/cells/*/result.json | "
                 "sed s/^b/c/ > theirs && ls c/cells/*/result.json | diff theirs -",
                 over);
}

int main(int argc, char **argv)
{
    struct tests tests = {"engine", shell_open, shell_close, .seconds = 250,
                          .needs = "PEAT PEAT_SOURCE python3-torch"};
    setenv("PEAT_PYTHON", "/usr/bin/python3", 1);
    if (argc > 1 && strcmp(argv[1], "--long") == 0) {
        tests.seconds = 900;
        tests.group = "interrupted";
    }
    return run_tests(tests);
}
