/* SPDX-License-Identifier: MIT */
/*
 * test_torch.c: peat.torch, which is written from docs/checkpoint.md, computes what PEAT does: the
 * first batch of cells of every kind to 1e-9, validation losses, and 20 steps of training to 1e-6.
 * A cell that it trained comes back as one of its run directory. Skipped where PyTorch is not
 * installed.
 */
#include "support/shell.h"
#include "support/support.h"

static const char python[] =
    "OMP_NUM_THREADS=1 PYTHONPATH=\"$PEAT_SOURCE\"/python /usr/bin/python3";

/* ---- the first batch ---- */

/* Exports every cell of `run` with its first batch into the folder `files`. */
static void export_batches(void)
{
    shell_expect(0, "set -e; rm -rf files; mkdir files; for d in run/cells/*; do "
                    "peat export run ${d##*/} --batch -o files/${d##*/}.safetensors; done");
}

static void assert_agree(const char *experiment, int least)
{
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; rm -rf run; "
                    "cp \"$PEAT_SOURCE\"/tests/integration/torch/*.yaml "
                    "\"$PEAT_SOURCE\"/experiments/every-scheme.yaml .");
    shell_expect(0, "peat run %s -o run -j 2 -t 1", experiment);
    export_batches();
    shell_expect(0, "test $(ls files | wc -l) -ge %d", least);
    shell_expect(0, "%s -m peat.torch check files", python);
}

TEST(pytorch_agrees_on_a_dozen_cells)
{
    assert_agree("few.yaml", 12);
}

TEST(a_wrong_number_is_found)
{
    shell_expect(0,
                 "cp -r \"$PEAT_SOURCE\"/python . && sed -i 's/+ eps).sqrt()/+ 2 * eps).sqrt()/' "
                 "python/peat/torch/pieces.py && ! cmp -s python/peat/torch/pieces.py "
                 "\"$PEAT_SOURCE\"/python/peat/torch/pieces.py");
    assert_agree("few.yaml 'kind=[shaw]'", 1);
    shell_says(1, "1 of 1 cells differ by more than 1e-09",
               "OMP_NUM_THREADS=1 PYTHONPATH=python /usr/bin/python3 -m peat.torch check files");
}

TEST(all_cells_agree)
{
    static const struct {
        const char *experiment;
        int least;
    } all[] = {
        {"every-scheme.yaml train.steps=3 model.dropout=0.1", 60},
        {"every-scheme.yaml train.steps=3 model.block=llama model.qk_norm=layer", 60},
        {"kinds.yaml", 220},
        {"combinations.yaml", 160},
        {"variants.yaml", 300},
        {"across.yaml", 10},
        {"patches.yaml", 60},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        assert_agree(all[i].experiment, all[i].least);
}

/* ---- training ---- */

/* A run directory of planned cells. */
static void plan(const char *experiment)
{
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; rm -rf run; "
                    "cp \"$PEAT_SOURCE\"/tests/integration/torch/*.yaml .");
    shell_expect(0, "peat plan %s --write -o run", experiment);
}

static void assert_20_steps(const char *experiment)
{
    plan(experiment);
    shell_expect(0, "%s -m peat.torch check run/cells/* --steps 20", python);
}

TEST(twenty_steps_in_double_agree)
{
    assert_20_steps("few.yaml train.steps=24 train.warmup=3");
    assert_20_steps("few.yaml train.steps=20 train.schedule=wsd train.lr_min=0.2 'kind=[two]' "
                    "'model.freeze=[block.0.*]'");
}

TEST(twenty_steps_of_all_kinds_agree)
{
    assert_20_steps("few.yaml train.steps=30 train.schedule=linear train.clip=0.1");
    assert_20_steps("across.yaml train.steps=20");
    assert_20_steps("patches.yaml train.steps=20");
}

static const char two_seeds[] = "version: 2\n"
                                "name: elsewhere\n"
                                "defaults:\n"
                                "  task: {plugin: text, path: text.txt}\n"
                                "  model: {d_model: 16, n_layer: 1, n_head: 2, d_ff: 24}\n"
                                "  train: {steps: 30, batch: 4, seq_len: 16, lr: 3e-3}\n"
                                "  eval: {lengths: [16, 24], tokens: 96, every: 10}\n"
                                "  position: {scheme: learned, combine: sum}\n"
                                "seeds: 2\n";

