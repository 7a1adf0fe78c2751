/* SPDX-License-Identifier: MIT */
/* test_export.c: what an exported file says of its cell, trained or not. */
#include "support/shell.h"
#include "support/support.h"

static const char grid[] = "version: 1\n"
                           "name: export\n"
                           "defaults:\n"
                           "  task: {plugin: text, path: text.txt}\n"
                           "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                           "  train: {steps: 4, batch: 2, seq_len: 16}\n"
                           "  eval: {tokens: 32}\n"
                           "  position: {combine: sum}\n"
                           "matrix:\n"
                           "  position.scheme: [fire, [learned, {plugin: learned, scale: 1}]]\n"
                           "seeds: 1\n";

static void open_grid(void)
{
    shell_open();
    shell_write("export.yaml", grid);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/task.h > text.txt");
    shell_expect(0, "peat run export.yaml -o runs -t 1");
}

/* HEAD FILE, BODY FILE: what stands before the numbers, as JSON, and the numbers. */
static const char parts[] = "size() { od -An -tu8 -N8 $1 | tr -d ' '; }\n"
                            "head() { tail -c +9 $1 | command head -c $(size $1); }\n"
                            "body() { tail -c +$((9 + $(size $1))) $1; }\n";

/* Quotes inside a value are not escaped in `text`. */
static void expect_in_head(const char *file, const char *text)
{
    char command[512];
    shell_write("parts.sh", parts);
    snprintf(command, sizeof(command), ". ./parts.sh; head %s | tr -d '\\\\' | grep -qF '%s'", file,
             text);
    shell_expect(0, "%s", command);
}

TEST(every_export_has_what_plugins_chose)
{
    shell_expect(0, "peat export runs fire.-.s0 -o end.st");
    expect_in_head("end.st", "\"fire.init_threshold\":4");
    expect_in_head("end.st", "\"peat_step\":\"4\"");
    shell_expect(0, "peat export runs fire.-.s0 --start -o start.st");
    expect_in_head("start.st", "\"fire.init_threshold\":4");
    expect_in_head("start.st", "\"peat_step\":\"0\"");
    shell_expect(0, "rm runs/cells/fire*/result.json && peat export runs fire.-.s0 -o half.st");
    expect_in_head("half.st", "\"fire.init_threshold\":4");
    expect_in_head("half.st", "\"length_unit\":\"tokens\"");
}

TEST(a_scheme_that_is_listed_twice_chose_twice)
{
    shell_expect(0, "peat export runs 1 -o end.st");
    expect_in_head("end.st", "\"position.0.learned.scale\":4,");
    expect_in_head("end.st", "\"position.1.learned.scale\":1}");
}

TEST(the_weights_before_training_are_those_that_training_starts_from)
{
    shell_expect(0, "peat export runs 1 --start -o before.st");
    shell_expect(0, "rm -r runs/cells/learned*/ckpt runs/cells/learned*/result.json");
    shell_expect(0, "peat export runs 1 --start -o untrained.st");
    shell_write("parts.sh", parts);
    shell_expect(0, ". ./parts.sh; body before.st > before; body untrained.st | cmp - before && "
                    "test $(wc -c < before) -gt 10000");
    shell_says(2, "has no checkpoint", "peat export runs 1 -o none.st");
    shell_expect(1, "test -e none.st");
}

TEST(other_data_than_the_cell_was_planned_with_is_refused)
{
    shell_expect(0, "echo more >> text.txt");
    shell_says(2, "is not what cell 'fire.-.s0' was trained on",
               "peat export runs fire.-.s0 --start -o start.st");
    shell_expect(0, "peat export runs fire.-.s0 -o end.st");
    shell_expect(0, "rm text.txt");
    shell_says(2, "--start needs the cell's plugins and data",
               "peat export runs fire.-.s0 --start -o start.st");
}

/* Two schemes, of a cell before training and after it. */
TEST(activations_are_what_passes_compute)
{
    shell_expect(0, "peat export runs 1 --activations --rows 1 -o all.st");
    expect_in_head("all.st",
                   "\"block.0.attention.chain.q\":{\"dtype\":\"F64\",\"shape\":[1,2,16,8]");
    expect_in_head("all.st",
                   "\"stream.position.1.learned\":{\"dtype\":\"F64\",\"shape\":[1,16,16]");
    expect_in_head("all.st", "no scheme adds terms to the logits");
    expect_in_head("all.st", "\"scale\":0.353");
    shell_expect(0, "peat export runs 0 --activations --start --only '*.bias,loss' -o bias.st");
    expect_in_head("bias.st",
                   "\"block.0.attention.bias\":{\"dtype\":\"F64\",\"shape\":[2,2,16,16]");
    shell_expect(1, ". ./parts.sh; head bias.st | grep -q stream");
    shell_expect(
        0, "for t in 1 2; do peat export runs 1 --activations -t $t -o $t.st; done; cmp 1.st 2.st");
    shell_expect(
        0, "peat export runs 1 --activations --start --only loss -o 3.st; ! cmp -s 3.st 1.st");
}

/* What a pass takes from a file is what the next blocks see, and rows are independent. */
TEST(given_tensors_take_the_place_of_what_a_pass_computes)
{
    shell_write(
        "given.py",
        "import sys, numpy as np\n"
        "sys.path.insert(0, sys.argv[1] + '/python')\n"
        "from peat.activations import passes\n"
        "cell = sys.argv[2]\n"
        "x, about = passes(cell, rows=2)\n"
        "assert abs(np.exp(-x['loss']).max()) < 1 and x['loss'].shape == (2, 16)\n"
        "twice = {k: np.concatenate([v, v]) for k, v in x.items() if k.startswith('batch.')}\n"
        "twice['input'] = np.concatenate([x['input'], 0 * x['input']])\n"
        "y, _ = passes(cell, given=twice)\n"
        "assert np.abs(y['logits'][:2] - x['logits']).max() < 1e-12\n"
        "assert np.abs(y['logits'][2:] - x['logits']).max() > 1e-3\n"
        "assert (y['input'][2:] == 0).all() and (y['block.0.stream'][2:] == 0).all()\n"
        "z, _ = passes(cell, tokens=x['batch.token'])\n"
        "for bad, said in ((np.nan, 'not an id'), (9999, 'the limit is 256')):\n"
        "    try: passes(cell, given={'batch.token': x['batch.token'] * 0 + bad})\n"
        "    except Exception as e: assert said in str(e), e\n"
        "    else: raise AssertionError(bad)\n"
        "assert np.abs(z['stream'] - x['stream']).max() < 1e-12 and 'loss' not in z\n");
    if (!is_installed("python3-numpy"))
        return;
    shell_expect(0, "/usr/bin/python3 given.py \"$PEAT_SOURCE\" runs/cells/learned*");
    shell_says(2, "--rows, --tokens, --given", "peat export runs 1 --rows 3 -o x.st");
    shell_says(2, "leave --feed", "peat export runs 1 --activations --batch -o x.st");
    shell_says(2, "'nothing.st'", "peat export runs 1 --activations --given nothing.st -o x.st");
}

int main(void)
{
    return run_tests((struct tests){"export", open_grid, shell_close, .seconds = 60});
}
