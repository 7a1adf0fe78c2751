/* SPDX-License-Identifier: MIT */
/*
 * test_python.c: the package of Python reads a run directory as peat does: its table of values is
 * that of `peat results --format csv`, its weights those of `peat export`, and the notebook runs.
 * Skipped where pandas is not installed.
 */
#include "support/shell.h"
#include "support/support.h"

static const char python[] = "PYTHONPATH=\"$PEAT_SOURCE\"/python /usr/bin/python3";

static const char experiment[] = "version: 2\n"
                                 "name: small\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 20, batch: 2, seq_len: 8}\n"
                                 "  eval: {lengths: [8, 12], tokens: 96}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "  position.combine: [sum, concat_split]\n"
                                 "  train.lr: [1e-3, 2e-3]\n"
                                 "seeds: 2\n";

static void open_run(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "seq 3000 >text.txt && peat run e.yaml -q -o r");
}

/* Runs Python; `peat` is imported there. */
static void run_python(const char *code)
{
    shell_write("code.py", code);
    shell_expect(0, "%s -c 'import peat, pandas; exec(open(\"code.py\").read())'", python);
}

TEST(values_are_those_of_the_csv)
{
    shell_expect(0, "peat results r -f csv > r.csv");
    run_python(
        "run, csv = peat.open('r'), pandas.read_csv('r.csv')\n"
        "assert len(csv) == 12 * 13 and run.axes == ['scheme', 'combine', 'train.lr'], run.axes\n"
        "for split in ('test', 'valid', 'train'):\n"
        "    ours = run.results(split=split).set_index('cell')\n"
        "    said = csv[csv.split == split]\n"
        "    assert len(ours) == 12 and list(ours['train.lr'].unique()) == ['1e-3', '2e-3']\n"
        "    assert sum(ours[c].count() for c in ours if '@' in c) == len(said) > 0\n"
        "    for one in said.itertuples():\n"
        "        a = ours.at[one.cell, f'{one.metric}@{one.length}']\n"
        "        assert abs(a - one.value) <= 1e-12 * abs(a), one\n"
        "assert [c for c in run.results(metric='bpb', length=8) if '@' in c] == ['bpb@8']\n"
        "assert (run.results()['bpb@8'] == run.results(split='test')['bpb@8']).all()\n");
}

TEST(tables_are_those_of_the_program)
{
    shell_expect(0, "peat results r > said");
    run_python("import json\n"
               "run = peat.open('r')\n"
               "assert str(run) == open('said').read() and repr(run) == \"peat.open('r')\"\n"
               "table = run.table()\n"
               "assert len(table) == 2 * len(table.attrs['text']) == 12, len(table)\n"
               "assert table.attrs['title'] == open('said').readline().strip()\n"
               "one, row = table.iloc[0], run.results()\n"
               "own = row[[scheme == 'none' and lr == '1e-3' for scheme, lr in zip(row.scheme, "
               "row['train.lr'])]]\n"
               "assert abs(one['mean'] - own['bpb@8'].mean()) < 1e-12, one\n"
               "assert len(run.contrasts()) == len(run.claims()) == 0\n"
               "again = peat.run('e.yaml', {'train.lr': [1e-3], 'seeds': 1}, folder='again', "
               "only='none*')\n"
               "assert list(again.cells.status).count('done') == 1, again.cells\n");
}

TEST(cells_that_are_not_finished_have_their_state)
{
    shell_expect(0, "set -- r/cells/*; rm $1/result.json; echo >> $2/metrics.jsonl; "
                    "printf '{\"state\": \"failed\"}' > $1/end.json; rm $3/result.json; "
                    "printf '{\"state\": \"interrupted\"}' > $3/end.json");
    run_python("t = peat.open('r').cells\n"
               "assert len(t) == 12 and t.cell.is_unique\n"
               "assert dict(t.status.value_counts()) == {'done': 9, 'failed': 1, 'damaged': 1, "
               "'partial': 1}, "
               "t.status\n"
               "assert (t[t.status == 'done'].wall_s > 0).all() and (t.params > 0).all()\n"
               "assert len(peat.open('r').results()) == 9\n"
               "assert peat.open('r', 'r').cells.shape[0] == 24\n");
}

TEST(curves_that_a_bundle_thinned_are_those_of_their_cells)
{
    shell_expect(0,
                 "peat run e.yaml -q -o long --only none* train.steps=400 seeds=1 && "
                 "peat bundle long -o x.tar.gz && tar xf x.tar.gz && set -- small/cells/none* && "
                 "ls $1/thinned.json && sed -i '2s/\"value\":./\"value\":9/' $1/metrics.jsonl");
    run_python("t = peat.open('small').cells\n"
               "assert sorted(t.status) == ['damaged', 'done'] + 4 * ['todo'], t.status\n");
}

