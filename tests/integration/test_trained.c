/* SPDX-License-Identifier: MIT */
/* test_trained.c: a training by another program that is wrong is refused, and one that is accepted
 * has no problem afterwards. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 2\n"
                                 "name: elsewhere\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 6, batch: 2, seq_len: 8}\n"
                                 "  eval: {lengths: [8], tokens: 64}\n"
                                 "  position: {scheme: learned, combine: sum}\n"
                                 "seeds: 1\n";

TEST(what_is_accepted_is_what_verify_accepts)
{
    shell_write("e.yaml", experiment);
    shell_expect(0, "seq 1000 >text.txt && peat plan e.yaml --write -o r && "
                    "peat export r 0 --start -o start.st && "
                    "python3 \"$PEAT_SOURCE\"/tests/integration/trainings.py start.st");
}

int main(void)
{
    return run_tests((struct tests){"trained", shell_open, shell_close, .seconds = 100,
                                    .needs = "PEAT PEAT_SOURCE python3"});
}
