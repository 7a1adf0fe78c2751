/* SPDX-License-Identifier: MIT */
/* test_parts.c: training, validation and test part of the data, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 2\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: text, path: text.txt}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 12, batch: 2, seq_len: 16}\n"
    "  eval: {every: 4, lengths: [16, 32], tokens: 512}\n"
    "matrix:\n"
    "  position.scheme: [none, rotary]\n"
    "seeds: 2\n"
    "report: {baseline: {position.scheme: none}}\n"
    "claims:\n"
    "  - {name: far, rows: [{position.scheme: rotary}, {position.scheme: none}], length: 32,\n"
    "     direction: equal, margin: 1}\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
}

/* Prints the mean over seeds of the last values of a row's metric at a length, in one part. */
static const char mean[] =
    "mean() { peat results runs/x -f csv --columns scheme,metric,split,length,value | "
    "awk -F, -v s=$1 -v p=$2 -v l=$3 '$1 == s && $2 == \"bpb\" && $3 == p && "
    "$4 == l { n++; x += $5 } END { printf \"%.3f\\n\", x / n }'; }; ";

TEST(the_test_part_is_evaluated_once_and_reported)
{
    shell_expect(0, "peat run x.yaml");
    assert_printed("x: bpb on the test part (lower is better)");
    shell_says(0, "12 12 12 12 12 12\n",
               "echo $(cat runs/x/cells/rotary*s0*/metrics.jsonl | grep '\"test\"' | "
               "grep -o '\"step\":[0-9]*' | cut -d: -f2)");
    shell_says(
        0, "4 8 12\n",
        "echo $(cat runs/x/cells/rotary*s0*/metrics.jsonl | grep '\"bpb\",\"split\":\"valid\"' "
        "| grep -o '\"step\":[0-9]*' | cut -d: -f2 | uniq)");
    shell_expect(0, "%stest $(mean none test 16) != $(mean none valid 16)", mean);
    shell_expect(
        0,
        "%speat results runs/x --precision 4 | awk -v m=$(mean none test 16) '/^none/ { ok = "
        "$2 - m > -0.001 && $2 - m < 0.001 } END { exit !ok }'",
        mean);
    shell_says(0, "holds", "peat results runs/x --part claims");
    shell_says(0, "\"split\": \"test\"", "peat results runs/x -f json");
    shell_says(0, "at 16 tokens, on the test part (", "peat compare runs/x rotary none");
    shell_says(0, "16 tokens (lower is better)",
               "peat plot runs/x --kind curves -o x.svg; cat x.svg");
}

TEST(a_file_of_version_1_keeps_its_meaning_and_its_cells)
{
    shell_expect(0, "peat run x.yaml version=1 -o one");
    assert_printed("x: bpb on the validation data (lower is better)");
    shell_expect(0, "! grep -l '\"test\"' one/cells/*/*.json one/cells/*/metrics.jsonl");
    shell_says(0, "reported: none.-.s0 and 1 more row: on the validation data",
               "peat plan x.yaml version=1");
    shell_says(0, "reported: none.-.s0 and 1 more row: on the test part, 0.5 of the held-out data",
               "peat plan x.yaml");
    shell_expect(0,
                 "peat plan x.yaml version=1 --ids > one.ids; peat plan x.yaml eval.test=0 --ids | "
                 "cmp - one.ids; peat plan x.yaml --ids | cmp - one.ids && exit 1; true");
    shell_expect(0, "peat run x.yaml -o two");
    shell_says(2,
               "do not make one table: the first is measured on a test part (eval.test), the "
               "second on all held-out data",
               "peat results one two");
}

/* The choice is that of the validation part, whose mean is printed. */
TEST(what_is_chosen_is_chosen_on_the_validation_part)
{
    shell_expect(
        0, "sed -i 's/^report:.*/report: {best_over: {axes: train.lr, choose: 0, length: 16}}/; "
           "s/^seeds.*/seeds: 2/; /^matrix/a\\  train.lr: [1e-4, 1e-2]\n' x.yaml");
    shell_says(0, "claim far", "peat plan x.yaml");
    shell_says(0, "rotary: train.lr = 1e-2 is the best of 2 (bpb ", "peat run x.yaml");
    shell_expect(
        0, "rm -r runs; peat run x.yaml 2>&1 | grep -o 'rotary: train.lr.*' > said; "
           "peat results runs/x -f csv --columns scheme,train.lr,seed,metric,split,length,value | "
           "awk -F, '$1 == \"rotary\" && $2 == \"1e-2\" && $3 == 0 && $4 == \"bpb\" && "
           "$5 == \"valid\" && $6 == 16 { printf \"(bpb %%.4g over\\n\", $7 }' > value; "
           "test -s value && grep -qFf value said");
}

