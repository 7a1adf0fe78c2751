/* SPDX-License-Identifier: MIT */
/* test_printed.c: commands that documents, help and manual pages print run in an installation
 * without sources, and what the documents say that they print is what is printed. */

#include "support/shell.h"
#include "support/support.h"

static const char *which;

TEST(every_printed_command_runs)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/peat\" >/dev/null");
    shell_expect(
        0,
        "/usr/bin/python3 \"$PEAT_SOURCE\"/tests/integration/printed.py \"$PEAT_SOURCE\" peat "
        "work %s",
        which);
}

/* The run that ships, and of its cells those that `peat new` plans from the same text. */
static void unpack_quickstart(void)
{
    shell_expect(0,
                 "mkdir runs && tar xf \"$PEAT_SOURCE\"/experiments/quickstart.tar.xz -C runs && "
                 "peat new first \"$PEAT_SOURCE\"/experiments/data/genesis.txt && "
                 "peat plan first --write >/dev/null && for c in runs/first/cells/*; do "
                 "cp -r runs/quickstart/cells/${c##*/} runs/first/cells || exit 1; done");
}

static const struct {
    const char *run, *page;
} tables[] = {{"quickstart", "README.md"}, {"first", "docs/tutorial.md"}};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

LOOP_TEST(the_table_of_the_page_is_that_of_the_shipped_run, TABLES)
{
    unpack_quickstart();
    shell_expect(0,
                 "peat results %s | awk '/^[*]: /{exit} {print}' | sed '$d' >table && "
                 "sed -n '/^%s: /,/^```/p' \"$PEAT_SOURCE\"/%s | sed '/^```/d' | diff table -",
                 tables[_i].run, tables[_i].run, tables[_i].page);
}

/* One line is left for the prompt. */
LOOP_TEST(the_table_and_its_notes_fit_a_terminal, TABLES)
{
    unpack_quickstart();
    shell_expect(0,
                 "TERM=xterm script -qec 'stty rows 24 cols 80; peat results %s' /dev/null "
                 "</dev/null | tr -d '\\r' | sed 's/\\x1b\\[[0-9]*m//g' >screen; cat screen; "
                 "grep -q '^rotary.*0.00' screen && [ $(wc -l <screen) -le 23 ] && "
                 "[ $(LC_ALL=C.UTF-8 wc -L <screen) -le 80 ]",
                 tables[_i].run);
}

int main(int argc, char **argv)
{
    which = argc > 1 && strcmp(argv[1], "--long") == 0 ? "--long" : "";
    return run_tests((struct tests){"printed", shell_open, shell_close,
                                    .seconds = *which ? 1700 : 280,
                                    .needs = "PEAT_SOURCE PEAT_BUILD PEAT cmake pkg-config script "
                                             "python3-jinja2 python3-matplotlib"});
}