TEST(curves_and_weights_are_those_of_the_cell)
{
    shell_expect(0, "peat export r learned.sum.1e-3.s0 -o w.safetensors");
    run_python(
        "run = peat.open('r')\n"
        "curve = run.curve('learned.sum.1e-3.s0')\n"
        "train = curve[curve.split == 'train']\n"
        "assert list(train.step) == [1, 10, 20] and (train.grad_norm > 0).all()\n"
        "last = curve[(curve.split == 'test') & (curve.metric == 'bpb') & (curve.length == 8)]\n"
        "said = run.results().set_index('label').at['learned.sum.1e-3.s0', 'bpb@8']\n"
        "assert last.value.iloc[-1] == said\n"
        "a, b = run.weights('learned.sum.1e-3.s0'), peat.weights('w.safetensors')\n"
        "assert sorted(a) == sorted(b) and all((a[n] == b[n]).all() for n in a)\n"
        "assert a['token.weight'].shape == (256, 8) and a['token.weight'].dtype == 'float32'\n"
        "assert run.folder('learned.sum.1e-3.s0') == "
        "run.cells.set_index('label').folder['learned.sum.1e-3.s0']\n");
}

TEST(kept_diagnoses_are_rows_and_those_of_other_weights_are_left_out)
{
    run_python(
        "import json, os, peat.findings as f\n"
        "run = peat.open('r')\n"
        "cells = [run.folder(f'learned.sum.1e-3.s{seed}') for seed in (0, 1)]\n"
        "def keep(cell, ratio, **other):\n"
        "    sealed = json.load(open(cell + '/result.json'))['files']\n"
        "    own = [s['sha256'] for n, s in sealed.items() if "
        "n.endswith('/model.safetensors')][0]\n"
        "    tree = {'weights': own, 'sizes': {'ratio': ratio}, 'probes': {'layers': [\n"
        "        {'layer': 0, 'position_r2': .5}, {'layer': 1, 'position_r2': .25}]}}\n"
        "    json.dump({**tree, **other}, open(cell + '/diagnose.json', 'w'))\n"
        "keep(cells[0], 1.0), keep(cells[1], 3.0)\n"
        "found = f.Findings(run)\n"
        "lines = {(x['measure'], x['at']): x for x in found.lines()}\n"
        "assert found.n == 2 and len(lines) == 7 and not found.left_out\n"
        "one = lines['ratio', '']\n"
        "assert (one['n'], one['mean'], one['seed 1']) == (2, 2.0, 3.0)\n"
        "assert abs(one['sd'] - 2 ** .5) < 1e-9 and abs(one['ci_high'] - 2 - 12.706204736) < 1e-6\n"
        "texts = [c['text'] for c in found.table('position_r2@1,ratio')['rows'][0]]\n"
        "assert texts == ['learned', 'sum', '1e-3', '2', '0.2500 ± 0', '2 ± 13'], texts\n"
        "keep(cells[1], 3.0, weights='0')\n"
        "found = f.Findings(run)\n"
        "assert found.n == 1 and 'no longer has' in found.left_out[0][1], found.left_out\n"
        "said = open(os.environ['PEAT_SOURCE'] + '/docs/diagnostics.md').read()\n"
        "rows = [f'| `{m.name}` | ' + (f'`{m.diagnostic}`: ' if m.diagnostic else '') + m.meaning "
        "+ ' |' for m in f.MEASURES]\n"
        "missing = [row for row in rows if row not in said]\n"
        "assert not missing, missing\n");
}

/* The example of docs/python.md: alibi's source without its formula. */
TEST(a_plugin_in_c_alone_answers_in_a_line)
{
    shell_expect(
        0, "sed 's/\"alibi\"/\"mine\"/' \"$PEAT_SOURCE\"/plugins/scheme/alibi/alibi.c >mine.c && "
           "peat plugins build mine.c && "
           "peat run e.yaml -q -o mine 'position.scheme=[./mine.so]' seeds=1 train.lr=1e-3");
    shell_expect(0, "grep '^run[.]' \"$PEAT_SOURCE\"/docs/python.md | grep mine | sed 's/ *#.*//; "
                    "s/-.s0/-.1e-3.s0/' > lines");
    run_python("run = peat.open('mine')\n"
               "a, b = [eval(line) for line in open('lines')]\n"
               "assert a > 0 and b == (1, 3, 256), (a, b)\n");
}

