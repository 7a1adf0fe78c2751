/* SPDX-License-Identifier: MIT */
/* test_freeze.c: cells with frozen parameters, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: x\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: data}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 20, batch: 2, seq_len: 16}\n"
                                 "  eval: {lengths: [16], tokens: 64}\n"
                                 "  position: {scheme: learned, combine: sum}\n";

/* Prints the bytes of one tensor of a safetensors file. */
static const char tensor[] =
    "f=$1; n=$(od -An -tu8 -N8 $f | tr -d ' ')\n"
    "set -- $(tail -c +9 $f | head -c $n | tr '}' '\\n' | grep \"\\\"$2\\\":\" | "
    "sed 's/.*data_offsets\":\\[\\([0-9]*\\),\\([0-9]*\\).*/\\1 \\2/')\n"
    "tail -c +$((9 + n + $1)) $f | head -c $(($2 - $1))\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
    shell_write("tensor.sh", tensor);
    shell_expect(0, "yes abcdefgh | head -c 4000 > data");
}

#define MODEL "cells/*/ckpt/*/model.safetensors"

TEST(frozen_parameters_stay_as_they_were_drawn_and_others_do_not)
{
    shell_expect(0, "peat run x.yaml -o one 'model.freeze=[token.*]' train.steps=1");
    shell_expect(0, "peat run x.yaml -o more 'model.freeze=[token.*]' train.weight_decay=1");
    shell_expect(0, "sh tensor.sh one/" MODEL " token.weight > a; test -s a; "
                    "sh tensor.sh more/" MODEL " token.weight > b; cmp a b");
    shell_expect(0, "sh tensor.sh one/" MODEL " head.weight > a; "
                    "sh tensor.sh more/" MODEL " head.weight > b; ! cmp -s a b");
}

TEST(they_are_counted_apart_in_plan_and_table)
{
    shell_says(0, "parameters: learned.sum.s0: 7,664 trained, 4,096 frozen",
               "peat plan x.yaml 'model.freeze=[token.*]'");
    shell_says(0, "\"params_frozen\": 4096,", "peat plan x.yaml --json 'model.freeze=[token.*]'");
    shell_says(0, "| 7.66k | 256 | 4.10k |",
               "peat run x.yaml -q 'model.freeze=[token.*]' && "
               "peat results runs/x -f md --columns params,positional,frozen");
    shell_says(0, "\"params_frozen\": 4096", "peat results runs/x -f json");
    shell_says(0, "\n4096\n", "peat results runs/x -f csv --columns params_frozen");
    shell_says(0, "\"params_frozen\": 4096", "cat runs/x/cells/*/result.json");
}

TEST(a_cell_that_freezes_nothing_is_the_cell_that_it_was)
{
    shell_expect(0, "peat plan x.yaml --json > without; "
                    "peat plan x.yaml --json 'model.freeze=[]' > with; cmp with without");
    shell_expect(0, "! grep -i -e freeze -e frozen without");
    shell_expect(0, "peat run x.yaml -q && ! grep -r -i -e freeze -e frozen runs/x/cells");
    shell_expect(0, "! peat results runs/x -f csv | grep -q frozen");
}

TEST(a_grid_varies_what_is_frozen)
{
    shell_says(0, "3 rows",
               "printf 'matrix:\\n  model.freeze: [[], token.*, [token.*, \"*.mlp.*\"]]\\n' >> "
               "x.yaml; peat plan x.yaml");
    assert_printed("learned.sum.token..s0: 7,664 trained, 4,096 frozen");
    assert_printed("5,536 trained, 6,224 frozen");
}

TEST(an_interrupted_cell_ends_with_the_same_bits)
{
#define LONG "'model.freeze=[token.*, block.0.attention.*]' train.steps=2000"
    shell_expect(0, "echo 'run: {checkpoint: {every: 50}}' >> x.yaml");
    shell_expect(0, "peat run x.yaml -o whole " LONG);
    shell_expect(130, INTERRUPTED("peat run x.yaml -o cut " LONG, ANY("cut/cells/*/ckpt/step-*")));
    shell_expect(0, "grep -a -o 'opt.m.[a-z0-9.]*' cut/cells/*/ckpt/*/optimiser.safetensors");
    assert_printed("opt.m.head.weight");
    ck_assert(!shell_printed("opt.m.token") && !shell_printed("attention"));
    shell_says(0, "1 done", "peat run x.yaml -o cut " LONG);
    shell_says(0, "continues from step", "cat cut/cells/*/log.txt");
    shell_expect(0, "cmp whole/" MODEL " cut/" MODEL);
}

static const struct {
    const char *freeze, *says;
} mistakes[] = {
    {"[tokens.*]", "x.yaml:9:14: no parameter of the model is called 'tokens.*'; did you mean "
                   "'token.*'?"},
    {"[token.*, head.weigth]",
     "x.yaml:9:23: no parameter of the model is called 'head.weigth'; did you mean 'head.weight'?"},
    {"'*'", "x.yaml:9:13: this freezes every parameter, so nothing is left to train"},
    {"3", "x.yaml:9:13: 'freeze' in model"},
    {"{token: true}", "x.yaml:9:13: 'freeze' in model"},
};

LOOP_TEST(mistakes_are_one_line_before_training, sizeof(mistakes) / sizeof(*mistakes))
{
    shell_expect(0,
                 "cat > x.yaml <<'END'\nversion: 1\nname: x\ndefaults:\n"
                 "  task: {plugin: text, path: data}\n  train: {steps: 2}\n"
                 "  position: {scheme: learned, combine: sum}\n  model:\n    n_layer: 1\n"
                 "    freeze: %s\nEND",
                 mistakes[_i].freeze);
    shell_says(2, mistakes[_i].says, "peat run x.yaml");
    shell_expect(0, "test ! -e runs");
}

int main(void)
{
    return run_tests((struct tests){"freeze", open_experiment, shell_close, .seconds = 120});
}