/* A result that is lost is made again from the final weights, test part included. */
TEST(a_cell_is_tested_again_to_the_same_bits)
{
    shell_expect(0, "peat run x.yaml && peat verify runs/x | grep ^hash > before");
    shell_expect(0, "rm runs/x/cells/rotary*s1*/result.json && peat run x.yaml");
    shell_expect(0, "peat verify runs/x | grep ^hash | cmp - before");
    shell_says(0, "0 problems", "peat verify runs/x --retrain 1");
}

/* It stops where the validation part says, whatever the test part would. */
TEST(patience_sees_the_validation_part)
{
    shell_expect(0, "peat run x.yaml train.patience=1 train.lr=1 eval.every=2 train.steps=40");
    shell_says(0, "1\n",
               "cat runs/x/cells/none*s0*/metrics.jsonl | grep '\"bpb\",\"split\":\"test\"' | "
               "grep '\"length\":16' | wc -l");
    shell_expect(
        0, "cat runs/x/cells/none*s0*/metrics.jsonl | grep "
           "'\"bpb\",\"split\":\"valid\",\"length\":16' | "
           "grep -o '\"value\":[0-9.]*' | cut -d: -f2 | awk '{ x[NR] = $1 } END { "
           "for (i = 2; i < NR; i++) if (x[i] >= x[i - 1]) exit 1; exit x[NR] < x[NR - 1] }'");
}

/* The formulas of the guide in NumPy, from what `peat results` gives of each seed and stretch. */
static const char recompute[] =
    "import json, subprocess, sys\n"
    "import numpy\n"
    "from scipy import stats\n"
    "r = json.loads(subprocess.run([sys.argv[1], 'results', 'runs/x', '-f', 'json'], check=True,\n"
    "                              capture_output=True, text=True).stdout)\n"
    "n = 0\n"
    "for length in 16, 32:\n"
    "    row = {x['axes']['position.scheme']: x for x in r['rows'] if x['length'] == length}\n"
    "    a, b = row['rotary']['test_stretches'], row['none']['test_stretches']\n"
    "    targets = numpy.array(a['0']['targets'])\n"
    "    d = numpy.array([numpy.subtract(a[s]['nll'], b[s]['nll']) for s in a])\n"
    "    d = d / targets / numpy.log(2)\n"
    "    w, (S, J) = targets / targets.sum(), d.shape\n"
    "    A, B = d @ w, d.mean(0)\n"
    "    m = A.mean()\n"
    "    assert abs(m - row['rotary']['diff']) < 1e-9\n"
    "    va = ((A - m) ** 2).sum() / S / (S - 1)\n"
    "    vb = J / (J - 1) * (w ** 2 * (B - m) ** 2).sum()\n"
    "    ve = J / (J - 1) * (w ** 2 * (d - A[:, None] - B + m) ** 2).sum() / S / (S - 1)\n"
    "    v = va + vb - ve\n"
    "    df = v ** 2 / (va ** 2 / (S - 1) + vb ** 2 / (J - 1) + ve ** 2 / (S - 1) / (J - 1))\n"
    "    v, df = max((va, S - 1), (vb, J - 1), (v, df))\n"
    "    half = stats.t.ppf(.975, df) * v ** .5\n"
    "    print(length, S, J, half, row['rotary']['diff_text_half'])\n"
    "    assert abs(half - row['rotary']['diff_text_half']) < 1e-8 * half\n"
    "    n += J\n"
    "assert n == 32 + 16, n\n";

TEST(differences_have_an_interval_over_seeds_and_text)
{
    shell_write("recompute.py", recompute);
    shell_expect(0, "sed -i 's/direction: equal, margin: 1}/direction: equal, margin: 1, sampled: "
                    "seeds_and_text}/; s/^seeds.*/seeds: 3/' x.yaml");
    shell_says(0, "and text", "peat run x.yaml");
    shell_says(0, "effect and p_holm are over seeds and test text for: far",
               "peat results runs/x --part claims --notes");
    shell_says(0, ",diff_text_half,", "peat results runs/x --part claims -f csv");
    shell_says(0, "over seeds and stretches of the test text, both as samples",
               "peat compare runs/x none rotary --length 16");
    shell_says(0, "and text", "peat results runs/x --columns metric,diff,diff_text");
    if (is_here("python3-scipy"))
        shell_expect(0, "/usr/bin/python3 recompute.py \"$PEAT\"");
    shell_says(
        2, "'sampled: seeds_and_text' has only a t test: leave 'test' out",
        "sed 's/sampled: s/test: sign-flip, sampled: s/' x.yaml > y.yaml; peat validate y.yaml");
    shell_says(2, "'sampled: seeds_and_text' needs a test part, and row '",
               "peat validate x.yaml version=1");
}

int main(void)
{
    return run_tests((struct tests){"parts", open_experiment, shell_close, .seconds = 300});
}