TEST(what_cannot_be_read_is_refused_in_a_line)
{
    shell_expect(0, "printf text > text.st && mkdir empty climb && mkfifo pipe && "
                    "sed 's/\"id\": \"none[^\"]*/\"id\": \"..\\/..\\/../; s/\"check\"/\"was\"/' "
                    "r/plan.json > climb/plan.json");
    run_python(
        "def says(text, f, *a):\n"
        "    try:\n"
        "        f(*a)\n"
        "    except peat.Refused as e:\n"
        "        assert text in str(e) and '\\n' not in str(e), e\n"
        "    else:\n"
        "        assert False, text\n"
        "run = peat.open('r')\n"
        "says(\"there is no directory 'none'\", peat.open, 'none')\n"
        "says(\"'empty' is not a run directory: it has no plan.json\", peat.open, 'empty')\n"
        "says('no run directory was named', peat.open)\n"
        "says(\"no cells of 'r' are called 'x'; there are none.-.\", run.curve, 'x')\n"
        "says(\"no cell has values of x on 'test'; parts are test, train, valid\", "
        "run.results, 'x')\n"
        "says(\"no finished cell has the metric 'x'; there are\", lambda: run.table(metric='x'))\n"
        "says(\"the program 'nowhere' cannot be started: No such file\", peat.open('r', "
        "program='nowhere').table)\n"
        "says(\"'text.st' is not a safetensors file\", peat.weights, 'text.st')\n"
        "says(\"'pipe' is a named pipe, not a regular file\", peat.weights, 'pipe')\n"
        "says(\"'/dev/zero' is a device, not a regular file\", peat.weights, '/dev/zero')\n"
        "says(\"the id of cell 0 cannot be '../../..'\", peat.open, 'climb')\n"
        "for text in ('[' * 100000, '{\"cells\": [1]}', '{\"format\": 9}', 'NaN', '\\xff'):\n"
        "    open('climb/plan.json', 'w', encoding='latin-1').write(text)\n"
        "    says(\"'climb/plan.json' \", peat.open, 'climb')\n"
        "open(run.folder('none.-.1e-3.s0') + '/metrics.jsonl', 'wb').write(b'\\xff\\n')\n"
        "says('line 1 is damaged', run.curve, 'none.-.1e-3.s0')\n");
}

/* Like its own tables, a damaged cell is in no row of values, and neither is a stale one. */
TEST(values_of_cells_that_peat_leaves_out_are_left_out)
{
    shell_expect(0,
                 "set -- r/cells/*; printf '{\"format\": 1, \"reason\": \"x\"}' > $1/stale.json; "
                 "rm $2/meta.json; echo '{}' > $3/config.json; "
                 "sed -i 's/\"steps\": 20/\"steps\": 21/' $4/result.json; "
                 "cp $5/ckpt/*/state.json $5/ckpt/*/model.safetensors; "
                 "for k in metrics.jsonl stale.json; do rm -f $6/$k; mkfifo $6/$k; done; "
                 "peat results r -f csv > r.csv");
    run_python("run, csv = peat.open('r'), pandas.read_csv('r.csv')\n"
               "t = run.results()\n"
               "assert set(t.cell) == set(csv[csv.status == 'done'].cell) and len(t) == 6\n"
               "found = dict(run.cells.status.value_counts())\n"
               "assert found == {'done': 6, 'damaged': 5, 'stale': 1}, found\n");
}

TEST(no_changed_byte_of_a_result_makes_another_value)
{
    run_python("import glob\n"
               "run, path = peat.open('r'), sorted(glob.glob('r/cells/*/result.json'))[0]\n"
               "was, table = open(path, 'rb').read(), run.results()\n"
               "for i in range(0, len(was), 61):\n"
               "    open(path, 'wb').write(was[:i] + bytes([was[i] ^ 1]) + was[i + 1:])\n"
               "    now = run.results()\n"
               "    assert len(now) == len(table) - 1 or now.equals(table), i\n"
               "for name, x in (('seconds', '1e308'), ('value', '1e999'), ('value', '\"x\"'), "
               "('steps', '9' * 30)):\n"
               "    text = was.decode().replace('\"value\": ', '\"value\": %s, \"old\": ' % x, 1)\n"
               "    open(path, 'w').write(text)\n"
               "    assert len(run.results()) == len(table) - 1, x\n");
}

TEST(files_of_tensors_are_read_by_the_rules_of_the_program)
{
    run_python("import json, os\n"
               "files = json.load(open(os.environ['PEAT_SOURCE'] + "
               "'/tests/golden/safetensors.json'))\n"
               "assert len(files) > 70\n"
               "for one in files:\n"
               "    open('f', 'wb').write(bytes.fromhex(one['bytes']))\n"
               "    said = ''\n"
               "    try:\n"
               "        peat.safetensors.read('f')\n"
               "    except peat.Refused as e:\n"
               "        said = str(e).partition('a safetensors file of PEAT: ')[2]\n"
               "    assert said.startswith(one['says']) and bool(said) == bool(one['says']), "
               "(one, said)\n");
}

/* Every code cell, in order and in one namespace. */
TEST(the_notebook_runs)
{
    run_python("import json, os\n"
               "os.environ['PEAT_RUN'] = 'r'\n"
               "book = json.load(open(os.environ['PEAT_SOURCE'] + '/python/results.ipynb'))\n"
               "code = [''.join(c['source']) for c in book['cells'] if c['cell_type'] == 'code']\n"
               "assert len(code) == 5 and book['nbformat'] == 4\n"
               "space = {}\n"
               "for text in code:\n"
               "    exec(compile(text, 'results.ipynb', 'exec'), space)\n"
               "assert len(space['cells']) == 12 and len(space['curves'].columns) == 12\n"
               "assert len(space['table']) == 12, space['table']\n"
               "assert all(not c['outputs'] for c in book['cells'] if c['cell_type'] == 'code')\n");
}

int main(void)
{
    return run_tests((struct tests){"python", open_run, shell_close, .seconds = 100,
                                    .needs = "PEAT PEAT_SOURCE python3-pandas"});
}
