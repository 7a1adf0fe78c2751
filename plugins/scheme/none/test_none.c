/* SPDX-License-Identifier: MIT */
/* The scheme 'none' acts nowhere. */
#include "support/plugin_harness.h"
#include "support/support.h"

START_TEST(no_hook_is_there)
{
    struct harness h;
    peat_dims dims = {.D = 8, .H = 2, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    ck_assert_int_eq(harness_scheme(&h, "none", NULL, &dims), PEAT_OK);
    const peat_scheme only_claims = {
        .size = sizeof(only_claims),
        .traits = PEAT_PERMUTATION_EQUIVARIANT | PEAT_NO_TRAINABLE,
    };
    ck_assert_mem_eq(h.scheme, &only_claims, sizeof(only_claims));
    ck_assert_int_eq(h.weights.n, 0);
    harness_close(&h);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("none");
    TCase *t = tcase_create("none");
    tcase_add_test(t, no_hook_is_there);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
