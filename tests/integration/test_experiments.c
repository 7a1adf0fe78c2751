/* SPDX-License-Identifier: MIT */
/* test_experiments.c: the experiments that are published can be planned, and run in small. */
#include "support/shell.h"
#include "support/support.h"

/* Words with an order, so that a run has something to learn. */
static void open_text(void)
{
    shell_open();
    shell_expect(0, "for i in $(seq 3000); do echo \"line $i of a text, and $((i * i)) too\"; done "
                    ">text.txt");
}

/* A copy of the experiments, beside the runs that some of them start from. */
START_TEST(every_experiment_can_be_planned)
{
    shell_expect(0, "cp -r \"$PEAT_SOURCE\"/experiments . && text=$PWD/text.txt && "
                    "peat run experiments/how-the-sum-is-read/concat.yaml task.path=$text "
                    "train.steps=1 eval.tokens=64 -q && "
                    "experiments/how-the-sum-is-read/sum_of_concat.py --run runs/concat "
                    "runs/sum-of-concat && "
                    "for f in experiments/*/*.yaml; do "
                    "peat validate $f task.path=$text || exit 1; done");
}
END_TEST

START_TEST(every_smoke_file_ends_with_its_claims_judged)
{
    shell_expect(0, "for f in \"$PEAT_SOURCE\"/experiments/*/smoke.yaml; do "
                    "peat run $f task.path=text.txt -o run -q >out || exit 1; "
                    "grep -q '^Claims' out || exit 2; rm -r run; done");
}
END_TEST

START_TEST(every_experiment_has_a_page_and_claims)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"/experiments && for f in */experiment.yaml; do "
                    "d=$(dirname $f); [ -e $d/README.md ] && [ -e $d/smoke.yaml ] && "
                    "grep -q '^claims:' $f || { echo $d; exit 1; }; done");
}
END_TEST

int main(void)
{
    return run_list((struct tests){.subject = "experiments",
                                   .open = open_text,
                                   .close = shell_close,
                                   .seconds = 250,
                                   .needs = "PEAT PEAT_SOURCE python3"},
                    TESTS(every_experiment_can_be_planned,
                          every_smoke_file_ends_with_its_claims_judged,
                          every_experiment_has_a_page_and_claims));
}
