/* SPDX-License-Identifier: MIT */
/* test_looks.c: seeds that are added until the claims are decided, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

/* The rate decides "rate" at the second look at the latest; "kinds" asks for a difference that is
 * not there. Rows of learned and sinusoidal at the small rate are in no claim. */
static const char experiment[] =
    "version: 1\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: copy}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 30, batch: 4, seq_len: 16}\n"
    "  eval: {lengths: 6, tokens: 60}\n"
    "matrix:\n"
    "  position.scheme: [none, learned, sinusoidal]\n"
    "  train.lr: [1e-4, 1e-2]\n"
    "seeds: {from: 4, at_most: 12, until: claims}\n"
    "report: {metric: loss}\n"
    "claims:\n"
    "  - name: rate\n"
    "    contrast: {factor: train.lr, of: [1e-2, 1e-4], where: {position.scheme: none}}\n"
    "    direction: less\n"
    "    weight: 2\n"
    "  - name: kinds\n"
    "    rows: [{position.scheme: learned, train.lr: 1e-2},\n"
    "           {position.scheme: sinusoidal, train.lr: 1e-2}]\n"
    "    direction: equal\n"
    "    margin: 1e-9\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
}

TEST(rows_whose_claims_are_decided_stop)
{
    shell_says(0, "look 3 of 3, 12 seeds: 1 of 2 claims decided", "peat run x.yaml");
    assert_printed("look 1 of 3, 4 seeds: ");
    assert_printed("kinds is undecided: all 3 looks, up to 12 seeds, are used: p ");
    ck_assert(!shell_printed("not finished"));
    shell_says(0,
               "looks at 4, 8, 12 seeds, until a claim is decided; alpha shared out over the "
               "claims beforehand by weight and spent over the looks (Lan and DeMets, "
               "obrien-fleming)",
               "peat results runs/x --notes");
    shell_says(0, " decided\n", "peat status runs/x");
    shell_expect(0, "! ls runs/x/cells/learned*1e-4.s[4-9]-*/result.json");
    shell_expect(0, "! ls runs/x/cells/none*.s1[01]-*/result.json");
    shell_expect(0, "ls runs/x/cells/learned*1e-2.s11-*/result.json");
    shell_says(0, ", 0 problems", "peat verify runs/x");
    shell_says(0, "\"looks\": 3", "peat results runs/x -f json");
    shell_says(0, " at look 3 of 3", "peat report runs/x -o x.html && cat x.html");
    shell_says(2, "over which their alpha was shared out beforehand",
               "peat results runs/x --part claims --family");
    shell_says(2, "looks.json",
               "sed -i 's/\"look\": 3/\"look\": 2/' runs/x/looks.json; peat "
               "verify runs/x");
}

TEST(a_later_run_says_what_each_look_decided)
{
    for (int again = 0; again < 2; again++) {
        shell_says(0, "look 1 of 2, 2 seeds: 0 of 2 claims decided",
                   "peat run x.yaml name=late "
                   "'seeds={from: 2, every: 4, at_most: 6, until: claims}'");
        assert_printed("look 2 of 2, 6 seeds: 1 of 2 claims decided");
    }
}

TEST(a_run_that_is_interrupted_comes_to_the_same_cells_and_bits)
{
    shell_expect(0, "peat run x.yaml -o whole && peat verify whole | grep ^hash > hash && cp "
                    "whole/looks.json .");
    shell_expect(
        0, "peat run x.yaml -o parts --only '*.s[0-2]' > out && ! grep 'look 1 of 3, 4 seeds' out");
    shell_expect(0, "for t in 0.1 0.2 0.3; do timeout -s KILL $t peat run x.yaml -o parts; done; "
                    "peat run x.yaml -o parts");
    shell_expect(0,
                 "peat verify parts | grep ^hash | cmp - hash && cmp parts/looks.json looks.json");
    shell_says(0, "finished before", "peat run x.yaml -o parts");
    shell_expect(0, "peat plan parts/resolved.yaml --write -o again && grep sha256 "
                    "parts/claims.json > was && grep sha256 again/claims.json | cmp - was");
}

TEST(a_plan_says_the_first_look_and_all_of_them)
{
    shell_says(0,
               "looks: claims are judged at 4, 8, 12 seeds, and rows whose claims are decided stop "
               "there: from 24 to 72 cells, from 33 to 100 % of this work\n",
               "peat plan x.yaml");
    assert_printed("claim rate: can be decided at 3 looks, the last with 12 seeds and level ");
    assert_printed(", alpha 0.0333 of 0.05 (t)\n");
    shell_says(0, "judged at 4, 7, 10, 12 seeds",
               "peat plan x.yaml 'seeds={from: 4, every: 3, at_most: 12, until: claims, spending: "
               "pocock}'");
    shell_says(0, "claim kinds: 3 seeds can decide it (t)", "peat plan x.yaml seeds=3");
    shell_says(2, "option '--shard': seeds until claims need", "peat run x.yaml --shard 1/2");
}

TEST(looks_go_with_best_over)
{
    shell_expect(0,
                 "sed -i -e 's/metric: loss/metric: loss, best_over: {axes: train.lr, choose: [0, "
                 "1]}/' -e '/name: rate/,/weight: 2/d' -e 's/, train.lr: 1e-2//' x.yaml");
    shell_says(0, "judged at 4, 8, 10 seeds", "peat plan x.yaml");
    shell_says(0, "look 3 of 3, 10 seeds: 0 of 1 claim decided", "peat run x.yaml");
    shell_expect(0, "! ls runs/x/cells/*1e-4.s[2-9]-*/result.json");
    shell_expect(
        0, "ls runs/x/cells/none*.s5-*/result.json; ! ls runs/x/cells/none*.s6-*/result.json");
}

int main(void)
{
    return run_tests((struct tests){
        .subject = "looks", .open = open_experiment, .close = shell_close, .seconds = 120});
}
