/* SPDX-License-Identifier: MIT */
/* test_forged.c: no text of any file makes a line of its own in what a verb prints. */
#include "support/shell.h"
#include "support/support.h"

static const char *which;

TEST(no_field_of_any_file_makes_a_line)
{
    shell_expect(0, "python3 \"$PEAT_SOURCE\"/tests/integration/forged.py %s", which);
}

int main(int argc, char **argv)
{
    which = argc > 1 && strcmp(argv[1], "--long") == 0 ? "--long" : "";
    return run_tests((struct tests){"forged", shell_open, shell_close,
                                    .seconds = *which ? 1700 : 280,
                                    .needs = "PEAT_SOURCE python3"});
}
