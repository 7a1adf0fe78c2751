/* SPDX-License-Identifier: MIT */
/* test_experiments.c: the experiments that are published can be planned, and run in small. */
#include "support/shell.h"
#include "support/support.h"

/* Words with an order, so that a run has something to learn, and the experiments, beside the runs
 * and tables that some of them start from. with_text FILE: the word that gives it its data. */
static void open_experiments(void)
{
    shell_open();
    shell_expect(
        0, "for i in $(seq 3000); do echo \"line $i of a text, and $((i * i)) too\"; done "
           ">text.txt; cp -r \"$PEAT_SOURCE\"/experiments . && "
           "mkdir experiments/collisions/tables && "
           "experiments/collisions/plant.py experiments/collisions/tables 5 6 $(seq 30 39) && "
           "python3 experiments/why-apart/frames.py experiments/why-apart/frames 5 6 "
           "$(seq 40 47)");
}

#define WITH_TEXT                                                                                  \
    "with_text() { if grep -q 'plugin: text' $1; then echo task.path=$PWD/text.txt; "              \
    "elif grep -q 'plugin: tokens' $1; then echo task.path=$PWD/pieces; fi; }; "

#define WITH_PIECES "peat tokenize text.txt --vocab 300 -o pieces && "

/* Makes the tables that what-tables-learn starts from. */
#define WITH_TABLES                                                                                \
    "(cd experiments/what-tables-learn && "                                                        \
    "peat run tables.yaml -o runs/tables task.path=../../text.txt train.steps=1 eval.tokens=64 "   \
    "-q && ./tables.py runs/tables tables) && "

TEST(every_experiment_can_be_planned)
{
    shell_expect(0, WITH_TEXT WITH_PIECES
                 "peat run experiments/how-the-sum-is-read/concat.yaml task.path=text.txt "
                 "train.steps=1 eval.tokens=64 -q && "
                 "experiments/how-the-sum-is-read/sum_of_concat.py --run runs/concat "
                 "runs/sum-of-concat && "
                 "peat run experiments/frozen-embeddings/experiment.yaml task.path=text.txt "
                 "'arm=[sum]' 'positions=[sinusoidal,learned]' 'train.lr=[8e-3]' train.steps=1 "
                 "eval.tokens=64 -q && "
                 "experiments/how-the-sum-is-read/intervene.py runs/frozen-embeddings "
                 "runs/intervened && " WITH_TABLES "for f in experiments/*/*.yaml; do "
                 "peat validate $f $(with_text $f) || exit 1; done");
}

/* The last two seeds and, where there is such an axis, the first learning rate; the steps of an
 * axis become a thousandth. */
TEST(every_experiment_ends_with_its_claims_judged)
{
    shell_expect(0, WITH_TEXT WITH_PIECES WITH_TABLES
                 "for f in experiments/*/experiment.yaml; do small=; "
                 "case $f in */scale/*) "
                 "small='rate=[\"8e-3\"] train.seq_len=32 eval.lengths=[32]';; esac; "
                 "steps=train.steps=2; if grep -q '^  train.steps:' $f; then steps=; "
                 "sed -i 's/\\b\\([0-9]*\\)[05]00\\b/\\1/g' $f; fi; "
                 "rate=$(sed -n 's/^  train.lr: .\\([^,]*\\).*/train.lr=[\\1]/p' $f); "
                 "seeds=$(sed -n 's/^seeds:.* \\([0-9]*, [0-9]*\\)].*/seeds=[\\1]/p' $f); "
                 "peat run $f $(with_text $f) $steps train.batch=2 eval.tokens=64 $rate $small "
                 "\"$seeds\" -o run -q >out || exit 1; "
                 "grep -q '^Claims' out || exit 2; rm -r run; done");
}

TEST(every_experiment_has_a_page_and_claims)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"/experiments && for f in */experiment.yaml; do "
                    "d=$(dirname $f); [ -e $d/README.md ] && grep -q '^claims:' $f || { echo $d; "
                    "exit 1; }; done");
}

int main(void)
{
    return run_tests((struct tests){.subject = "experiments",
                                    .open = open_experiments,
                                    .close = shell_close,
                                    .seconds = 250,
                                    .needs = "PEAT PEAT_SOURCE python3-numpy spm_train"});
}
