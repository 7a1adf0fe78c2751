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

START_TEST(values_are_those_of_the_csv)
{
    shell_expect(0, "peat results r -f csv > r.csv");
    run_python("csv = pandas.read_csv('r.csv')\n"
               "ours = peat.results('r')\n"
               "assert len(ours) == len(csv) == 12 * 13, (len(ours), len(csv))\n"
               "key = ['cell', 'metric', 'split', 'length']\n"
               "a, b = (t.sort_values(key).reset_index(drop=True) for t in (ours, csv))\n"
               "shared = [c for c in a.columns if c in b.columns]\n"
               "assert len(shared) >= 25 and 'train.lr' in shared, shared\n"
               "missing = [c for c in a.columns if c not in b.columns]\n"
               "assert missing == ['trained_by'], missing\n"
               "for c in shared:\n"
               "    same = [x == y or (x != x or x is None) and y != y or\n"
               "            abs(float(x) - float(y)) <= 1e-12 * abs(float(y)) for x, y in "
               "zip(a[c], b[c])]\n"
               "    assert all(same), (c, list(a[c])[:3], list(b[c])[:3])\n");
}
END_TEST

START_TEST(cells_that_are_not_finished_have_their_state)
{
    shell_expect(0, "set -- r/cells/*; rm $1/result.json; echo >> $2/metrics.jsonl; "
                    "printf '{\"state\": \"failed\"}' > $1/end.json; rm $3/result.json; "
                    "printf '{\"state\": \"interrupted\"}' > $3/end.json");
    run_python("t = peat.cells('r')\n"
               "assert len(t) == 12 and t.cell.is_unique\n"
               "assert dict(t.status.value_counts()) == {'done': 9, 'failed': 1, 'damaged': 1, "
               "'partial': 1}, "
               "t.status\n"
               "assert (t[t.status == 'done'].wall_s > 0).all() and (t.params > 0).all()\n"
               "assert len(peat.results('r')) == 9 * 13\n"
               "assert peat.cells('r', 'r').shape[0] == 24\n");
}
END_TEST

START_TEST(curves_that_a_bundle_thinned_are_those_of_their_cells)
{
    shell_expect(0,
                 "peat run e.yaml -q -o long --only none* train.steps=400 seeds=1 && "
                 "peat bundle long -o x.tar.gz && tar xf x.tar.gz && set -- small/cells/none* && "
                 "ls $1/thinned.json && sed -i '2s/\"value\":./\"value\":9/' $1/metrics.jsonl");
    run_python("t = peat.cells('small')\n"
               "assert sorted(t.status) == ['damaged', 'done'] + 4 * ['todo'], t.status\n");
}
END_TEST

START_TEST(curves_and_weights_are_those_of_the_cell)
{
    shell_expect(0, "peat export r learned.sum.1e-3.s0 -o w.safetensors");
    run_python(
        "curve = peat.curve('r', 'learned.sum.1e-3.s0')\n"
        "train = curve[curve.split == 'train']\n"
        "assert list(train.step) == [1, 10, 20] and (train.grad_norm > 0).all()\n"
        "last = curve[(curve.split == 'test') & (curve.metric == 'bpb') & (curve.length == 8)]\n"
        "r = peat.results('r')\n"
        "said = r[(r.label == 'learned.sum.1e-3.s0') & (r.split == 'test') &\n"
        "         (r.metric == 'bpb') & (r.length == 8)]\n"
        "assert last.value.iloc[-1] == said.value.iloc[0]\n"
        "a, b = peat.weights('r', 'learned.sum.1e-3.s0'), peat.weights('w.safetensors')\n"
        "assert sorted(a) == sorted(b) and all((a[n] == b[n]).all() for n in a)\n"
        "assert a['token.weight'].shape == (256, 8) and a['token.weight'].dtype == 'float32'\n"
        "folder = peat.cells('r').set_index('label').folder['learned.sum.1e-3.s0']\n"
        "assert (peat.weights(folder)['norm.bias'] == a['norm.bias']).all()\n"
        "assert len(peat.curve(folder)) == len(curve)\n");
}
END_TEST

