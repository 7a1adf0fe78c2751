/* SPDX-License-Identifier: MIT */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

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

char scratch_dir[64];

void scratch_make(void)
{
    strcpy(scratch_dir, "/tmp/peat-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch_dir));
}

void scratch_remove(void)
{
    ck_assert_int_eq(dir_remove(scratch_dir, NULL), PEAT_OK);
}

const char *scratch_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", scratch_dir, name);
    return path;
}
