/* SPDX-License-Identifier: MIT */
/* test_built.c: `peat plugins check` passes every plugin that was built. */
#include "support/shell.h"
#include "support/support.h"

/* Each prints what is wrong with it, so that failures of one do not hide those of others. */
TEST(every_built_plugin_keeps_its_promises)
{
    shell_expect(0, "find \"$PEAT_BUILD\" -name '*.so' | "
                    "grep -E '/peat/plugins-[^/]*/(scheme|combine|task)/' >all && [ -s all ] && "
                    "xargs -P 2 -I P sh -c 'peat plugins check P --timeout 120 >out.$$ || "
                    "{ cat out.$$; exit 1; }' <all");
}

int main(void)
{
    return run_tests((struct tests){"built", shell_open, shell_close, .seconds = 800,
                                    .needs = "PEAT_BUILD PEAT"});
}
