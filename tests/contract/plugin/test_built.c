/* SPDX-License-Identifier: MIT */
/* test_built.c: `peat plugins check` passes every plugin that was built, and is quick. */
#include <stdlib.h>
#include <sys/resource.h>

#include "support/shell.h"
#include "support/support.h"

/* Minutes of one core for all of them together. Sanitizers take several times as long. */
#if defined(PEAT_SANITIZED)
enum { MINUTES = 20 };
#else
enum { MINUTES = 4 };
#endif

/* Of all processes that this one has waited for, and of theirs. */
static double seconds_of_children(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Each prints what is wrong with it, so that failures of one do not hide those of others. */
START_TEST(every_built_plugin_keeps_its_promises_and_all_are_soon_checked)
{
    const char *patience = getenv("PEAT_TEST_PATIENCE");
    shell_expect(0, "find \"$PEAT_BUILD\" -name '*.so' | "
                    "grep -E '/peat/plugins-[^/]*/(scheme|combine|task)/' >all && [ -s all ] && "
                    "xargs -P 2 -I P sh -c 'peat plugins check P --timeout 120 >out.$$ || "
                    "{ cat out.$$; exit 1; }' <all");
    double seconds = seconds_of_children(), limit = 60 * MINUTES * (patience ? atof(patience) : 1);
    ck_assert_msg(seconds < limit, "%.0f s of processor time, limit %.0f", seconds, limit);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"built", shell_open, shell_close, .seconds = 800,
                                   .needs = "PEAT_BUILD PEAT"},
                    TESTS(every_built_plugin_keeps_its_promises_and_all_are_soon_checked));
}