/* Seed 0 trained by PyTorch, in so many processes, as torchrun starts them; seed 1 by PEAT. */
static void train_both(int processes)
{
    shell_write("elsewhere.yaml", two_seeds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0, "peat plan elsewhere.yaml --write -o r && peat run elsewhere.yaml -o here");
    shell_expect(0,
                 "export MASTER_ADDR=localhost MASTER_PORT=$((20000 + $$ %% 20000)) WORLD_SIZE=%d; "
                 "for r in $(seq 1 $((WORLD_SIZE - 1))); do "
                 "RANK=$r LOCAL_RANK=$r %s -m peat.torch train r/cells/*s0-* & done; "
                 "RANK=0 %s -m peat.torch train r/cells/*s0-* && wait",
                 processes, python, python);
    shell_expect(0, "peat run elsewhere.yaml -o r");
}

TEST(a_cell_that_pytorch_trained_is_one_of_the_run_directory)
{
    train_both(1);
    shell_says(0, "another program trained 1 of 2 cells (PyTorch ", "peat results r");
    shell_expect(0, "peat results r -f csv | grep -q trained_by && "
                    "! peat results here -f csv | grep -q trained_by");
    shell_says(0, "2 cells, 2 finished, 0 problems", "peat verify r");
    assert_printed("note: learned.sum.s0: another program trained it (PyTorch ");
    shell_says(1, "not comparable: another program trained it (PyTorch ",
               "peat verify r --retrain 2");
    /* The same model but for the order of sums in fp32. */
    shell_expect(0,
                 "%s - <<'end'\n"
                 "import glob, json\n"
                 "a, b = (json.load(open(glob.glob(d + '/cells/*s0-*/result.json')[0]))\n"
                 "        for d in ('r', 'here'))\n"
                 "assert a['batch_hash'] == b['batch_hash'] and a['init_hash'] == b['init_hash']\n"
                 "assert a['untrained'] == b['untrained'] == {'position.0.learned.table': 8}\n"
                 "assert len(a['measures']) == len(b['measures']) == 13\n"
                 "for x, y in zip(a['measures'], b['measures']):\n"
                 "    assert (x['metric'], x['split'], x['length']) == "
                 "(y['metric'], y['split'], y['length'])\n"
                 "    assert abs(x['value'] - y['value']) <= 1e-4 * abs(y['value']), (x, y)\n"
                 "end",
                 python);
    /* Evaluated again, it still says so. */
    shell_expect(0, "peat run elsewhere.yaml -o r 'eval.lengths=[16]' 'eval.every=10'");
    shell_says(0, "another program trained 1 of 2 cells (PyTorch ", "peat results r");
}

/* A scheme that PEAT does not have, from what `plugins new` writes. */
TEST(a_plugin_of_ones_own_is_trained_by_both)
{
    shell_expect(0, "peat plugins new idea --kind scheme && ${CC:-cc} -std=c11 -shared -fPIC "
                    "-I\"$PEAT_SOURCE/include\" idea/idea.c -o idea.so -lm");
    shell_write("elsewhere.yaml", two_seeds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; "
                    "sed -i 's/scheme: learned/scheme: .\\/idea.so/' elsewhere.yaml; "
                    "peat plan elsewhere.yaml --write -o a && peat run elsewhere.yaml -o b");
    shell_says(1, "has no formula: write '", "%s -m peat.torch train a", python);
    shell_expect(0, "cp idea/idea.py .; %s -m peat.torch train a --only idea.sum.s0", python);
    /* A formula that the experiment names is no part of the cell's identity. */
    shell_expect(0,
                 "mv idea.py mine.py; sed 's/scheme: .*combine/scheme: {plugin: .\\/idea.so, "
                 "formula: .\\/mine.py}, combine/' elsewhere.yaml > named.yaml; "
                 "peat plan named.yaml --write -o c && test \"$(ls c/cells)\" = \"$(ls a/cells)\"");
    shell_expect(0,
                 "%s -m peat.torch train c --only idea.sum.s0 && mv mine.py idea.py && "
                 "grep -q '/mine.py\"' c/cells/*s0-*/meta.json",
                 python);
    shell_expect(0, "test $(ls a/cells/*/result.json | wc -l) = 1 && %s -m peat.torch train a",
                 python);
    shell_says(0, "\nPyTorch ", "peat results a b");
    assert_printed("\npeat ");
    shell_says(0, "\ne: ", "peat results a b --baseline trained_by=peat");
    shell_expect(0, "echo '# another' >> idea.py");
    shell_says(1, "/idea.py' differs from the file that it was made with", "peat verify a");
    shell_says(0, "2 stale", "peat plan elsewhere.yaml -o a");
}

