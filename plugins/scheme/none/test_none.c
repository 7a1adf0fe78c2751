/* SPDX-License-Identifier: MIT */
/* The scheme 'none' acts nowhere. */
#include "../scheme_tests.h"

TEST(no_hook_is_there)
{
    struct harness h;
    scheme_open(&h, "none", NULL, 2, 4, 4, false);
    const peat_scheme only_claims = {
        .size = sizeof(only_claims),
        .traits = PEAT_STORABLE | PEAT_PERMUTATION_EQUIVARIANT | PEAT_NO_TRAINABLE,
    };
    ck_assert_mem_eq(h.scheme, &only_claims, sizeof(only_claims));
    ck_assert_int_eq(h.weights.n, 0);
    harness_close(&h);
}

PLUGIN_TESTS("none")