START_TEST(what_cannot_be_read_is_refused_in_a_line)
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
        "says(\"there is no directory 'none'\", peat.cells, 'none')\n"
        "says(\"'empty' is not a run directory: it has no plan.json\", peat.results, 'empty')\n"
        "says('no run directory was named', peat.cells)\n"
        "says(\"no cells of 'r' are called 'x'; there are none.-.\", peat.curve, 'r', 'x')\n"
        "says(\"'empty' has no checkpoint\", peat.weights, 'empty')\n"
        "says(\"'text.st' is not a safetensors file\", peat.weights, 'text.st')\n"
        "says('the cell has not begun', peat.curve, 'empty')\n"
        "says(\"'pipe' is not a regular file\", peat.weights, 'pipe')\n"
        "says(\"'/dev/zero' is not a regular file\", peat.weights, '/dev/zero')\n"
        "says(\"the id of a cell cannot be '../../..'\", peat.cells, 'climb')\n"
        "for text in ('[' * 100000, '{\"cells\": [1]}', '{\"format\": 9}', 'NaN', '\\xff'):\n"
        "    open('climb/plan.json', 'w', encoding='latin-1').write(text)\n"
        "    says(\"'climb/plan.json' \", peat.cells, 'climb')\n"
        "open('climb/metrics.jsonl', 'wb').write(b'\\xff\\n')\n"
        "says('line 1 is damaged', peat.curve, 'climb')\n");
}
END_TEST

/* Like its own tables, a damaged cell is in no row of values, and neither is a stale one. */
START_TEST(values_of_cells_that_peat_leaves_out_are_left_out)
{
    shell_expect(0,
                 "set -- r/cells/*; printf '{\"format\": 1, \"reason\": \"x\"}' > $1/stale.json; "
                 "rm $2/meta.json; echo '{}' > $3/config.json; "
                 "sed -i 's/\"steps\": 20/\"steps\": 21/' $4/result.json; "
                 "cp $5/ckpt/*/state.json $5/ckpt/*/model.safetensors; "
                 "for k in metrics.jsonl stale.json; do rm -f $6/$k; mkfifo $6/$k; done; "
                 "peat results r -f csv > r.csv");
    run_python(
        "t, csv = peat.results('r'), pandas.read_csv('r.csv')\n"
        "assert set(t.cell) == set(csv[csv.status == 'done'].cell) and len(set(t.cell)) == 6\n"
        "found = dict(peat.cells('r').status.value_counts())\n"
        "assert found == {'done': 6, 'damaged': 5, 'stale': 1}, found\n");
}
END_TEST

START_TEST(no_changed_byte_of_a_result_makes_another_value)
{
    run_python("import glob\n"
               "path = sorted(glob.glob('r/cells/*/result.json'))[0]\n"
               "was, table = open(path, 'rb').read(), peat.results('r')\n"
               "for i in range(0, len(was), 61):\n"
               "    open(path, 'wb').write(was[:i] + bytes([was[i] ^ 1]) + was[i + 1:])\n"
               "    now = peat.results('r')\n"
               "    assert len(now) == len(table) - 13 or now.equals(table), i\n"
               "for name, x in (('seconds', '1e308'), ('value', '1e999'), ('value', '\"x\"'), "
               "('steps', '9' * 30)):\n"
               "    text = was.decode().replace('\"value\": ', '\"value\": %s, \"old\": ' % x, 1)\n"
               "    open(path, 'w').write(text)\n"
               "    assert len(peat.results('r')) == len(table) - 13, x\n");
}
END_TEST

START_TEST(files_of_tensors_are_read_by_the_rules_of_the_program)
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
END_TEST

/* Every code cell, in order and in one namespace. */
START_TEST(the_notebook_runs)
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
               "assert len(space['summary']) == 2, space['summary']\n"
               "assert space['split'] == 'test' and space['metric'] == 'bpb'\n"
               "assert all(not c['outputs'] for c in book['cells'] if c['cell_type'] == 'code')\n");
}
END_TEST

int main(void)
{
    return run_list((struct tests){"python", open_run, shell_close, .seconds = 100,
                                   .needs = "PEAT PEAT_SOURCE python3-pandas"},
                    TESTS(values_are_those_of_the_csv, cells_that_are_not_finished_have_their_state,
                          curves_that_a_bundle_thinned_are_those_of_their_cells,
                          curves_and_weights_are_those_of_the_cell,
                          values_of_cells_that_peat_leaves_out_are_left_out,
                          no_changed_byte_of_a_result_makes_another_value,
                          files_of_tensors_are_read_by_the_rules_of_the_program,
                          what_cannot_be_read_is_refused_in_a_line, the_notebook_runs));
}
