/* SPDX-License-Identifier: MIT */
/* test_reference.c: the reference pages are those that the plugins make. */
#include <stdio.h>
#include <stdlib.h>

#include "support/shell.h"
#include "support/support.h"

START_TEST(the_reference_pages_are_up_to_date)
{
    shell_expect(0, "peat plugins reference -o pages");
    shell_expect(0, "for page in pages/*; do "
                    "diff -u \"$PEAT_SOURCE/docs/reference/${page#pages/}\" $page || bad=1; done; "
                    "test -z \"$bad\" || "
                    "{ echo 'peat plugins reference -o docs/reference makes them'; exit 1; }");
}
END_TEST

START_TEST(every_plugin_of_the_tree_has_its_place)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"; bad=0; for k in scheme combine task; do "
                    "for d in plugins/$k/*/; do n=$(basename $d); "
                    "grep -qx \"## $n\" docs/reference/*.md || { echo $n; bad=1; }; "
                    "[ -f $d/README.md ] || { echo $d has no README.md; bad=1; }; done; done; "
                    "exit $bad");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"reference", shell_open, shell_close, .seconds = 60,
                       .needs = "PEAT_SOURCE PEAT"},
        TESTS(the_reference_pages_are_up_to_date, every_plugin_of_the_tree_has_its_place));
}