/* Rows of one run directory, of which PyTorch trained one. */
TEST(differences_between_two_engines_are_marked)
{
    shell_write("marked.yaml", two_seeds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; "
                    "sed -i 's/scheme: learned, //' marked.yaml; cat >> marked.yaml <<'end'\n"
                    "matrix: {position.scheme: [learned, sinusoidal]}\n"
                    "report:\n"
                    "  baseline: {position.scheme: learned}\n"
                    "  contrasts: [{factor: position.scheme, of: [learned, sinusoidal]}]\n"
                    "claims: [{name: own, direction: less, length: 16, "
                    "contrast: {factor: position.scheme, of: [sinusoidal, learned]}}]\nend");
    shell_expect(0, "peat run marked.yaml -o here && peat plan marked.yaml --write -o r");
    shell_expect(0, "! peat results here | grep -q 'two engines'");
    shell_expect(0, "%s -m peat.torch train r --only 'sinusoidal*' && peat run marked.yaml -o r",
                 python);
    shell_says(0, "\ne: ", "peat results r");
    assert_printed("there are pairs of cells that two engines trained");
    assert_printed("own is about pairs of cells that two engines trained");
}

TEST(a_killed_training_goes_on_to_the_same_bits)
{
    shell_write("elsewhere.yaml", two_seeds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; "
                    "for d in a b; do peat plan elsewhere.yaml --write -o $d train.steps=100 "
                    "seeds=1; done");
    shell_expect(0, "%s -m peat.torch train a", python);
    shell_expect(
        0,
        "%s -m peat.torch train b --every 10 & until ls b/cells/*/torch.pt || ! kill -0 $!; do "
        "sleep 0.05; done; kill -9 $!; wait; test $(ls b/cells/*/torch.pt | wc -l) = 1",
        python);
    shell_expect(0,
                 "%s -m peat.torch train b && ! ls b/cells/*/torch.pt && for c in a/cells/*; do "
                 "cmp $c/ckpt/*/model.safetensors b/${c#a/}/ckpt/*/model.safetensors; done",
                 python);
}

TEST(processes_share_the_rows_of_a_batch)
{
    train_both(2);
    shell_says(0, ", 2 processes): ", "peat results r");
    shell_expect(
        0,
        "%s - <<'end'\n"
        "import glob, json\n"
        "a, b = ([json.loads(line) for line in open(glob.glob(d + "
        "'/cells/*s0-*/metrics.jsonl')[0])]\n"
        "        for d in ('r', 'here'))\n"
        "a, b = ({x['step']: (x['value'], x['grad_norm']) for x in c if x['split'] == 'train'} "
        "for c in (a, b))\n"
        "assert sorted(a) == sorted(b) == [1, 10, 20, 30]\n"
        "assert all(abs(x - y) <= 1e-4 * y for t in a for x, y in zip(a[t], b[t])), (a, b)\n"
        "end",
        python);
}

