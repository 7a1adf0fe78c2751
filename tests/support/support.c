/* SPDX-License-Identifier: MIT */
#include "support/support.h"

#include <stdlib.h>

int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_list(struct tests t, const TTest *const *test)
{
    Suite *suite = suite_create(t.subject);
    TCase *tests = tcase_create(t.subject);
    tcase_add_checked_fixture(tests, t.open, t.close);
    if (t.seconds > 0.0)
        tcase_set_timeout(tests, t.seconds);
    for (; *test; test++)
        tcase_add_test(tests, *test);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
