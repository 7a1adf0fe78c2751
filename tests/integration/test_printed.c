/* SPDX-License-Identifier: MIT */
/* test_printed.c: commands that documents, help and manual pages print run in an installation
 * without sources, and what the documents say that they print is what is printed. */

#include "support/shell.h"
#include "support/support.h"

static const char *which;

START_TEST(every_printed_command_runs)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/peat\" >/dev/null");
    shell_expect(0,
                 "unset PEAT_PLUGIN_PATH; HOME=$PWD /usr/bin/python3 "
                 "\"$PEAT_SOURCE\"/tests/integration/printed.py peat work %s",
                 which);
}
END_TEST

/* The first table of README is that of the run that ships with it. */
START_TEST(the_table_of_README_is_that_of_the_shipped_run)
{
    shell_expect(0,
                 "mkdir runs && tar xf \"$PEAT_SOURCE\"/experiments/quickstart.tar.xz -C runs && "
                 "peat results quickstart | sed '/^$/q' >title && "
                 "peat results quickstart | sed '1,/^$/d; /^$/,$d' >table && "
                 "sed -n '/^quickstart: /,/^```/p' \"$PEAT_SOURCE\"/README.md | sed '/^```/d' "
                 ">README && cat title table | diff - README");
}
END_TEST

int main(int argc, char **argv)
{
    which = argc > 1 && strcmp(argv[1], "--long") == 0 ? "--long" : "";
    return run_list(
        (struct tests){"printed", shell_open, shell_close, .seconds = *which ? 1700 : 280,
                       .needs = "PEAT_SOURCE PEAT_BUILD PEAT cmake pkg-config gnuplot"},
        TESTS(every_printed_command_runs, the_table_of_README_is_that_of_the_shipped_run));
}