TEST(a_training_without_the_program_and_wrong_files)
{
    shell_write("elsewhere.yaml", two_seeds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0,
                 "peat plan elsewhere.yaml --write -o r && peat export r 0 --start -o start.st && "
                 "peat export r 0 --feed 1-20 -o a.st && peat export r 0 --feed 21-30 -o b.st");
    shell_expect(0,
                 "PEAT=none %s -m peat.torch train start.st --feed a.st b.st -o trained.st "
                 "--checkpoint torch.pt --every 20",
                 python);
    shell_says(1, "is the training of another cell", "peat cell r 1 --trained trained.st");
    shell_says(1, "is not a training by another program", "peat cell r 0 --trained start.st");
    shell_expect(0, "peat cell r 0 --trained trained.st");
    shell_says(0, "learned.sum.s0 is finished", "peat cell r 0 --trained trained.st");
    /* It goes on from the checkpoint of step 20. */
    shell_expect(
        0,
        "PEAT=none %s -m peat.torch train start.st --feed b.st -o again.st --checkpoint torch.pt",
        python);
    shell_expect(0,
                 "%s -c \"import peat.torch as p; a, b = (p.read_tensors(f + '.st')[0] for f in "
                 "('trained', 'again')); assert all((a[n] == b[n]).all() for n in a)\"",
                 python);
    shell_says(1, "no file of --feed has the batch of step 1",
               "%s -m peat.torch train start.st --feed b.st -o x.st", python);
    shell_says(1, "needs --feed FILE... and -o FILE", "%s -m peat.torch train start.st", python);
    shell_says(1, "is not the folder of a cell", "%s -m peat.torch train r/cells", python);
    shell_says(1, "no cell of 'r' fits --only; there are learned.sum.s0, learned.sum.s1",
               "%s -m peat.torch train r --only 'rotary*'", python);
    shell_says(1, "cannot run 'none'", "PEAT=none %s -m peat.torch train r/cells/*s1-*", python);
}

/* A checkpoint is tensors and JSON: a pickle in its place runs nothing. */
TEST(a_checkpoint_that_is_none_runs_nothing_and_is_one_line)
{
    static const char *const broken[] = {"pickle.pt", "evil.pt", "cut.pt", "empty.pt",
                                         "facts.pt",  "list.pt", "pipe",   "folder"};
    shell_write("elsewhere.yaml", two_seeds);
    shell_write("broken.py",
                "import os, pickle, sys, torch\n"
                "class Evil:\n"
                "    def __reduce__(self):\n"
                "        return os.system, ('touch ran',)\n"
                "whole = torch.load('whole.pt')\n"
                "pickle.dump(Evil(), open('pickle.pt', 'wb'))\n"
                "torch.save(dict(whole, facts=Evil()), 'evil.pt')\n"
                "data = open('whole.pt', 'rb').read()\n"
                "open('cut.pt', 'wb').write(data[:len(data) // 2])\n"
                "open('empty.pt', 'wb')\n"
                "torch.save(dict(whole, facts=whole['facts'].replace('\"done\": 20', '\"done\": "
                "9')), 'facts.pt')\n"
                "torch.save(dict(whole, model=[]), 'list.pt')\n"
                "os.mkfifo('pipe')\n"
                "os.mkdir('folder')\n");
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0,
                 "peat plan elsewhere.yaml --write -o r && peat export r 0 --start -o start.st "
                 "&& peat export r 0 --feed 1-30 -o a.st && peat export r 1 --start -o other.st");
    shell_expect(0,
                 "PEAT=none %s -m peat.torch train start.st --feed a.st -o trained.st "
                 "--checkpoint whole.pt --every 20 && /usr/bin/python3 broken.py",
                 python);
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        shell_says(1, "peat.torch: '",
                   "%s -m peat.torch train start.st --feed a.st -o x.st --checkpoint %s 2>said; "
                   "status=$?; cat said; [ $(wc -l <said) = 1 ] && [ ! -e ran ] && exit $status",
                   python, broken[i]);
        ck_assert_msg(shell_printed("is not a whole checkpoint of peat.torch") ||
                          shell_printed("not a regular file") || shell_printed("is a directory"),
                      "%s: %s", broken[i], shell.printed.text);
    }
    shell_says(1, "'whole.pt' is the checkpoint of another cell",
               "%s -m peat.torch train other.st --feed a.st -o x.st --checkpoint whole.pt", python);
}

/* ---- the package ---- */

