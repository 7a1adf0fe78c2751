/* SPDX-License-Identifier: MIT */
/* test_tutorial.c: the commands of docs/tutorial.md, as printed, in an installation without
 * sources. */
#include "support/shell.h"
#include "support/support.h"

/* Every line of the page's sh blocks but that for a GPU, one after another; between them the
 * experiment that the first one writes is made smaller, and nothing else. */
TEST(its_commands_end_in_a_page)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/peat\" >/dev/null");
    shell_expect(0, "ln -s peat/share/doc/peat/experiments experiments; "
                    "sed -n '/^```sh$/,/^```$/{/^```/d;/device=cuda/d;p}' "
                    "\"$PEAT_SOURCE\"/docs/tutorial.md >commands; [ $(wc -l <commands) = 5 ]");
    shell_expect(0,
                 "env -u PEAT_PLUGIN_PATH; PATH=$PWD/peat/bin:$PATH; "
                 "while read -r line; do echo \"$ $line\"; sh -c \"$line\" </dev/null || exit 1; "
                 "sed -i 's/steps: 600/steps: 5/; s/tokens: 8192/tokens: 512/' first.yaml; "
                 "done <commands");
    shell_expect(0, "grep -q '</html>' first.html && grep -q 'rotary' first.html");
    shell_expect(0, "peat/bin/peat status runs/rates | grep -q '12 done'");
}

int main(void)
{
    return run_tests((struct tests){"tutorial", shell_open, shell_close, .seconds = 120,
                                    .needs = "PEAT_SOURCE PEAT_BUILD PEAT cmake"});
}
