/* SPDX-License-Identifier: MIT */
/* test_reference.c: the reference pages are those that the plugins make, and the manual pages those
 * that the help makes. */
#include "support/shell.h"
#include "support/support.h"

TEST(the_reference_pages_are_up_to_date)
{
    shell_expect(0, "python3 \"$PEAT_SOURCE\"/docs/reference.py pages pages");
    shell_expect(0,
                 "for page in pages/*; do "
                 "diff -u \"$PEAT_SOURCE/docs/reference/${page#pages/}\" $page || bad=1; done; "
                 "test -z \"$bad\" || "
                 "{ echo 'python3 docs/reference.py pages docs/reference makes them'; exit 1; }");
}

TEST(manual_pages_are_well_formed)
{
    shell_expect(0, "python3 \"$PEAT_SOURCE\"/docs/reference.py man man1 && "
                    "test -s man1/peat.1 -a -s man1/peat-plugins-list.1 && "
                    "{ ! command -v mandoc >/dev/null || mandoc -Tlint man1/*.1; }");
    ck_assert_str_eq(shell.printed.text, "");
}

TEST(every_plugin_of_the_tree_has_its_place)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"; bad=0; for k in scheme combine task; do "
                    "for d in plugins/$k/*/; do n=$(basename $d); "
                    "grep -qx \"## $n\" docs/reference/*.md || { echo $n; bad=1; }; "
                    "[ -f $d/README.md ] || { echo $d has no README.md; bad=1; }; done; done; "
                    "exit $bad");
}

/* One that opens this plugin, and compares with what is expected of it where no formula does. */
TEST(every_plugin_of_the_tree_has_a_test_with_what_is_expected)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"; for k in scheme combine task; do "
                    "for d in plugins/$k/*/; do n=$(basename $d); t=$d/test_$n.c; "
                    "grep -qE '_TESTS[(]' $t && grep -q \"\\\"$n\\\"\" $t && "
                    "{ [ -f $d/formula.py ] || "
                    "grep -qE 'expected|_assert|answer_of|_(gives|turns|scores)' $t; } || "
                    "{ echo \"$d has no test of its values\"; bad=1; }; done; done; "
                    "[ -z \"$bad\" ]");
}

TEST(every_scheme_and_combination_has_a_row_of_costs)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"; for d in plugins/scheme/*/ plugins/combine/*/; do "
                    "n=$(basename $d); "
                    "grep -qE \"^[|] .(.*[+])?$n[^a-z0-9_]\" docs/reference/costs.md || "
                    "{ echo \"$n is not in experiments/every-scheme.yaml\"; bad=1; }; done; "
                    "[ -z \"$bad\" ]");
}

int main(void)
{
    return run_tests((struct tests){"reference", shell_open, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE PEAT python3"});
}
