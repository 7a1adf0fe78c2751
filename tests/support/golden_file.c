/* SPDX-License-Identifier: MIT */
/* golden_file.c: what scripts of tests/golden wrote as JSON. */
#include "support/golden_file.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"

const struct value *golden_read(const char *name, struct arena *a)
{
    char *folder = path_join(getenv("PEAT_SOURCE"), "tests/golden"),
         *path = path_join(folder, name);
    struct error err = {0};
    struct value *v = NULL;
    ck_assert_msg(json_read(path, name, 0, a, &v, &err) == PEAT_OK, "%s", err.text);
    free(path);
    free(folder);
    return v;
}

double golden_number(const struct value *v)
{
    ck_assert_ptr_nonnull(v);
    if (v->kind == VALUE_TEXT)
        return v->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return v->kind == VALUE_NULL ? (double)NAN : v->real;
}

void golden_near(double x, double expected, double relative, const char *what)
{
    bool near =
        isnan(expected) ? isnan(x) : fabs(x - expected) <= relative * fabs(expected) + 1e-14;
    ck_assert_msg(near, "%s: %.17g instead of %.17g", what, x, expected);
}
