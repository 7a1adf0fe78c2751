/* SPDX-License-Identifier: MIT */
/* test_built.c: `peat plugins check` passes every plugin that was built. */
#include "support/shell.h"
#include "support/support.h"

enum { SHARES = 8 };

/* Every eighth plugin, so that failures of one do not hide those of all others. */
START_TEST(every_built_plugin_keeps_its_promises)
{
    shell_expect(0,
                 "n=0; bad=0; for p in $(find \"$PEAT_BUILD\" -name '*.so' | "
                 "grep -E '/peat/plugins-[^/]*/(scheme|combine|task)/' | sort); do "
                 "n=$((n + 1)); [ $((n %% %d)) = %d ] || continue; "
                 "peat plugins check $p --timeout 120 >out || { cat out; bad=1; }; "
                 "done; [ $n -gt 0 ] && exit $bad",
                 SHARES, _i);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"built", shell_open, shell_close, .seconds = 250,
                                   .needs = "PEAT_BUILD PEAT",
                                   .loops = LOOPS({every_built_plugin_keeps_its_promises, SHARES})},
                    TESTS(NULL));
}