TEST(pip_installs_it_with_its_formulas)
{
    if (!is_here("python3-venv"))
        return;
    shell_expect(0, "cp -rL \"$PEAT_SOURCE\"/python . && "
                    "/usr/bin/python3 -m venv --system-site-packages venv && "
                    "venv/bin/pip install -q --no-build-isolation --no-index ./python");
    assert_agree("few.yaml 'kind=[shaw]'", 1);
    shell_expect(0, "PEAT=none OMP_NUM_THREADS=1 venv/bin/python -m peat.torch check files");
    shell_says(0, "False 1.",
               "venv/bin/python -c \"import peat, sys; print('torch' in sys.modules, "
               "peat.__version__)\"");
    shell_expect(0, "venv/bin/python -c 'import peat; peat.diagnose.cells, peat.inspect.scheme, "
                    "peat.plot.forest, peat.report.page'");
    shell_says(0, "tokens are whole numbers [B, T]",
               "venv/bin/python -c \"import glob, peat, torch\n"
               "m = peat.torch.load(glob.glob('files/*')[0], program='none')\n"
               "try: m(torch.tensor([72]))\nexcept peat.torch.Refused as e: print(e)\"");
}

/* ---- messages ---- */

TEST(files_without_a_batch_and_other_files_are_refused)
{
    assert_agree("few.yaml 'kind=[conv]'", 1);
    shell_expect(0, "peat export run 0 -o plain.st && printf text > text.st");
    shell_says(1, "peat.torch: 'plain.st' has no batch: `peat export DIR CELL --batch -o FILE`",
               "%s -m peat.torch check plain.st", python);
    shell_says(1, "peat.torch: 'text.st' is not a safetensors file of PEAT",
               "%s -m peat.torch check text.st", python);
    shell_says(2, "--feed: the cell has 3 steps, and 4 is asked for",
               "peat export run 0 --feed 1-4 -o feed.st");
    shell_says(2, "steps are given as I-J or as one number from 1, not as '0'",
               "peat export run 0 --feed 0 -o feed.st");
    shell_says(2, "--feed writes only batches", "peat export run 0 --feed 1 --start -o feed.st");
}

/* ---- the loss that is reported ---- */

static const char experiment[] = "version: 2\n"
                                 "name: rebuild\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 32, n_layer: 2, n_head: 4}\n"
                                 "  train: {steps: 100, batch: 8, seq_len: 32, lr: 2e-3}\n"
                                 "  eval: {lengths: [32, 64], tokens: 2048}\n"
                                 "matrix:\n"
                                 "  position.scheme: [learned, rotary]\n"
                                 "  position.combine: [sum, concat_split]\n"
                                 "  include:\n"
                                 "  - {position.scheme: learned, position.combine: sum, "
                                 "eval.test: 0}\n";

/* Compares {length: loss} with result.json's measures. */
static const char compare[] =
    "import glob, json, subprocess, sys\n"
    "n = tested = 0\n"
    "for path in sorted(glob.glob('runs/cells/*/result.json')):\n"
    "    result = json.load(open(path))\n"
    "    out = subprocess.run([sys.executable, sys.argv[1], path[:-len('/result.json')]],\n"
    "                         check=True, capture_output=True, text=True).stdout\n"
    "    for length, loss in json.loads(out).items():\n"
    "        of = {m['split']: m['value'] for m in result['measures']\n"
    "              if m['metric'] == 'loss' and m['length'] == int(length)}\n"
    "        ours = of.get('test', of['valid'])\n"
    "        print(result['id'], length, loss, of)\n"
    "        assert abs(ours - loss) <= 1e-5 * abs(loss)\n"
    "        tested += 'test' in of\n"
    "        n += 1\n"
    "assert (n, tested) == (8, 6), (n, tested)\n";

TEST(a_cells_folder_gives_the_loss_that_is_reported)
{
    shell_write("rebuild.yaml", experiment);
    shell_write("compare.py", compare);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0, "peat run rebuild.yaml -o runs -j 2");
    shell_expect(0, "%s compare.py \"$PEAT_SOURCE\"/tests/integration/torch_rebuild.py", python);
}

int main(void)
{
    if (!is_here("PEAT PEAT_SOURCE python3-torch"))
        return SKIPPED;
    return run_tests((struct tests){"torch", shell_open, shell_close, .seconds = 200});
}
